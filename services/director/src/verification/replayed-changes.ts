/** The changes of a run that skills have to judge again after its commits were moved to another base. */
import type { ReplayedChange } from "@antiphon/contracts";
import { checkPatch, type ReplayedCommit } from "@antiphon/git";
import { intentOf, type RunState } from "@antiphon/run";
import type { RepositoryPort } from "../ports.ts";
import { gatesNeeded } from "./approval-need.ts";

/**
 * A change is judged again even if its patch is the same to the byte: a skill judged files and not a patch, and the files around
 * the change, its history and the lines that a reviewer quotes are those of another base now. The skills that have passed it are
 * asked, and those whose paths it touches only there, as where the branch has moved a folder. A commit that changes nothing on the
 * branch was left out; nothing of it would land.
 *
 * @returns in the order of the commits; null: the run has no skills
 */
export async function replayedChanges(
  run: RunState,
  commits: readonly ReplayedCommit[],
  repository: Pick<RepositoryPort, "diff">,
): Promise<ReplayedChange[] | null> {
  if (run.tasks.every(({ planned }) => planned.gate === undefined)) return null;
  const { repo } = intentOf(run).base;
  const changes = await Promise.all(
    commits.map(async ({ of, head, commit, tree }): Promise<ReplayedChange[]> => {
      const made = run.tasks.find(({ phase }) => phase.kind === "done" && phase.commit === of);
      if (made?.phase.kind !== "done") return [];
      const task = made.planned.task.task_id;
      const check = checkPatch(await repository.diff(repo, head, commit));
      const touched = gatesNeeded(check.ok ? check.files : null, task, run.tasks);
      const passed = made.phase.verdict.gates ?? [];
      const gates = [...passed, ...touched.filter((gate) => !passed.includes(gate))];
      return gates.length === 0 ? [] : [{ task, head, commit, tree, gates }];
    }),
  );
  return changes.flat();
}
