/**
 * `antiphon doctor --journal --rebuild` against a real server, a real repository and two real Directors. The test plays
 * Router and Associate; the runs have `allow_unverified`, so nothing is checked in a sandbox.
 */
import { BUCKETS, journalStream, type NewRecord, type StoredRecord } from "@antiphon/contracts";
import { factsOf, runView } from "@antiphon/run";
import {
  createLogger,
  openBlobs,
  openJournal,
  openKv,
  openRunArchive,
  putBackLost,
  openSigningKey,
  readRuntimeConfig,
  startService,
  type RunningService,
} from "@antiphon/runtime";
import {
  claimRecord,
  intentRecord,
  reportedBody,
  resultRecord,
  routedRecord,
  runOptions,
} from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JournalReport } from "../../../cli/src/journal/journal-check.ts";
import type { RebuildReport } from "../../../cli/src/journal/journal-rebuild.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { startDirector } from "../../../services/director/src/wiring.ts";
import { ANTIPHON, run as runProgram } from "../../e2e/support/program.ts";
import { eventually } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo, type TestRepo } from "../../support/repo.ts";
import { openWorld, type World } from "../gateway/gateway-world.ts";

let world: World;
let second: RunningService;
let repo: TestRepo;
let count = 0;

beforeAll(async () => {
  world = await openWorld({}, { maxFileStore: "320MB" });
  second = await startService(
    { name: "director", start: (context) => startDirector(context, readDirectorConfig({})) },
    {
      ...readRuntimeConfig({ ANTIPHON_NATS_URL: world.nats.url, ANTIPHON_UNSAFE_TRUST: "1" }),
      drainMs: 3_000,
    },
    createLogger("test", { level: "silent" }),
  );
  repo = makeRepo({ files: { "a.txt": "a\n" } });
});
afterAll(async () => {
  await second.stop();
  await world.close();
  cleanUpRepos();
});

async function say(record: NewRecord, cause: StoredRecord | null): Promise<StoredRecord> {
  const named = cause === null ? null : { seq: cause.seq, digest: cause.digest };
  const result = await world.journal.append({ ...record, cause: named });
  if (result.kind === "conflict") throw new Error(`taken: ${result.existing.subject}`);
  return result.record;
}

async function found(
  runId: string,
  type: StoredRecord["type"],
  task: string | null = null,
  epoch = 0,
): Promise<StoredRecord> {
  const look = () => world.journal.find(type, runId, task, epoch);
  await eventually(`${type} of ${runId} ${task ?? ""}`, async () => (await look()) !== null);
  const record = await look();
  if (record === null) throw new Error(`${type} is gone again`);
  return record;
}

/** A plan of two tasks, one after the other; the Director dispatches the first. */
async function begin(): Promise<string> {
  const runId = `run_rebuild${(count += 1)}`;
  const at = { name: "app", path: repo.path };
  const intent = intentRecord(runId);
  const options = { ...runOptions({ allow_unverified: true }), repo: at };
  const base = { repo: at, ref: "refs/heads/main", commit: repo.head };
  const first = await say({ ...intent, body: { ...intent.body, options, base } } as NewRecord, null);
  const routed = structuredClone(routedRecord(runId)) as Extract<NewRecord, { type: "routed" }>;
  const [one] = routed.body.tasks;
  if (one === undefined) throw new Error("no task");
  routed.body.tasks.push({ ...one, task: { ...one.task, task_id: "T-002" }, deps: ["T-001"] });
  routed.body.contract.tasks.push({ id: 2, description: "And this", status: "PENDING", dependencies: [1] });
  await say(routed, first);
  return runId;
}

/** Reports an attempt that adds one file. */
async function propose(runId: string, task: string): Promise<void> {
  const dispatch = await found(runId, "dispatch", task, 1);
  const claim = await say(claimRecord(runId, task, 1, "as_one"), dispatch);
  const name = `${runId}-${task}.txt`;
  const diff = `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${task}\n`;
  const patch = await openBlobs(world.bus, BUCKETS.evidenceFiles).put(null, Buffer.from(diff));
  const body = reportedBody(task, { status: "ok", key: `${runId}.${task}.1`, patch });
  await say(resultRecord(runId, task, 1, body), claim);
  await found(runId, "landing", task, 1);
}

type Documents = Record<string, unknown>;

