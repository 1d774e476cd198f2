/** Makes the request for a clean room of a task: the run's head, its checks, image, room, repository and setup. */
import type { SandboxTrials } from "@antiphon/contracts";
import type { Chance } from "@antiphon/git";
import { intentOf, type RunState, type TaskState } from "@antiphon/run";
import { setupOf } from "../environments/dispatch-environment.ts";
import { imageOf, roomOf } from "../environments/run-room.ts";
import type { Candidate, RepositoryPort, RoomRequest } from "../ports.ts";
import { historyOf } from "./history.ts";
import { trialsFor } from "./trials.ts";

type Source = Pick<RepositoryPort, "exportBase" | "exportHistory">;

export interface RoomOrder {
  readonly taskId: string;
  readonly epoch: number;
  readonly task: TaskState;
  readonly checks: readonly string[];
  readonly candidate: Candidate | null;
  readonly trials: RoomRequest["trials"];
}

/** How often the checks of a task run. `chance`: in its change, or in what the checks reach. */
export function trialsOf(run: RunState, { feedback }: TaskState, chance: Chance | null): SandboxTrials {
  const { options, policy } = intentOf(run);
  return trialsFor({
    asked: options.trials,
    atLeast: policy?.min_trials,
    chance,
    wasFlaky: feedback.some(({ code }) => code === "ANT_VERIFY_FLAKY"),
  });
}

/** Whose the run is. */
export const tenantOf = (run: RunState): string => intentOf(run).options.tenant ?? "default";

export async function roomRequest(
  run: RunState,
  { taskId, epoch, task, checks, candidate, trials }: RoomOrder,
  source: Source,
): Promise<RoomRequest> {
  const { options, base } = intentOf(run);
  const image = imageOf(task.planned, options);
  return {
    run: run.runId,
    task: taskId,
    epoch,
    purpose: candidate === null ? "base" : "verify",
    tree: await source.exportBase(base.repo, run.head),
    history: await historyOf(run, run.head, source),
    candidate,
    checks,
    image,
    room: roomOf(options),
    budgetMs: task.planned.task.time_budget_s * 1000,
    trials,
    setup: setupOf(run, image),
  };
}
