import { digestOf, encode, subjects } from "@antiphon/contracts";
import type { DispatchBody, NewRecord, StoredRecord } from "@antiphon/contracts";
import {
  dispatchRecord,
  intentRecord,
  reportedBody,
  resultRecord,
  routedRecord,
} from "@antiphon/contracts/testing/records";
import { factsOf } from "@antiphon/run";
import { describe, expect, it } from "vitest";
import { messageOf } from "./message.ts";

const RUN = "run_1";
const AUTHOR = "T-001";
const JUDGE = "T-001-reviewer";

const stored = (records: readonly NewRecord[]): StoredRecord[] =>
  records.map((record, i) => {
    const digest = digestOf(encode(record));
    const subject = subjects.journal(record);
    return { ...record, v: 1, seq: i + 1, digest, subject, at: new Date(Date.UTC(2026, 0, 1) + i) };
  });

function works(task: string, over: Partial<DispatchBody> = {}): NewRecord {
  const record = dispatchRecord(RUN, task, 1);
  const argv = ["sh", "-c", "antiphon-inbox --wait"];
  return { ...record, body: { ...record.body, agent: { kind: "command", argv }, ...over } } as NewRecord;
}
const commit = "a".repeat(40);
const diff = { bucket: "ANT_EVIDENCE_FILES", name: "b", digest: `sha256-${"A".repeat(43)}`, bytes: 1 };
const judges = works(JUDGE, { gate: { skill: "reviewer", task: AUTHOR, attempt: 1, commit, diff } });
const done = resultRecord(RUN, AUTHOR, 1, reportedBody(AUTHOR, { status: "ok", key: "k" }));

function say(records: readonly NewRecord[], task: string | null = null) {
  const known = stored([intentRecord(RUN), routedRecord(RUN), ...records]);
  return messageOf(known, factsOf(known), { kind: "message", text: "find nothing", task, key: null }, "ann");
}
const refused = (code: string, detail: string) =>
  expect.objectContaining({ code, detail: expect.stringContaining(detail) as string }) as Error;

describe("a message", () => {
  it("is for the attempt under way", () => {
    expect(say([works(AUTHOR)])).toMatchObject({ task: AUTHOR, attempt: 1, record: { epoch: 1 } });
    expect(() => say([works(AUTHOR), done])).toThrow(refused("ANT_MESSAGE_NO_ATTEMPT", "no attempt"));
  });

  it.each([null, JUDGE, JUDGE.toLowerCase()])(
    "is refused while a skill judges the change, because a judge hears nobody (task: %s)",
    (task) => {
      const heard = refused("ANT_MESSAGE_UNHEARD", `${JUDGE} judges a change, and a judge hears nobody`);
      expect(() => say([works(AUTHOR), done, judges], task)).toThrow(heard);
    },
  );

  it("is for the one attempt that hears, while a skill judges the change of another task", () => {
    const records = [works(AUTHOR), done, judges, works("T-002")];
    expect(say(records)).toMatchObject({ task: "T-002" });
    expect(() => say(records, JUDGE)).toThrow(refused("ANT_MESSAGE_UNHEARD", "a judge hears nobody"));
  });
});
