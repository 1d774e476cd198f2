import { AntiphonError, type NewRecord, type StoredRecord } from "@antiphon/contracts";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { describe, expect, test } from "vitest";
import { CausedRecords } from "../testing/caused-records.ts";
import { RecordLog, commitOf, planned } from "@antiphon/run/testing/record-log";
import type { Perform } from "../effects/effect-table.ts";
import { RunCache } from "../runs/run-cache.ts";
import { POLICY, directorOver } from "../testing/directing.ts";

describe("a record the server will never store", () => {
  const TOO_LARGE = new AntiphonError("ANT_NATS_REJECTED", "message size exceeds maximum allowed (10054)");

  /** A run that needs a record of `type` next; the journal refuses it as the server refuses one that is too large. */
  async function refusing(type: StoredRecord["type"], run: RecordLog) {
    const journal = new MemoryJournal();
    const stored = await new CausedRecords(journal).store(run);
    const asked: string[] = [];
    const perform: Perform = async (state, effect, cause) => {
      asked.push(effect.kind);
      const made = new RecordLog(state.runId);
      if (effect.kind === "dispatch") made.dispatched("T-001");
      else if (effect.kind === "verify") made.judged("T-001", 1, { commit: commitOf(1) });
      else if (effect.kind === "land") made.landed("T-001", 1, commitOf(1));
      else throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST"); // Not part of this test.
      const { type: kind, taskId, epoch, body } = made.records[0]!;
      return { type: kind, runId: state.runId, taskId, epoch, cause, body } as NewRecord;
    };
    const takes = (record: NewRecord) =>
      record.type === type && !JSON.stringify(record.body).includes("UNVERIFIABLE");
    const append = journal.append.bind(journal);
    journal.append = (record, options) =>
      takes(record) ? Promise.reject(TOO_LARGE) : append(record, options);
    const runs = new RunCache(journal, { ...POLICY, maxAttempts: 1 });
    const over = directorOver(journal, perform, { runs });
    const deliver = () => over.deliver(stored.at(-1)!);
    const said = async () =>
      (await journal.read(run.runId)).slice(stored.length).map((one) => [one.type, one.body]);
    return { deliver, asked, said };
  }
  const opened = () => new RecordLog().opened([planned("T-001")]);
  const refused = { verdict: "UNVERIFIABLE", code: "ANT_NATS_REJECTED", commit: null };

  test("director/D1: a verdict is replaced by a refusal: the clean room works once, and the attempt is over", async () => {
    const run = opened().dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
    const { deliver, asked, said } = await refusing("verdict", run);
    await deliver();
    await deliver();
    expect(asked.filter((kind) => kind === "verify")).toHaveLength(1);
    expect(await said()).toMatchObject([["verdict", refused]]);
  });

  test("director/D1: a dispatch is replaced by a refusal that ends its task", async () => {
    const { deliver, asked, said } = await refusing("dispatch", opened());
    await deliver();
    await deliver();
    expect(asked.filter((kind) => kind === "dispatch")).toHaveLength(1);
    expect(await said()).toMatchObject([["verdict", refused]]);
  });

  test("director/D1: a landing is not replaced but tried again, because git has moved", async () => {
    const run = opened().dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
    const { deliver, said } = await refusing("landing", run.judged("T-001", 1, { commit: commitOf(1) }));
    expect(await deliver()).toMatchObject({ kind: "retry", code: "ANT_NATS_REJECTED" });
    expect(await said()).toEqual([]);
  });
});
