import { claimRecord, dispatchRecord } from "@antiphon/contracts/testing/records";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { expect, test } from "vitest";
import { isClaimed } from "./is-claimed.ts";

test("a dispatch, and the requeue of one, is held once a process has claimed its attempt", async () => {
  const journal = new MemoryJournal();
  const dispatch = await journal.append(dispatchRecord("run_a", "T-001", 2));
  const { record } = dispatch as Extract<typeof dispatch, { kind: "appended" }>;
  const origin = { type: "dispatch", task: "T-001", epoch: 2 };
  const requeued = await journal.append({
    ...{ type: "requeue", runId: "run_a", taskId: null, epoch: 1, cause: null },
    body: { consumer: "associate", origin, code: null, by: "ann" },
  });
  const { record: requeue } = requeued as Extract<typeof requeued, { kind: "appended" }>;
  expect([await isClaimed(journal, record), await isClaimed(journal, requeue)]).toEqual([false, false]);
  await journal.append(claimRecord("run_a", "T-001", 1, "as_1"));
  expect(await isClaimed(journal, record)).toBe(false);
  await journal.append(claimRecord("run_a", "T-001", 2, "as_1"));
  expect([await isClaimed(journal, record), await isClaimed(journal, requeue)]).toEqual([true, true]);
});
