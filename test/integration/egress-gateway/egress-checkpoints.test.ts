/** Checkpoints over the listener of a sandbox, without a sandbox: two attempts of a task, whose leases are open side by side. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BUCKETS, CHECKPOINT_HOST, limits, type EgressGrant, type EgressOpened } from "@antiphon/contracts";
import { createLogger, openBlobs, openKv, provision, silentMeter } from "@antiphon/runtime";
import { Checkpoints } from "../../../services/egress-gateway/src/checkpoints/checkpoints.ts";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import { CallLists } from "../../../services/egress-gateway/src/models/call-list.ts";
import { Leases } from "../../../services/egress-gateway/src/leases/leases.ts";
import { CANARY, grantOf, settingsFor } from "../../support/egress-world.ts";
import { NAMES, startUpstreams, type Upstreams } from "../../support/egress-upstreams.ts";
import { eventually, startNats, type NatsServer } from "../../support/nats.ts";

const scratch = mkdtempSync(join(tmpdir(), "antiphon-checkpoints-"));
let upstreams: Upstreams;
let nats: NatsServer;
let leases: Leases;
let other: Leases;
/** Of objects, by both gateways. */
let reads = 0;
beforeAll(async () => {
  upstreams = await startUpstreams(scratch);
  nats = await startNats();
  await provision(await nats.connect({ name: "director" }));
  [leases, other] = [await gateway("eg_one"), await gateway("eg_two")];
});
afterAll(async () => {
  for (const one of [leases, other]) one.closeAll();
  await nats.close();
  await upstreams.close();
  rmSync(scratch, { recursive: true, force: true });
});

async function gateway(node: string): Promise<Leases> {
  const bus = await nats.connect({ name: node });
  const blobs = openBlobs(bus, BUCKETS.evidenceFiles);
  const files = openBlobs(bus, BUCKETS.checkpoints);
  const kv = openKv(bus, BUCKETS.budgets);
  const failed = (error: unknown): void => {
    throw error;
  };
  return new Leases({
    settings: () => settingsFor(upstreams),
    budgets: new BudgetStore(kv),
    lists: new CallLists(kv, failed),
    checkpoints: {
      registers: new Checkpoints(kv),
      store: (bytes) => files.put(null, bytes),
      read: (blob) => {
        reads += 1;
        return files.get(blob);
      },
    },
    read: (blob) => blobs.get(blob),
    store: (bytes) => blobs.put(null, bytes),
    ...{ node, meter: silentMeter, log: createLogger("test", { level: "silent" }), now: Date.now },
  });
}

const BUDGET = { tokens: 100_000, usd_micro: 1_000_000 };
const begin = (run: string, epoch: number, more: Partial<EgressGrant> = {}, at = leases) => {
  const resumes = epoch > 1 ? { resumes: epoch - 1 } : {};
  const grant = { ...grantOf([], BUDGET), checkpoints: true, ...resumes, ...more };
  return at.opened({ run, task: "T-001", epoch, jobId: "j", grant });
};

/** Status and body. */
async function ask(
  { host, port, token }: EgressOpened,
  method: string,
  url: string,
  body: Buffer | string = "",
): Promise<readonly [number, string]> {
  const socket = connect(port, host).on("error", () => undefined);
  const head = `${method} ${url} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n`;
  const fields = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  socket.write(`${token} data\n${head}${fields}`);
  socket.write(body);
  const answer = await text(socket).catch(() => "");
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
  return [status, answer.slice(answer.indexOf("\r\n\r\n") + 4)];
}
const keep = (lease: EgressOpened, name: string, body: Buffer | string) =>
  ask(lease, "PUT", `http://${CHECKPOINT_HOST}/${name}`, body);
const kept = (lease: EgressOpened, name: string) => ask(lease, "GET", `http://${CHECKPOINT_HOST}/${name}`);
const call = (lease: EgressOpened, ...texts: string[]) =>
  ask(
    lease,
    "POST",
    `http://${NAMES.openai}/v1/chat/completions`,
    JSON.stringify({ model: "m-1", messages: texts.map((content) => ({ role: "user", content })) }),
  );

it("run/R2: what an attempt left is there for the next one, also over another gateway; then it leaves nothing and calls no model", async () => {
  const lost = await begin("run_a", 1);
  expect(await kept(lost, "state")).toEqual([404, ""]);
  expect((await call(lost, "one"))[0]).toBe(200);
  expect((await keep(lost, "tree", "files"))[0]).toBe(204);
  expect((await keep(lost, "state", `{"at":1}`))[0]).toBe(204);
  expect((await keep(lost, "state", `{"at":2}`))[0]).toBe(204); // with the same files
  expect((await keep(lost, "tree", "files of no state"))[0]).toBe(204);
  const next = await begin("run_a", 2, {}, other);
  expect(await kept(next, "state")).toEqual([200, `{"at":2}`]);
  expect(await kept(next, "tree")).toEqual([200, "files"]);
  expect((await keep(lost, "state", `{"at":3}`))[0]).toBe(409);
  expect(await kept(next, "state")).toEqual([200, `{"at":2}`]);
  const again = await begin("run_a", 3);
  expect(await kept(again, "state")).toEqual([200, `{"at":2}`]);
  expect((await keep(next, "state", "{}"))[0]).toBe(409);
  const before = upstreams.heard.length;
  expect(await call(lost, "two")).toEqual([409, expect.stringContaining("ANT_EGRESS_FENCED")]);
  expect(upstreams.heard.length).toBe(before);
});

