/** Runs the checks of all tasks on the finished run as it would land, those of each image in a clean room of that image. */
import { intentOf, type RunState } from "@antiphon/run";
import { setupOf } from "../environments/dispatch-environment.ts";
import { imageOf, roomOf } from "../environments/run-room.ts";
import type { RepositoryPort, RoomOutcome } from "../ports.ts";
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

/** The checks of all tasks, each once for each image in which a task runs it. */
async function checksByImage(
  run: RunState,
  repository: RepositoryPort,
): Promise<ReadonlyMap<string | null, string[]>> {
  const { base, options } = intentOf(run);
  const found = new Map<string | null, string[]>();
  for (const { planned } of run.tasks) {
    const { commands } = planned.task.verify_profile;
    const image = imageOf(planned, options);
    if (commands.length > 0) found.set(image, [...new Set([...(found.get(image) ?? []), ...commands])]);
  }
  if (found.size > 0) return found;
  const discovered = await repository.discoverChecks(base.repo, base.commit, options.image_lacks);
  return discovered.length === 0 ? found : new Map([[options.image ?? null, discovered]]);
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
