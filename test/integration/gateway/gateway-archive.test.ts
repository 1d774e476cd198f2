import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BUCKETS, journalStream, subjects } from "@antiphon/contracts";
import { openKv } from "@antiphon/runtime";
import { routedRecord } from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { eventually } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld, type World } from "./gateway-world.ts";

const BIN = fileURLToPath(new URL("../../../bin/antiphon.mjs", import.meta.url));
/** The age at which the Director archives a closed run; the test controls it. */
const timing = { afterMs: 3_600_000, everyMs: 20 };
let world: World;
let repo: string;

beforeAll(async () => {
  world = await openWorld({}, {}, { archive: timing });
  repo = makeRepo().path;
});
beforeEach(() => {
  timing.afterMs = 3_600_000;
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

async function types(runId: string): Promise<string[]> {
  const filter = [subjects.runInPartition(runId, 1)];
  const messages = await world.bus.reader.multiLast(journalStream(0), filter);
  return messages.map(({ subject }) => subject.split(".")[4] ?? "");
}

async function antiphon(...args: string[]): Promise<string> {
  const env = { ...process.env, ANTIPHON_GATEWAY_URL: world.url };
  return (await promisify(execFile)(process.execPath, [BIN, ...args], { env })).stdout;
}

async function view(runId: string): Promise<{ status: string } | undefined> {
  return (await openKv(world.bus, BUCKETS.runs).get<{ status: string }>(runId))?.value;
}

/** The documents of a run in the buckets, by key. */
async function documents(runId: string): Promise<[string, unknown][]> {
  const contracts = openKv(world.bus, BUCKETS.contracts);
  const names = (await contracts.keys(runId)).sort();
  const found = await Promise.all(
    names.map(async (name): Promise<[string, unknown]> => [name, (await contracts.get(name))?.value]),
  );
  const shown = await view(runId);
  return shown === undefined ? found : [...found, [runId, shown]];
}

/** Everything a client can read about a run. */
async function seen(runId: string): Promise<unknown[]> {
  const answers = await Promise.all([
    world.call("GET", `/runs/${runId}`),
    world.call("GET", `/runs/${runId}/events`),
    world.call("GET", `/runs/${runId}/events`, { headers: { accept: "text/event-stream" } }),
    world.call("GET", `/runs/${runId}/evidence`),
  ]);
  // The event stream contains heartbeats; the other answers are JSON.
  return answers.map(({ status, text, body }) =>
    text.startsWith("{") ? { status, body } : { status, text: text.replaceAll(/^: .*\n\n/gm, "") },
  );
}

async function line(runId: string): Promise<unknown> {
  const { body } = await world.call("GET", "/runs?limit=100");
  return (body.runs as { runId: string }[]).find((run) => run.runId === runId);
}

it("a Director archives a closed run; clients see no difference, and a restore puts it back once", async () => {
  const { body } = await world.call("POST", "/intents", {
    body: intentFor(repo, {}, { allow_unverified: true }),
  });
  const start = { headers: { "idempotency-key": "archived-1" } };
  const path = `/intents/${String(body.intentId)}/run`;
  const runId = String((await world.call("POST", path, start)).body.runId);
  const open = String((await world.call("POST", path)).body.runId);
  await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel", reason: "enough" } });
  await eventually("closed", async () => (await types(runId)).includes("closed"));
  const [before, before1] = [await seen(runId), await line(runId)];

  timing.afterMs = 0;
  await eventually("archived", async () => (await types(runId)).join() === "archived");
  timing.afterMs = 3_600_000;
  expect(await seen(runId)).toEqual(before);
  expect(await line(runId)).toEqual(before1);
  expect(await types(open)).toEqual(["intent"]);

  const again = await world.call("POST", path, start);
  expect([again.status, again.body.runId, again.headers["idempotency-replayed"]]).toEqual([
    202,
    runId,
    "true",
  ]);
  const held = await world.call("POST", `/runs/${runId}/pause`);
  expect([held.status, errorOf(held).code]).toEqual([409, "ANT_RUN_TERMINAL"]);

  expect(JSON.parse(await antiphon("runs", "restore", runId, "--json"))).toEqual({
    ...{ runId, records: 3, restored: 3 },
  });
  expect(await antiphon("runs", "restore", runId)).toBe(
    `${runId} is already in the journal: 3 records, unchanged\n`,
  );
  expect(await types(runId)).toEqual(["archived", "restored", "closed", "cancel", "intent"]);
  expect(await seen(runId)).toEqual(before);
  // The services are woken by the restored records and have nothing left to do.
  const info = (name: string) => world.bus.jsm.consumers.info(journalStream(0), name);
  await eventually("heard", async () => {
    const { num_pending, num_ack_pending } = await info("director");
    return num_pending + num_ack_pending === 0;
  });
  expect(await types(runId)).toEqual(["archived", "restored", "closed", "cancel", "intent"]);

  timing.afterMs = 0;
  await eventually("archived once more", async () => (await types(runId)).join() === "archived");
  expect(await seen(runId)).toEqual(before);
});

it("an archived run has no documents: its contracts are derived from its records, and a restore brings all back", async () => {
  const { body } = await world.call("POST", "/intents", {
    body: intentFor(repo, {}, { allow_unverified: true }),
  });
  const path = `/intents/${String(body.intentId)}/run`;
  const runId = String((await world.call("POST", path)).body.runId);
  const intent = (await world.journal.read(runId))[0];
  if (intent === undefined) throw new Error("accepted, and not there");
  const cause = { seq: intent.seq, digest: intent.digest };
  await world.journal.append({ ...routedRecord(runId), cause });
  await eventually("dispatched", async () => (await types(runId)).includes("dispatch"));
  await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel", reason: "enough" } });
  await eventually("closed and shown", async () => (await view(runId))?.status === "canceled");
  const kept = await documents(runId);
  expect(kept.map(([name]) => name)).toEqual([`${runId}.T-001`, `${runId}.router`, runId]);
  const before = await seen(runId);
  const { body: evidence } = await world.call("GET", `/runs/${runId}/evidence`);
  expect([evidence.contracts, evidence.router]).toEqual(
    kept.slice(0, 2).map(([, doc], i) => (i === 0 ? [doc] : doc)),
  );

  timing.afterMs = 0;
  await eventually("archived", async () => (await types(runId)).join() === "archived");
  timing.afterMs = 3_600_000;
  expect(await documents(runId)).toEqual([]);
  expect(await seen(runId)).toEqual(before);
  expect(await line(runId)).toMatchObject({ runId, status: "canceled" });
  expect(await documents(runId)).toEqual([]);

  await antiphon("runs", "restore", runId);
  await eventually("shown again", async () => (await documents(runId)).length === kept.length);
  expect(await documents(runId)).toEqual(kept);
  expect(await seen(runId)).toEqual(before);
});

it("restoring a run that is not archived or does not exist fails with a code and a remedy", async () => {
  const { body } = await world.call("POST", "/intents", {
    body: intentFor(repo, {}, { allow_unverified: true }),
  });
  const { body: run } = await world.call("POST", `/intents/${String(body.intentId)}/run`);
  const here = await world.call("POST", `/runs/${String(run.runId)}/restore`);
  expect([here.status, errorOf(here).code]).toEqual([409, "ANT_RUN_NOT_ARCHIVED"]);
  const none = await world.call("POST", "/runs/run_none/restore");
  expect([none.status, errorOf(none).code]).toEqual([404, "ANT_RUN_NOT_FOUND"]);
});
