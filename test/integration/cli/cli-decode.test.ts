/** The command of the README: the stock `nats` CLI follows a run, and bin/antiphon-decode.mjs makes each message readable. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bus } from "../../../runtime/src/index.ts";
import { openJournal, provision } from "../../../runtime/src/index.ts";
import { intentRecord, routedRecord } from "../../../contracts/src/testing/records.ts";
import { ANTIPHON, ROOT, run } from "../../e2e/support/program.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const DECODE = `${ROOT}bin/antiphon-decode.mjs`;
const RUNS = ["run_a", "run_b", "run_c"];
let server: NatsServer;
let bus: Bus;

beforeAll(async () => {
  await run(process.execPath, [ANTIPHON, "--version"]); // Builds the bundle where the sources changed.
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  const journal = openJournal(bus);
  for (const runId of RUNS) {
    await journal.append(intentRecord(runId));
    await journal.append(routedRecord(runId));
  }
});
afterAll(() => server.close({ checkLeaks: false }));

test("`nats sub --translate bin/antiphon-decode.mjs` shows every record of the journal as JSON", async () => {
  const options = ["--stream", "ANT_JOURNAL_0", "--all", "--count", "6", "--raw", "--translate", DECODE];
  const { code, stdout, stderr } = await run(`${ROOT}.antiphon/tools/nats`, [
    "--server",
    server.url,
    "sub",
    "antiphon.v1.>",
    ...options,
  ]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const records = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { runId: string; type: string });
  expect(records.map(({ runId, type }) => `${runId} ${type}`)).toEqual(
    RUNS.flatMap((runId) => [`${runId} intent`, `${runId} routed`]),
  );
});

test("it prints the same as `antiphon decode` without loading the rest of the CLI", async () => {
  const stdin = Buffer.from([0x82, 0xa1, 0x61, 0x01, 0xa1, 0x62, 0xc0]);
  const [fast, whole] = await Promise.all([
    run(process.execPath, [DECODE], { stdin }),
    run(process.execPath, [ANTIPHON, "decode"], { stdin }),
  ]);
  expect(fast).toEqual({ code: 0, stdout: '{"a":1,"b":null}\n', stderr: "" });
  expect(whole.stdout).toBe(fast.stdout);
});
