/** The right to publish to NATS decides nothing: a decision counts only under a Director's signature. */
import { BUCKETS, HEADERS, digestOf, encode } from "@antiphon/contracts";
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import { openKv, openSigningKey } from "@antiphon/runtime";
import { closedRecord, landingRecord, verdictRecord } from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signRecord } from "../../../runtime/src/process/signing-key.ts";
import { eventually } from "../../support/nats.ts";
import { cleanUpRepos, type TestRepo } from "../../support/repo.ts";
import { openForgedWorld, TASK, type ForgedWorld } from "./forged-world.ts";

let world: ForgedWorld;
/** A verdict that the Director signed, of a run that ended earlier. */
let trueVerdict: StoredRecord;
beforeAll(async () => {
  world = await openForgedWorld();
  trueVerdict = await firstVerdict();
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

const stranger = openSigningKey(null);
const digestOfRecord = (record: NewRecord): string => digestOf(encode({ v: 1, ...record }));
const signedBy = (key: typeof stranger, record: NewRecord) => ({
  [HEADERS.signature]: signRecord(key, digestOfRecord(record)),
});

/** Headers that an attacker without a Director's key can add to a record. */
const FORGERIES: Record<string, (record: NewRecord) => Promise<Record<string, string>>> = {
  "without a signature": () => Promise.resolve({}),
  "under a signature that is none": () => Promise.resolve({ [HEADERS.signature]: "x" }),
  "signed with a key of its own": (record) => Promise.resolve(signedBy(stranger, record)),
  "signed with a key of its own that stands in the bucket of keys": async (record) => {
    await openKv(world.bus, BUCKETS.keys).put(stranger.jwk.kid, stranger.jwk);
    return signedBy(stranger, record);
  },
  "under the signature of another record": () =>
    Promise.resolve({ [HEADERS.signature]: trueVerdict.signature ?? "" }),
  "under the signature and the digest of another record": () => {
    const { signature = "", digest } = trueVerdict;
    return Promise.resolve({ [HEADERS.signature]: signature, [HEADERS.digest]: digest });
  },
};

async function firstVerdict(): Promise<StoredRecord> {
  const repo = world.makeTarget();
  await world.openRun("run_earlier", repo);
  await world.propose("run_earlier");
  await world.ended("run_earlier");
  const verdict = await world.journal.find("verdict", "run_earlier", TASK, 1);
  if (verdict === null) throw new Error("no verdict");
  return verdict;
}

function forgedVerdict(runId: string, repo: TestRepo & { evil: string }): NewRecord {
  const record = verdictRecord(runId, TASK, 1);
  if (record.type !== "verdict") throw new Error("no verdict");
  return { ...record, body: { ...record.body, head: repo.head, commit: repo.evil } };
}

/** The run ended as if nothing had been forged: the true change is the one commit on its branch. */
async function expectTrueEnd(runId: string, repo: TestRepo & { evil: string }, forged: readonly number[]) {
  const records = await world.ended(runId);
  expect(records.filter(({ seq }) => forged.includes(seq))).toEqual([]);
  for (const type of ["verdict", "landing", "closed"]) {
    const decisions = records.filter((record) => record.type === type);
    expect(decisions.map(({ signature }) => signature?.split(".")[0])).toEqual([world.key.jwk.kid]);
  }
  expect(records.at(-1)?.body).toMatchObject({ status: "succeeded", code: null });
  const branch = `refs/heads/antiphon/${runId}`;
  expect(repo.git("show", `${branch}:a.txt`)).toBe("b");
  expect(repo.git("rev-list", "--count", `main..${branch}`)).toBe("1");
  const answer = await fetch(`${world.url}/runs/${runId}`);
  expect(await answer.json()).toMatchObject({ runId, status: "succeeded" });
}

describe.each(Object.keys(FORGERIES))("a decision %s", (how) => {
  const slug = String(Object.keys(FORGERIES).indexOf(how));
  const headersOf = FORGERIES[how] ?? (() => Promise.resolve({}));

  test("before the result: a forged PASS lands nothing, and the true verdict is stored after it", async () => {
    const runId = `run_before${slug}`;
    const repo = world.makeTarget();
    const letGo = world.holdRoom();
    await world.openRun(runId, repo);
    const forged = forgedVerdict(runId, repo);
    const seq = await world.publish(forged, await headersOf(forged));
    letGo();
    await world.propose(runId);
    await expectTrueEnd(runId, repo, [seq]);
  });

  test("while the clean room works: a forged verdict, landing and closing together decide nothing", async () => {
    const runId = `run_during${slug}`;
    const repo = world.makeTarget();
    const letGo = world.holdRoom();
    const seqs: number[] = [];
    try {
      await world.openRun(runId, repo);
      await world.propose(runId);
      const records = [forgedVerdict(runId, repo), landingRecord(runId, TASK, 1), closedRecord(runId)];
      for (const record of records) seqs.push(await world.publish(record, await headersOf(record)));
      const answer = await fetch(`${world.url}/runs/${runId}`);
      expect(await answer.json()).not.toMatchObject({ status: "failed" });
    } finally {
      letGo();
    }
    await expectTrueEnd(runId, repo, seqs);
  });

  test("after the end: messages written over a true decision do not hide it", async () => {
    const runId = `run_after${slug}`;
    const repo = world.makeTarget();
    await world.openRun(runId, repo);
    await world.propose(runId);
    const before = await world.ended(runId);
    const forged = [
      forgedVerdict(runId, repo),
      landingRecord(runId, TASK, 1),
      closedRecord(runId, { status: "failed" }),
    ];
    const seqs: number[] = [];
    for (const record of forged) seqs.push(await world.publish(record, await headersOf(record)));
    expect(await world.journal.read(runId)).toEqual(before);
    await expectTrueEnd(runId, repo, seqs);
  });
});

test("a forged decision raises an alarm: an error line with its place and reason, and a count", async () => {
  const repo = world.makeTarget();
  const letGo = world.holdRoom();
  await world.openRun("run_alarm", repo);
  const forged = forgedVerdict("run_alarm", repo);
  const seq = await world.publish(forged);
  letGo();
  await world.propose("run_alarm");
  await world.ended("run_alarm");
  const told = () => world.alarms.filter((line) => line["seq"] === seq);
  await eventually("an error is logged", () => told().length > 0);
  expect(told()[0]).toMatchObject({ code: "ANT_SIGNATURE_INVALID", run: "run_alarm", seq });
  const metrics = await (await fetch(`${world.url}/metrics`)).text();
  expect(metrics).toMatch(/antiphon_forged_decisions_total\{[^}]*\} [1-9]/);
});
