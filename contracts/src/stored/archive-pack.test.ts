import { describe, expect, test } from "vitest";
import { archivedRunDigest, decodePack, encodePack, type ArchivedRun } from "./archive-pack.ts";
import { encode } from "../wire/codec.ts";

const run: ArchivedRun = {
  runId: "run_a",
  records: [
    {
      subject: "antiphon.v1.run.0.intent.run_a.-.0",
      seq: 7,
      at: "2026-11-22T08:00:00.123456789Z",
      headers: { "Antiphon-Digest": "sha256-x", traceparent: "00-1-2-01" },
      data: Uint8Array.from([0, 255, 128, 10, 13]),
    },
  ],
};
const other: ArchivedRun = { runId: "run_b", records: [] };

describe("a pack", () => {
  test("returns the packed runs unchanged: subject, sequence, time, headers, every byte", () => {
    expect(decodePack(encodePack([run, other]))).toEqual([run, other]);
  });

  test("a run's digest depends on every part of the run, and not on the other runs of the pack", () => {
    const [first] = decodePack(encodePack([other, run]).slice()).slice(1);
    expect(first && archivedRunDigest(first)).toBe(archivedRunDigest(run));
    const [record] = run.records;
    const changed = { ...run, records: [{ ...record, data: Uint8Array.from([1]) }] } as ArchivedRun;
    expect(archivedRunDigest(changed)).not.toBe(archivedRunDigest(run));
  });

  test.each([
    ["bytes that are not MessagePack", Uint8Array.from([0xc1])],
    ["a pack of another version", encode({ v: 2, runs: [] })],
    ["a run without records", encode({ v: 1, runs: [{ runId: "run_a" }] })],
    [
      "a record without its bytes",
      encode({ v: 1, runs: [{ ...run, records: [{ subject: "s", seq: 1, at: "", headers: {} }] }] }),
    ],
  ])("K1 refuses %s", (_what, bytes) => {
    expect(() => decodePack(bytes)).toThrow(
      expect.objectContaining({ code: "ANT_ARCHIVE_CORRUPT" }) as Error,
    );
  });
});
