import { HEADERS, digestOf, encode, subjects } from "@antiphon/contracts";
import type { NewRecord } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { RecordReader, type RecordMessage } from "./record-reader.ts";
import { claimRecord, intentRecord } from "@antiphon/contracts/testing/records";

const at = new Date("2026-01-02T03:04:05.678Z");

function message(
  record: NewRecord,
  change: (document: Record<string, unknown>) => unknown = (document) => document,
  headers: Record<string, string> = {},
): RecordMessage {
  const data = encode(change({ v: 1, ...record }));
  const all: Record<string, string> = { [HEADERS.digest]: digestOf(data), ...headers };
  return { subject: subjects.journal(record), seq: 7, at, data, header: (name) => all[name] ?? "" };
}

describe("reading a stored record", () => {
  it("runtime/J3: a field that a newer writer added passes, in the envelope and in the body", () => {
    const record = new RecordReader().read(
      message(claimRecord("run_a", "T-1", 1, "as_one"), (document) => ({
        ...document,
        region: "moon",
        body: { ...(document["body"] as object), mood: "fine" },
      })),
    );
    expect(record).toMatchObject({ seq: 7, type: "claim", body: { associate: "as_one", mood: "fine" } });
  });

  it("a record type of a newer release is told apart from a subject that no release would write", () => {
    const data = encode({ v: 1 });
    const reading = (subject: string) => () =>
      new RecordReader().read({ subject, seq: 7, at, data, header: () => "" });
    expect(reading("antiphon.v1.run.0.annotation.run_a.-.0")).toThrow(
      expect.objectContaining({ code: "ANT_JOURNAL_NEWER", disposition: "retry" }),
    );
    for (const odd of ["run.0.An-Note.run_a.-.0", "run.x.annotation.run_a.-.0", "run.0.annotation.run_a.-"])
      expect(reading(`antiphon.v1.${odd}`), odd).toThrow(
        expect.objectContaining({ code: "ANT_JOURNAL_CORRUPT" }),
      );
  });

  it("runtime/J3: a wrong shape is corruption, located by subject and sequence", () => {
    const wrong = message(intentRecord("run_a"), (document) => ({ ...document, body: { goal: 1 } }));
    expect(() => new RecordReader().read(wrong)).toThrow(
      expect.objectContaining({
        code: "ANT_JOURNAL_CORRUPT",
        data: { subject: "antiphon.v1.run.0.intent.run_a.-.0", seq: 7 },
      }),
    );
  });

  it("runtime/J3: arbitrary bytes cause a corruption error and no other error", () => {
    const reader = new RecordReader();
    const { subject } = message(intentRecord("run_a"));
    for (let seed = 0; seed < 300; seed += 1) {
      const data = Uint8Array.from({ length: seed % 90 }, (_, i) => (seed * 31 + i * 17) % 256);
      expect(() => reader.read({ subject, seq: seed, at, data, header: () => "" })).toThrow(
        expect.objectContaining({ code: "ANT_JOURNAL_CORRUPT" }),
      );
    }
  });

  it("runtime/J3: a payload that does not match its digest is corruption", () => {
    const flipped = message(claimRecord("run_a", "T-1", 1, "as_one"), (document) => document, {
      [HEADERS.digest]: digestOf(new Uint8Array([1])),
    });
    expect(() => new RecordReader().read(flipped)).toThrow(/does not match its digest/);
  });

  it("still reads records after it has forgotten the oldest digests", () => {
    const reader = new RecordReader();
    for (let i = 0; i < 50_000; i += 1) reader.remember(`sha256-${i}`);
    expect(reader.read(message(intentRecord("run_a"))).type).toBe("intent");
  });

  it("a second read returns the same frozen body, so one reader cannot change it for another", () => {
    const reader = new RecordReader();
    const stored = message(claimRecord("run_a", "T-1", 1, "as_one"));
    reader.read(stored);
    const [first, again] = [reader.read(stored), reader.read({ ...stored, seq: 8 })];
    expect([first.seq, again.seq]).toEqual([7, 8]);
    expect(again.body).toBe(first.body);
    expect(() => Object.assign(again.body as object, { associate: "as_two" })).toThrow(TypeError);
    expect(reader.read(stored)).toEqual(first);
  });

  it("checks a remembered record against its subject all the same", () => {
    const reader = new RecordReader();
    const stored = message(claimRecord("run_a", "T-1", 1, "as_one"));
    reader.read(stored);
    reader.read(stored);
    const moved = { ...stored, subject: stored.subject.replace("run_a", "run_b") };
    expect(() => reader.read(moved)).toThrow(/does not match its subject/);
  });

  it("a restored record has its first sequence and time; an invalid place header is corruption", () => {
    const place = (text: string) => message(intentRecord("run_a"), undefined, { [HEADERS.restored]: text });
    const before = new Date("2025-12-31T23:59:59.999Z");
    const restored = new RecordReader().read(place(`3:${before.toISOString()}`));
    expect([restored.seq, restored.at]).toEqual([3, before]);
    expect(new RecordReader().read(message(intentRecord("run_a")))).toMatchObject({ seq: 7, at });
    for (const text of ["3", `x:${before.toISOString()}`, "3:yesterday"])
      expect(() => new RecordReader().read(place(text)), text).toThrow(
        expect.objectContaining({
          code: "ANT_JOURNAL_CORRUPT",
          data: expect.objectContaining({ seq: 7 }) as object,
        }) as Error,
      );
  });
});
