/** The commands that decide a task. */
import type { RepoBase, RunOptions } from "@antiphon/contracts";
import type { TaskState } from "@antiphon/run";
import { imageOf, lackedBy } from "../environments/run-room.ts";
import type { RepositoryPort } from "../ports.ts";

/** The commands, and whether the repository named them. */
export interface Checks {
  readonly commands: readonly string[];
  readonly discovered: boolean;
}

/**
 * The contract's commands; if it names none and wants some, the fastest obvious check of the run's base. The head is never asked,
 * because a task could then choose the check of the next one.
 */
export async function checksOf(
  { planned }: Pick<TaskState, "planned">,
  base: RepoBase,
  repository: Pick<RepositoryPort, "discoverChecks">,
  options: Pick<RunOptions, "image" | "image_lacks" | "task_image_lacks">,
): Promise<Checks> {
  const { commands, mode } = planned.task.verify_profile;
  if (commands.length > 0 || mode === "none") return { commands, discovered: false };
  const lacks = lackedBy(imageOf(planned, options), options);
  return { commands: await repository.discoverChecks(base.repo, base.commit, lacks), discovered: true };
}