async function documents(runId: string): Promise<Documents> {
  const all: Documents = {};
  for (const bucket of [BUCKETS.runs, BUCKETS.contracts]) {
    const kv = openKv(world.bus, bucket);
    const names = bucket === BUCKETS.runs ? [runId] : await kv.keys(runId);
    for (const key of names.sort()) {
      const entry = await kv.get(key);
      if (entry !== null) all[`${bucket}/${key}`] = entry.value;
    }
  }
  return all;
}

/** The documents of a run, once the Directors have projected its newest state. */
async function shown(runId: string): Promise<Documents> {
  await eventually("the view is up to date", async () => {
    const entry = await openKv(world.bus, BUCKETS.runs).get(runId);
    return JSON.stringify(entry?.value) === JSON.stringify(runView(factsOf(await world.journal.read(runId))));
  });
  return documents(runId);
}

async function finished(): Promise<{ runId: string; before: Documents }> {
  const runId = await begin();
  await propose(runId, "T-001");
  await propose(runId, "T-002");
  const closed = await found(runId, "closed");
  expect(closed).toMatchObject({ body: { status: "succeeded" } });
  return { runId, before: await shown(runId) };
}

async function remove(runId: string): Promise<void> {
  await openKv(world.bus, BUCKETS.runs).delete(runId);
  const contracts = openKv(world.bus, BUCKETS.contracts);
  for (const key of await contracts.keys(runId)) await contracts.delete(key);
}

async function doctor(...args: string[]) {
  const said = await runProgram(process.execPath, [ANTIPHON, "doctor", "--journal", ...args, "--json"], {
    env: { ANTIPHON_GATEWAY_URL: world.url },
  });
  if (said.code === 2) throw new Error(said.stdout + said.stderr);
  const report = JSON.parse(said.stdout) as JournalReport & { rebuild: RebuildReport };
  return { code: said.code, report, rebuild: report.rebuild };
}

const branch = (runId: string): string => repo.git("rev-parse", `antiphon/${runId}`).trim();
const lose = ({ seq }: StoredRecord) => world.bus.jsm.streams.deleteMessage(journalStream(0), seq, false);

test("a rebuild restores documents that are gone, stale, different or no JSON; a second one writes nothing", async () => {
  const runs = await Promise.all([finished(), finished(), finished(), finished()]);
  const [gone, stale, other, garbage] = runs.map(({ runId }) => runId) as [string, string, string, string];
  const names = Object.keys(runs[0].before);
  expect(names).toEqual([
    `ANT_RUNS/${gone}`,
    ...["T-001", "T-002", "router"].map((key) => `ANT_CONTRACTS/${gone}.${key}`),
  ]);
  await remove(gone);
  const views = openKv(world.bus, BUCKETS.runs);
  const contracts = openKv(world.bus, BUCKETS.contracts);
  await views.put(stale, runView(factsOf((await world.journal.read(stale)).slice(0, 4))));
  await contracts.put(`${other}.T-002`, {
    ...(runs[2].before[`ANT_CONTRACTS/${other}.T-002`] as object),
    epoch: 7,
  });
  world.bus.nc.publish(`$KV.ANT_RUNS.${garbage}`, Buffer.from("{no"));
  await world.bus.nc.flush();

  const { code, report, rebuild } = await doctor("--rebuild");
  expect([code, report.faults, rebuild.left]).toEqual([0, [], []]);
  expect(new Map(rebuild.rebuilt.map(({ runId, written }) => [runId, written]))).toEqual(
    new Map([
      [gone, [...names].sort()],
      [stale, [`ANT_RUNS/${stale}`]],
      [other, [`ANT_CONTRACTS/${other}.T-002`]],
      [garbage, [`ANT_RUNS/${garbage}`]],
    ]),
  );
  for (const { runId, before } of runs) expect(await documents(runId)).toEqual(before);
  const again = await doctor("--rebuild");
  expect([again.code, again.rebuild]).toEqual([
    0,
    { runs: again.report.runs, rebuilt: [], left: [], written: 0, restored: 0 },
  ]);
});