it("the record of an attempt that went on from a checkpoint begins with the calls before it, and repeats none", async () => {
  const lost = await begin("run_b", 1);
  await call(lost, "one");
  await keep(lost, "state", "{}");
  await call(lost, "one", "two");
  const lists = new CallLists(openKv(await nats.connect(), BUCKETS.budgets), () => undefined);
  const at = { run: "run_b", task: "T-001", epoch: 1 };
  await eventually("both calls are listed", async () => (await lists.of(at)).calls.length === 2);
  const next = await begin("run_b", 2);
  await kept(next, "state");
  const before = upstreams.heard.length;
  expect((await call(next, "one", "two"))[0]).toBe(200); // answered before, and in no checkpoint yet
  expect(upstreams.heard.length).toBe(before);
  expect((await call(next, "one", "two", "three"))[0]).toBe(200);
  expect(upstreams.heard.length).toBe(before + 1);
  const { recordings, model_calls, replay } = await leases.closed(next.lease);
  expect([recordings.length, model_calls, replay?.served]).toEqual([3, 1, 1]);
});

it("secrets are masked in what a program says, and what is too large is refused without an end", async () => {
  const lease = await begin("run_c", 1);
  expect((await keep(lease, "state", JSON.stringify({ said: CANARY })))[0]).toBe(204);
  expect((await kept(lease, "state"))[1]).not.toContain(CANARY);
  const most = Buffer.alloc(limits.checkpointStateBytes + 1, "x");
  expect((await keep(lease, "state", most))[0]).toBe(413);
  expect((await kept(lease, "state"))[1]).toContain("said");
  expect((await ask(lease, "DELETE", `http://${CHECKPOINT_HOST}/state`))[0]).toBe(403);
  expect((await kept(lease, "secrets"))[0]).toBe(403);
});

it("a replay begins at the beginning and leaves nothing", async () => {
  const lease = await begin("run_d", 1, { replay: { calls: [], then: "stop" } });
  expect((await keep(lease, "state", "{}"))[0]).toBe(204);
  expect((await kept(lease, "state"))[0]).toBe(404);
  const { reached, hosts_refused } = await leases.closed(lease.lease);
  expect([reached, hosts_refused]).toEqual([undefined, undefined]);
});

it("setup in the name of an attempt neither reads what the attempt left nor leaves it anything", async () => {
  const attempt = await begin("run_e", 1);
  expect((await keep(attempt, "tree", "files"))[0]).toBe(204);
  expect((await keep(attempt, "state", `{"at":1}`))[0]).toBe(204);
  const setup = await begin("run_e", 1, { checkpoints: false });
  for (const name of ["state", "tree"]) expect((await kept(setup, name))[0]).toBe(404);
  for (const name of ["tree", "state"]) expect((await keep(setup, name, "forged"))[0]).toBe(204);
  expect((await keep(attempt, "state", `{"at":2}`))[0]).toBe(204); // its register is as it was
  const next = await begin("run_e", 2);
  expect(await kept(next, "state")).toEqual([200, `{"at":2}`]);
  expect(await kept(next, "tree")).toEqual([200, "files"]);
});

it("one checkpoint of a sandbox is in memory at a time, however many it asks for and does not read", async () => {
  const lease = await begin("run_f", 1);
  const tree = Buffer.alloc(limits.checkpointTreeBytes, "x");
  expect((await keep(lease, "tree", tree))[0]).toBe(204);
  expect((await keep(lease, "state", "{}"))[0]).toBe(204);
  const before = reads;
  const head = `GET http://${CHECKPOINT_HOST}/tree HTTP/1.1\r\nHost: ${CHECKPOINT_HOST}\r\n\r\n`;
  const deaf = Array.from({ length: 8 }, () => {
    const socket = connect(lease.port, lease.host).on("error", () => undefined);
    socket.pause().write(`${lease.token} data\n${head}`);
    return socket;
  });
  await eventually("the first one is read", () => Promise.resolve(reads > before));
  const state = kept(lease, "state"); // waits for its turn
  deaf[0]?.resume();
  for (const socket of deaf.slice(1)) socket.destroy();
  deaf[0]?.on("data", () => undefined);
  expect(reads).toBe(before + 1);
  deaf[0]?.destroy();
  expect((await state)[0]).toBe(200);
});
