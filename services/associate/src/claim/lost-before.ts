/**
 * Whether an attempt goes on from the one before: that was lost with its process, and this one is given the same task on the same
 * files. Its agent starts afresh, is answered from the record of the lost one's model calls, and its tools run again.
 */
import type { DispatchBody } from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";
import type { Attempt } from "./settlement.ts";

/** The epoch of the lost attempt; null: there is none to go on from. */
export async function lostBefore(
  { runId, taskId, epoch, dispatch }: Attempt,
  journal: Pick<Journal, "find">,
): Promise<number | null> {
  if (epoch === 1 || dispatch.task.egress_profile.mode === "none") return null;
  const [result, before] = await Promise.all([
    journal.find("result", runId, taskId, epoch - 1),
    journal.find("dispatch", runId, taskId, epoch - 1),
  ]);
  if (result?.type !== "result" || result.body.kind === "reported") return null;
  return before?.type === "dispatch" && beginsAs(before.body, dispatch) ? epoch - 1 : null;
}

export function beginsAs(one: DispatchBody, other: DispatchBody): boolean {
  const begin = ({ base, task, agent, feedback, answers, image }: DispatchBody): string =>
    JSON.stringify([base.tree, task, agent, feedback, answers, image]);
  return begin(one) === begin(other);
}
