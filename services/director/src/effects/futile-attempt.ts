/**
 * Finds tasks whose next attempt would fail as the last one did. An agent without a model is not started again, because the
 * deployment still lacks the model, its host or the key. A git task whose change was refused would make the same
 * change, and so would a scripted agent: its commands are the same each time, and nobody tells them why they were refused.
 *
 * The fold treats such a failure as any other, because Directors of older releases do. The task ends by a record of its own,
 * the refused dispatch of the next attempt, so all Directors of a run fold it alike (run/R1). Pure.
 */
import {
  AntiphonError,
  canonicalJson,
  isErrorCode,
  type AgentSpec,
  type ErrorCode,
  type RunOptions,
} from "@antiphon/contracts";
import type { TaskState } from "@antiphon/run";
import { agentOfAttempt } from "./agent-of-attempt.ts";

const OF_THE_AGENT: ReadonlySet<string> = new Set([
  "ANT_EGRESS_HOST",
  "ANT_EGRESS_MODEL",
  "ANT_EGRESS_NO_KEY",
]);

/** Rules for patches: scope, protected files, policy, size and form. */
const OF_THE_CHANGE = "ANT_PATCH_";

/** These depend on the base, and another task of the run may move it before the next attempt. */
const OF_THE_BASE: ReadonlySet<ErrorCode> = new Set(["ANT_PATCH_DOES_NOT_APPLY", "ANT_PATCH_EMPTY"]);

/** A command that reads its attempt, asks a person or is told something may make another change next time. */
const TELLS_ATTEMPTS_APART = /antiphon/i;

/** @throws AntiphonError with the code and the message of the last attempt */
export function requireOtherAgent(
  task: Pick<TaskState, "planned" | "phase" | "feedback" | "rejections">,
  options: Pick<RunOptions, "agent" | "next_agents">,
): void {
  const last = task.feedback.at(-1);
  if (last?.epoch !== task.phase.epoch - 1 || !isErrorCode(last.code)) return;
  const failed = agentOfAttempt({ ...task, rejections: task.rejections - 1 }, options);
  const isSameChange = makesSameChange(task.planned, failed, last.code);
  if (!OF_THE_AGENT.has(last.code) && !isSameChange) return;
  if (canonicalJson(failed) !== canonicalJson(agentOfAttempt(task, options))) return;
  const why = isSameChange ? `${last.message}; another attempt would make the same change` : last.message;
  throw new AntiphonError(last.code, why);
}

function makesSameChange({ task }: TaskState["planned"], agent: AgentSpec, code: ErrorCode): boolean {
  const isRefused = code === "ANT_TASK_MODIFIED_FILES" || code.startsWith(OF_THE_CHANGE);
  if (task.kind === "git" || !isRefused) return isRefused;
  if (agent.kind !== "scripted" || OF_THE_BASE.has(code)) return false;
  return !(agent.commands ?? task.commands).some((command) => TELLS_ATTEMPTS_APART.test(command));
}
