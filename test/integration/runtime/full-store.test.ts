/** A server whose store has no room left: everything that stores says so, once, until there is room again. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { BUCKETS } from "../../../contracts/src/index.ts";
import { dispatchRecord } from "../../../contracts/src/testing/records.ts";
import {
  createLogger,
  openBlobs,
  openJournal,
  rollCall,
  startService,
  type RunningService,
} from "../../../runtime/src/index.ts";
import { readRuntimeConfig } from "../../../runtime/src/index.ts";
import { eventually, startNats, type NatsServer } from "../../support/nats.ts";

vi.setConfig({ testTimeout: 60_000 });

const TRIES = 20;

let server: NatsServer;
let service: RunningService;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  server = await startNats({ maxFileStore: "320MB" });
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  service = await startService(
    { name: "router", start: () => Promise.resolve() },
    readRuntimeConfig({
      ANTIPHON_NATS_URL: server.url,
      ANTIPHON_UNSAFE_TRUST: "1",
      ANTIPHON_METRICS_PORT: "0",
    }),
    createLogger("router", { destination: { write } }),
  );
});

afterAll(async () => {
  await service.stop();
  await server.close();
});

const ofStorage = (): unknown[] =>
  lines.filter(({ msg }) => /^JetStream has/.test(String(msg))).map(({ level, stream }) => [level, stream]);

async function fill(): Promise<void> {
  const chunk = Buffer.alloc(1 << 20);
  const repos = openBlobs(service.bus, BUCKETS.repos);
  for (let size = 32, n = 0; size >= 1; n += 1) {
    const many = size;
    const stored = await repos
      .putStream(`ballast-${n}`, async function* () {
        for (let i = 0; i < many; i++) yield await Promise.resolve(chunk);
      })
      .then(
        () => true,
        () => false,
      );
    if (!stored) size = Math.floor(size / 2);
  }
}

it("warns once however often it is tried, tells health checks and the roll call, and says when there is room again", async () => {
  const { bus } = service;
  const journal = openJournal(bus);
  await fill();
  const append = (n: number): Promise<unknown> =>
    journal.append(dispatchRecord("run_full", `T-${n}`, 1, 100_000));
  const refused = async (n: number): Promise<boolean> =>
    append(n).then(
      () => false,
      (error: unknown) => (error as { code: string }).code === "ANT_NATS_NO_SPACE",
    );
  let n = 0;
  await eventually("the journal is refused", () => refused((n += 1)));
  for (let i = 0; i < TRIES; i += 1) expect(await refused((n += 1))).toBe(true);

  const journalLines = (): unknown[] => ofStorage().filter((one) => JSON.stringify(one).includes("JOURNAL"));
  expect(journalLines()).toEqual([["warn", expect.stringContaining("ANT_JOURNAL")]]);
  const [router] = await rollCall(bus, ["router"], 1, 2_000);
  expect(router?.noSpace).toMatch(/^\w+: .+ \(\d+\)$/);
  const { port } = lines.find(({ msg }) => msg === "serving metrics") as { port: number };
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([
    200,
    `ready, but JetStream has no space left: ${router?.noSpace}\n`,
  ]);

  await bus.jsm.streams.purge(`OBJ_${BUCKETS.repos}`);
  await append((n += 1));
  expect(journalLines().slice(1)).toEqual([["info", expect.stringContaining("ANT_JOURNAL")]]);
});
