import { describe, expect, test } from "vitest";
import { JOURNAL_TYPES } from "../journal/record.ts";
import { subjectList } from "./subject-list.ts";
import { fnv1a, parseJournalSubject, partitionOf, subjects } from "./subjects.ts";

const address = { type: "dispatch", runId: "run_a1", taskId: "T-001", epoch: 2 } as const;

describe("subjects", () => {
  test("the subject map is the one that was agreed", () => {
    expect(subjectList().map(({ subject }) => subject)).toMatchSnapshot();
  });

  test("runtime/J1: a record's subject is its register", () => {
    expect(subjects.journal(address)).toBe("antiphon.v1.run.0.dispatch.run_a1.t-001.2");
    expect(subjects.journal({ type: "intent", runId: "run_a1", taskId: null, epoch: 0 })).toBe(
      "antiphon.v1.run.0.intent.run_a1.-.0",
    );
  });

  test("runtime/J1: no id can widen or split a subject", () => {
    for (const id of ["", "*", ">", "a.b", "a b", "run_*", "RUN", "a\n", "\u0000", "-x"]) {
      expect(() => subjects.run(id), JSON.stringify(id)).toThrow(/not usable in a subject/);
      expect(() => subjects.control(id)).toThrow();
      expect(() => subjects.sandboxJob(id)).toThrow();
      expect(() => subjects.journal({ ...address, taskId: `${id}.` })).toThrow();
    }
    expect(() => subjects.journal({ ...address, epoch: -1 })).toThrow(/not an epoch/);
    expect(() => subjects.journal({ ...address, epoch: 1.5 })).toThrow(/not an epoch/);
  });

  test("runtime/J1: every record's subject parses back to its address", () => {
    for (const type of JOURNAL_TYPES) {
      expect(parseJournalSubject(subjects.journal({ ...address, type }))).toEqual({
        ...address,
        type,
        taskId: "t-001",
        partition: 0,
      });
    }
    expect(parseJournalSubject(subjects.journal({ ...address, taskId: null, epoch: 0 }))?.taskId).toBeNull();
  });

  test("a text that is not a journal subject parses to null", () => {
    const good = subjects.journal(address);
    for (const bad of [
      "",
      "antiphon",
      `${good}.x`,
      good.replace("run.0", "run.x"),
      good.replace("dispatch", "dance"),
      good.replace(".2", ".two"),
      good.replace("antiphon", "canon"),
      good.replace(".run.", ".log."),
    ]) {
      expect(parseJournalSubject(bad), bad).toBeNull();
    }
  });

  test("partitions are stable across versions and spread runs", () => {
    expect(fnv1a("")).toBe(0x811c9dc5);
    expect(fnv1a("foobar")).toBe(0xbf9cf968);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4000; i++) counts[partitionOf(`run_${i}`, 4)]! += 1;
    for (const count of counts) expect(count).toBeGreaterThan(800);
  });
});
