/**
 * Finds the attempts that a new one goes on from: the ones directly before it that were lost with their processes and had the same
 * task on the same files. Its agent starts afresh and is answered from the record of the lost one's model calls, or goes on from a checkpoint.
 */
import type { DispatchBody } from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";
import type { Attempt } from "./settlement.ts";

export interface LostBefore {
  /** The epoch before this attempt. */
  readonly newest: number;
  /** The first of the lost ones in a row. */
  readonly oldest: number;
}

/** The newest checkpoint is not farther away than this. */
const MOST = 8;

/** Null: there is none to go on from. */
export async function lostBefore(
  { runId, taskId, epoch, dispatch }: Attempt,
  journal: Pick<Journal, "find">,
): Promise<LostBefore | null> {
  if (dispatch.task.egress_profile.mode === "none") return null;
  const isLost = async (at: number): Promise<boolean> => {
    const [result, before] = await Promise.all([
      journal.find("result", runId, taskId, at),
      journal.find("dispatch", runId, taskId, at),
    ]);
    if (result?.type !== "result" || result.body.kind === "reported") return false;
    return before?.type === "dispatch" && beginsAs(before.body, dispatch);
  };
  let oldest = epoch;
  while (oldest > Math.max(1, epoch - MOST) && (await isLost(oldest - 1))) oldest -= 1;
  return oldest === epoch ? null : { newest: epoch - 1, oldest };
}

export function beginsAs(one: DispatchBody, other: DispatchBody): boolean {
  const begin = ({ base, task, agent, feedback, answers, image }: DispatchBody): string =>
    JSON.stringify([base.tree, task, agent, feedback, answers, image]);
  return begin(one) === begin(other);
}
