/**
 * What would leave every change of a task UNVERIFIABLE, known before its first attempt: no check, or a criterion that no check
 * decides. No container starts for such a run: a person is asked what proves it (run/R12), or it ends at once if its caller
 * wants that. The whole graph is looked at before its first task.
 *
 * The question is a verdict of the first task that lacks something, in the register that the refusal of its dispatch has. So
 * two Directors, and a Director that was killed after it asked, come to the same one question, whichever task was due.
 */
import { AntiphonError, changesFiles, type PlannedTask } from "@antiphon/contracts";
import { allowsUnverified, intentOf, type RunState, type TaskState } from "@antiphon/run";
import type { RepositoryPort } from "../ports.ts";
import { checksOf } from "../verification/checks-of.ts";
import { criteriaQuestions, quoted, type Lack } from "./criteria-questions.ts";
import { MissingCriteria } from "./missing-criteria-error.ts";
import { CHECK_FILES, possibleChecks } from "./possible-checks.ts";

/** @throws MissingCriteria; AntiphonError ANT_VERIFY_NO_CHECK or ANT_VERIFY_CRITERION if the run asks nobody */
export async function requireCriteria(
  run: RunState,
  task: TaskState,
  repository: Pick<RepositoryPort, "discoverChecks" | "texts">,
): Promise<void> {
  if (allowsUnverified(run)) return;
  const { options, base } = intentOf(run);
  const lacks: Lack[] = [];
  for (const one of hasBegun(run) ? [task] : run.tasks) {
    if (!isJudged(one.planned)) continue;
    const { commands, discovered } = await checksOf(one, base, repository, options);
    if (commands.length === 0) lacks.push({ task: one });
    const open = options.approvals === undefined ? undecidedOf(one.planned) : [];
    const found = discovered ? commands : [];
    lacks.push(...open.map((criterion) => ({ task: one, criterion, found, known: commands })));
  }
  const [first] = lacks;
  if (first === undefined) return;
  const code = first.criterion === undefined ? "ANT_VERIFY_NO_CHECK" : "ANT_VERIFY_CRITERION";
  const message = `${messageOf(first, task)}, so no change could land`;
  if (options.end_without_check === true) throw new AntiphonError(code, `${message}; no agent was started`);
  const texts = await repository.texts(base.repo, base.commit, CHECK_FILES);
  const asks = criteriaQuestions(lacks, run.tasks.length, possibleChecks(texts));
  throw new MissingCriteria(code, message, first.task, asks);
}

/** An attempt was dispatched. A question before the first one is none. */
function hasBegun({ facts }: RunState): boolean {
  return (facts.tasks ?? []).some(({ attempts }) => attempts.some(({ dispatched }) => dispatched));
}

/** Its change lands only if a check passes. */
function isJudged({ task, gate }: PlannedTask): boolean {
  return changesFiles(task) && gate === undefined && task.verify_profile.mode !== "none";
}

/** People who approve the task decide its criteria. */
function undecidedOf({ criteria = [], approvals }: PlannedTask): string[] {
  if (approvals !== undefined) return [];
  return criteria.flatMap(({ criterion, check }) => (check === null ? [criterion] : []));
}

function messageOf({ task, criterion }: Lack, due: TaskState): string {
  const where = task === due ? "" : `${task.planned.task.task_id}: `;
  if (criterion === undefined) return `${where}no check was named and none was found`;
  return `${where}no check decides ${quoted(criterion)}`;
}
