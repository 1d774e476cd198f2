import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { journalStream, subjects } from "@antiphon/contracts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/nats.ts";
import { cleanUpRepos, makeRepo } from "../support/repo.ts";
import { errorOf, intentFor, openWorld, type World } from "./gateway-world.ts";

const BIN = fileURLToPath(new URL("../../bin/antiphon.mjs", import.meta.url));
/** The Director archives what has been over for so long; the test says when that is anything at all. */
const timing = { afterMs: 3_600_000, everyMs: 20 };
let world: World;
let repo: string;

beforeAll(async () => {
  world = await openWorld({}, {}, { archive: timing });
  repo = makeRepo().path;
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

/** Everything a client can see of a run. */
async function seen(runId: string): Promise<unknown[]> {
  const answers = await Promise.all([
    world.call("GET", `/runs/${runId}`),
    world.call("GET", `/runs/${runId}/events`),
    world.call("GET", `/runs/${runId}/events`, { headers: { accept: "text/event-stream" } }),
    world.call("GET", `/runs/${runId}/evidence`),
  ]);
  // A stream has its heartbeats in it; the rest is JSON.
  return answers.map(({ status, text, body }) =>
    text.startsWith("{") ? { status, body } : { status, text: text.replaceAll(/^: .*\n\n/gm, "") },
  );
}

async function line(runId: string): Promise<unknown> {
  const { body } = await world.call("GET", "/runs?limit=100");
  return (body.runs as { runId: string }[]).find((run) => run.runId === runId);
}

it("J10 a Director archives what is over; for a client nothing changes, and a restore puts it back once", async () => {
  const { body } = await world.call("POST", "/intents", { body: intentFor(repo) });
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
    `${runId} is in the journal already: 3 records, as they were\n`,
  );
  expect(await types(runId)).toEqual(["archived", "restored", "closed", "cancel", "intent"]);
  expect(await seen(runId)).toEqual(before);
  // Whoever is woken by what is there again finds nothing left to do.
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

it("a run that is not archived, or is none, is not restored: a code and its remedy", async () => {
  const { body } = await world.call("POST", "/intents", { body: intentFor(repo) });
  const { body: run } = await world.call("POST", `/intents/${String(body.intentId)}/run`);
  const here = await world.call("POST", `/runs/${String(run.runId)}/restore`);
  expect([here.status, errorOf(here).code]).toEqual([409, "ANT_RUN_NOT_ARCHIVED"]);
  const none = await world.call("POST", "/runs/run_none/restore");
  expect([none.status, errorOf(none).code]).toEqual([404, "ANT_RUN_NOT_FOUND"]);
});
