/**
 * Whether a process has claimed the attempt of a delivery. Its dispatch comes to other processes for as long as it works, and if
 * it is gone the next one ends the claim; so the number of deliveries says nothing.
 */
import type { StoredRecord } from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";

export async function isClaimed(
  journal: Pick<Journal, "find">,
  { type, runId, taskId, epoch, body }: StoredRecord,
): Promise<boolean> {
  const at = type === "requeue" ? body.origin : { task: taskId, epoch };
  return at.task !== null && (await journal.find("claim", runId, at.task, at.epoch)) !== null;
}
