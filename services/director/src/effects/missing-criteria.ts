/**
 * What would leave every change of a task UNVERIFIABLE, known before its first attempt: no check, or a criterion that no check
 * decides. Such a run ends before any container starts, so nothing is paid for. The whole graph is looked at before
 * its first task.
 */
import { AntiphonError, changesFiles, type PlannedTask } from "@antiphon/contracts";
import { intentOf, type RunState, type TaskState } from "@antiphon/run";
import type { RepositoryPort } from "../ports.ts";
import { checksOf } from "../verification/checks-of.ts";

/** @throws AntiphonError ANT_VERIFY_NO_CHECK or ANT_VERIFY_CRITERION */
export async function requireCriteria(
  run: RunState,
  task: TaskState,
  repository: Pick<RepositoryPort, "discoverChecks">,
): Promise<void> {
  const { options, base } = intentOf(run);
  if (options.allow_unverified) return;
  const isBegun = run.tasks.some(({ phase }) => phase.kind !== "open" || phase.epoch > 1);
  for (const one of isBegun ? [task] : run.tasks) {
    if (!isJudged(one.planned)) continue;
    const { task_id } = one.planned.task;
    const where = one === task ? "" : `${task_id}: `;
    const { commands } = await checksOf(one, base, repository, options);
    if (commands.length === 0)
      throw missing("ANT_VERIFY_NO_CHECK", `${where}no check was named and none was found`);
    const open = options.approvals === undefined ? undecidedOf(one.planned) : undefined;
    if (open !== undefined) {
      const quoted = JSON.stringify(open.length > 160 ? `${open.slice(0, 157)}...` : open);
      throw missing("ANT_VERIFY_CRITERION", `${where}no check decides ${quoted}`);
    }
  }
}

/** Its change lands only if a check passes. */
function isJudged({ task, gate }: PlannedTask): boolean {
  return changesFiles(task) && gate === undefined && task.verify_profile.mode !== "none";
}

/** People who approve the task decide its criteria. */
function undecidedOf({ criteria = [], approvals }: PlannedTask): string | undefined {
  return approvals === undefined ? criteria.find(({ check }) => check === null)?.criterion : undefined;
}

function missing(code: "ANT_VERIFY_NO_CHECK" | "ANT_VERIFY_CRITERION", why: string): AntiphonError {
  return new AntiphonError(code, `${why}, so no change could land; no agent was started`);
}
