/** Runs the checks of all tasks on the finished run as it would land, those of each image in a clean room of that image. */
import { intentOf, type RunState } from "@antiphon/run";
import { setupOf } from "../environments/dispatch-environment.ts";
import { imageOf, roomOf } from "../environments/run-room.ts";
import type { RepositoryPort, RoomOutcome } from "../ports.ts";
import { checksOf } from "./checks-of.ts";
import { historyOf } from "./history.ts";
import { runTrials, trialsFor } from "./trials.ts";
import type { VerificationPorts } from "./verification.ts";

type Trials = RoomOutcome["trials"];

/** Empty: there are no checks. */
export async function integrationTrials(
  run: RunState,
  commit: string,
  epoch: number,
  { repository, room }: Pick<VerificationPorts, "repository" | "room">,
  signal: AbortSignal,
): Promise<Trials> {
  const { options, base, policy } = intentOf(run);
  let all: Trials = [];
  for (const [image, checks] of await checksByImage(run, repository)) {
    const { trials } = await runTrials(
      {
        run: run.runId,
        task: null,
        epoch,
        purpose: "verify",
        tree: await repository.exportBase(base.repo, commit),
        history: await historyOf(run, commit, repository),
        candidate: null,
        checks,
        image,
        room: roomOf(options),
        budgetMs: options.time_budget_s * 1000,
        setup: setupOf(run, image),
        trials: trialsFor({
          asked: options.trials,
          atLeast: policy?.min_trials,
          chance: null,
          wasFlaky: false,
        }),
      },
      room,
      signal,
    );
    all = sideBySide(all, trials);
  }
  return all;
}

/**
 * The checks of all tasks, each once for each image in which a task runs it; the discovered one, if the tasks name none. A skill
 * that judges a task repeats the checks of that task and runs none of them.
 */
async function checksByImage(
  run: RunState,
  repository: RepositoryPort,
): Promise<ReadonlyMap<string | null, string[]>> {
  const { base, options } = intentOf(run);
  const found = new Map<string | null, string[]>();
  const add = (image: string | null, commands: readonly string[]): void => {
    if (commands.length > 0) found.set(image, [...new Set([...(found.get(image) ?? []), ...commands])]);
  };
  const working = run.tasks.filter(({ planned }) => planned.gate === undefined);
  for (const { planned } of working) add(imageOf(planned, options), planned.task.verify_profile.commands);
  if (found.size > 0) return found;
  for (const task of working) {
    const { commands } = await checksOf(task, base, repository, options);
    add(imageOf(task.planned, options), commands);
  }
  if (found.size > 0) return found;
  add(options.image ?? null, await repository.discoverChecks(base.repo, base.commit, options.image_lacks));
  return found;
}

/** Trial by trial. A room that ran fewer trials, because its outcome was settled, is in each of the others with its last one. */
function sideBySide(some: Trials, others: Trials): Trials {
  if (some.length === 0) return others;
  const count = Math.max(some.length, others.length);
  return Array.from({ length: count }, (_, i) => [
    ...(some[i] ?? some.at(-1) ?? []),
    ...(others[i] ?? others.at(-1) ?? []),
  ]);
}
