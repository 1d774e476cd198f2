/**
 * Finds tasks whose next attempt would fail as the last one did. An agent without a model is not started again, because the
 * deployment still lacks the model, its host or the key. A git task whose change was refused would make the same change.
 *
 * The fold treats such a failure as any other, because Directors of older releases do. The task ends by a record of its own,
 * the refused dispatch of the next attempt, so all Directors of a run fold it alike (run/R1). Pure.
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
