import { describe, expect, test } from "vitest";
import { golden } from "../../../contracts/conformance/proof.ts";
import { digestOf, encode } from "@antiphon/contracts/wire/codec";
import type { JournalBodies, JournalType, StoredRecord } from "@antiphon/contracts";
import { subjects } from "@antiphon/contracts/topology/subjects";
import { impliedRecords } from "./implied-records.ts";
import { registerKey } from "./known-run.ts";

const RUN = "run_a1";
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

type Said = readonly [type: JournalType, taskId: string | null, epoch: number, body?: object];

function stored(said: readonly Said[]): StoredRecord[] {
  return said.map(([type, taskId, epoch, body = {}], i) => {
    const { body: full } = golden(`journal.${type}.v1`) as { body: object };
    const record = { v: 1, type, runId: RUN, taskId, epoch, cause: null, body: { ...full, ...body } };
    const digest = digestOf(encode(record));
    return {
      ...record,
      seq: i + 1,
      digest,
      at: new Date(0),
      subject: subjects.journal(record),
    } as StoredRecord;
  });
}

const { body: intent } = golden("journal.intent.v1") as { body: JournalBodies["intent"] };
const approvals = { ...intent, options: { ...intent.options, approvals: { needed: 2 } } };
const task = { ...golden("DirectorTask.v0"), task_id: "T-001" };
const pass = { verdict: "PASS", code: null, commit: COMMIT };
const word = (attempt: number, choice: string, by: string) => ({
  task: "T-001",
  attempt,
  verdict: digestOf(new Uint8Array()),
  choice,
  by,
});
const landed = { kind: "landed", ref: `refs/heads/antiphon/${RUN}`, commit: COMMIT, previous: null };
const seedResult = golden("AssociateResult.v0", "seed example");
const reported = {
  kind: "reported",
  associate: "as_1",
  code: null,
  result: { ...seedResult, status: "ok", questions: [] },
  evidence: { key: `${RUN}.T-001.1`, digest: digestOf(new Uint8Array()) },
  patch: null,
};

/** A change that was sent back once, then approved by two people and landed. */
const run: readonly Said[] = [
  ["intent", null, 0, approvals],
  ["routed", null, 0, { tasks: [{ task, deps: [], agent: { kind: "replay", seed: "s" } }] }],
  ["dispatch", "T-001", 1],
  ["claim", "T-001", 1],
  ["result", "T-001", 1, reported],
  ["verdict", "T-001", 1, pass],
  ["approval", null, 1, word(1, "changes", "ben")],
  ["dispatch", "T-001", 2],
  ["claim", "T-001", 2],
  ["result", "T-001", 2, reported],
  ["verdict", "T-001", 2, { ...pass, message: "again" }],
  ["approval", null, 2, word(2, "approve", "ben")],
  ["approval", null, 3, word(2, "approve", "cleo")],
  ["landing", "T-001", 2, landed],
  ["closed", null, 0, { status: "succeeded", code: null }],
];

/** The implied records that are missing. */
function missing(said: readonly Said[]): string[] {
  const records = stored(said);
  const there = new Set(records.map(registerKey));
  const keys = impliedRecords(records, null).map(({ register }) => registerKey(register));
  return [...new Set(keys.filter((key) => !there.has(key)))];
}
const without = (type: JournalType, epoch: number): Said[] =>
  run.filter(([kind, , at]) => kind !== type || at !== epoch);

describe("the records that others imply", () => {
  test("a change that people sent back passed and never landed, so nothing is missing", () => {
    expect(missing(run)).toEqual([]);
  });

  test("an approval implies its verdict and the approvals with lower numbers", () => {
    expect(missing(without("approval", 1))).toEqual(["approval - 1"]);
    expect(missing(without("verdict", 2))).toContain("verdict t-001 2");
  });

  test("a landing implies as many approvals as the run needs", () => {
    const none = run.filter(([type]) => type !== "approval");
    expect(missing(none)).toEqual(["approval - 1", "approval - 2"]);
  });
});
