/**
 * A task whose last attempt failed because its agent has no model is not tried again with the same agent: the deployment does
 * not know the model or its host, or has no key for it. A git task whose change may not be made is not tried again either: it
 * would make the same one.
 *
 * The fold takes such a failure as any other, because Directors of older releases do. The end is a record of its own, the
 * refused dispatch of the next attempt, so all Directors of a run fold it alike (run/R1). Pure.
 */
import { AntiphonError, canonicalJson, isErrorCode, type RunOptions } from "@antiphon/contracts";
import type { TaskState } from "@antiphon/run";
import { agentOfAttempt } from "./agent-of-attempt.ts";

const OF_THE_AGENT: ReadonlySet<string> = new Set([
  "ANT_EGRESS_HOST",
  "ANT_EGRESS_MODEL",
  "ANT_EGRESS_NO_KEY",
]);

/** Rules for patches: scope, protected files, policy, size and form. */
const OF_THE_CHANGE = "ANT_PATCH_";

/** @throws AntiphonError with the code and the message of the last attempt */
export function requireOtherAgent(
  task: Pick<TaskState, "planned" | "phase" | "feedback" | "rejections">,
  options: Pick<RunOptions, "agent" | "next_agents">,
): void {
  const last = task.feedback.at(-1);
  if (last?.epoch !== task.phase.epoch - 1 || !isErrorCode(last.code)) return;
  const isGit = task.planned.task.kind === "git";
  if (!OF_THE_AGENT.has(last.code) && !(isGit && last.code.startsWith(OF_THE_CHANGE))) return;
  const failed = agentOfAttempt({ ...task, rejections: task.rejections - 1 }, options);
  if (canonicalJson(failed) !== canonicalJson(agentOfAttempt(task, options))) return;
  throw new AntiphonError(last.code, last.message);
}