test("two Directors that rebuild an archived run at once write the same documents, each once", async () => {
  const { runId, before } = await finished();
  const archiver = openRunArchive(world.bus, openJournal(world.bus));
  const packed = await archiver.pack([runId], new Date(Date.now() + 60_000));
  await archiver.purge(await archiver.record(packed));
  await remove(runId);
  const asked = await Promise.all(
    Array.from({ length: 6 }, () => world.call("POST", `/runs/${runId}/rebuild`)),
  );
  expect(asked.map(({ status }) => status)).toEqual(Array(6).fill(200));
  const written = asked.flatMap(({ body }) => body.written as string[]);
  expect(written.sort()).toEqual(Object.keys(before).sort()); // Only one of them wrote each document.
  expect(await documents(runId)).toEqual(before);
  const none = await world.call("POST", "/runs/run_nobody/rebuild");
  expect([none.status, none.body.error]).toMatchObject([404, { code: "ANT_RUN_NOT_FOUND" }]);
});

test("lost landings of a closed run are put back at their old sequences, byte by byte, and its chain holds again", async () => {
  const { runId, before } = await finished();
  const records = await world.journal.read(runId);
  const landings = records.filter(({ type }) => type === "landing");
  const head = branch(runId);
  for (const landing of landings) await lose(landing);
  const { faults } = (await doctor(runId)).report;
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(["missing"]));
  for (const { seq } of landings) expect(faults.map((fault) => fault.seq)).toContain(seq);
  await remove(runId);
  const { code, report, rebuild } = await doctor(runId, "--rebuild");
  expect([code, report.faults, rebuild.restored]).toEqual([0, [], 2]);
  const bare = (record: StoredRecord) => ({ ...record, at: null, signature: record.signature !== undefined });
  expect((await world.journal.read(runId)).map(bare)).toEqual(records.map(bare));
  expect([branch(runId), await documents(runId)]).toEqual([head, before]);

  const archiver = openRunArchive(world.bus, openJournal(world.bus));
  const packed = await archiver.pack([runId], new Date(Date.now() + 60_000));
  await archiver.purge(await archiver.record(packed));
  expect((await doctor(runId)).report.faults).toEqual([]);

  const { type, taskId, epoch, cause, body } = landings[0]!;
  const record = { type, runId: "run_other", taskId, epoch, cause, body } as NewRecord;
  const lost = { record, seq: 1, at: new Date(), digest: landings[0]!.digest };
  await expect(putBackLost(world.bus, openSigningKey(null), lost)).rejects.toMatchObject({
    code: "ANT_JOURNAL_GAP",
  });
});

test("a lost landing that no record of an open run names is found in git, and the branch does not move", async () => {
  const runId = await begin();
  await found(runId, "dispatch", "T-001", 1);
  await world.call("POST", `/runs/${runId}/pause`); // So that no second dispatch names the landing.
  await propose(runId, "T-001");
  const before = await shown(runId);
  const head = branch(runId);
  const landing = await found(runId, "landing", "T-001", 1);
  await lose(landing);
  const { code, rebuild } = await doctor(runId, "--rebuild");
  expect([code, rebuild.rebuilt]).toMatchObject([0, [{ runId, restored: [landing.subject] }]]);
  const again = await world.journal.find("landing", runId, "T-001", 1);
  expect(again?.body).toEqual(landing.body);
  expect([branch(runId), await documents(runId)]).toEqual([head, before]);
  await world.call("POST", `/runs/${runId}/resume`);
  await propose(runId, "T-002");
  expect(await found(runId, "closed")).toMatchObject({ body: { status: "succeeded" } });
});

test("a run that lost a record which cannot be derived is named and left, and the others are rebuilt", async () => {
  const [damaged, whole] = await Promise.all([finished(), finished()]);
  const claim = await found(damaged.runId, "claim", "T-001", 1);
  await lose(claim);
  const view = openKv(world.bus, BUCKETS.runs);
  await view.put(damaged.runId, { ...(damaged.before[`ANT_RUNS/${damaged.runId}`] as object), summary: "x" });
  const kept = await documents(damaged.runId);
  await remove(whole.runId);
  const { code, rebuild } = await doctor("--rebuild");
  expect(code).toBe(1);
  expect(rebuild.left).toMatchObject([{ runId: damaged.runId, code: "ANT_JOURNAL_GAP" }]);
  expect(rebuild.rebuilt.map(({ runId }) => runId)).toEqual([whole.runId]);
  const refused = await world.call("POST", `/runs/${damaged.runId}/rebuild`);
  expect([refused.status, refused.body.error]).toMatchObject([500, { code: "ANT_JOURNAL_GAP" }]);
  expect(await documents(damaged.runId)).toEqual(kept);
  expect(await documents(whole.runId)).toEqual(whole.before);
});
