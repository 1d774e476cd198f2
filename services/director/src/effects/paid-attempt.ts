/**
 * The first attempt of an agent that is paid for is held back until its checks have run on the base, so that a check that
 * cannot start costs no model call. Such a check ends at once; a check that takes longer has started, so the wait is short.
 */
import { limits, type PlannedTask, type RunOptions } from "@antiphon/contracts";
import { intentOf, type EffectOf, type RunState, type TaskState } from "@antiphon/run";
import { Undispatched } from "./undispatched.ts";
import { within } from "./within.ts";
import type { RoomOutcome, VerdictEvidencePort } from "../ports.ts";
import { unstartable } from "../verification/unstartable.ts";

/** @throws Undispatched */
export async function startableChecks(
  run: RunState,
  { taskId, epoch, task }: EffectOf<"dispatch">,
  base: Promise<RoomOutcome | null>,
  evidence: VerdictEvidencePort,
  signal: AbortSignal,
): Promise<void> {
  const { options } = intentOf(run);
  if (!isFirst(task) || !isPaid(task.planned, options)) return;
  const outcome = await within(base, limits.paidAttemptHoldMs, signal);
  const bad = outcome === null ? null : unstartable(outcome, options.grants);
  if (outcome === null || bad === null) return;
  const message = `${bad.why}, so the check \`${bad.check.trim().slice(0, 120)}\` cannot start; no agent was started`;
  const code = "ANT_VERIFY_NO_PROGRAM";
  const trials = { change: [], base: outcome.trials, hollow: [], withoutJudges: [], own: [] };
  const stored = await evidence.store({
    ...{ run: run.runId, task: taskId, epoch, head: run.head, tree: null, commit: null },
    ...{ verdict: "UNVERIFIABLE", code, message, trials },
  });
  throw new Undispatched(code, message, stored);
}

/** Its epoch may be higher, because a person was asked for the check before. */
function isFirst({ rejections, lapses, outages, answers }: TaskState): boolean {
  return rejections + lapses + outages + answers.length === 0;
}

/** A git task has no agent that could call a model. */
function isPaid({ task, agent }: PlannedTask, { model_budget }: Pick<RunOptions, "model_budget">): boolean {
  return task.kind !== "git" && (agent.kind === "pack" || model_budget !== undefined);
}
