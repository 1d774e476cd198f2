/** What the checks of a task have to prove, by its run and by the deployment's policy. Pure. */
import { changesFiles, type PolicyBounds } from "@antiphon/contracts";
import { intentOf, type RunState, type TaskState } from "@antiphon/run";
import type { Demand } from "./judge.ts";

export function demandOf(run: RunState, task: TaskState): Demand {
  const { options, policy } = intentOf(run);
  const edits = changesFiles(task.planned.task);
  // The checks of a DEBUG run of one task stand for the fix, so they have to fail without it.
  const isFix =
    edits &&
    run.routed?.workflow === "DEBUG" &&
    run.tasks.filter(({ planned }) => planned.gate === undefined).length === 1;
  // A check that decides a criterion of a plan has to depend on the change at all.
  const decides = edits && task.planned.criteria !== undefined;
  return {
    workflow: isFix ? "fail-to-pass" : decides ? "regression" : "nothing",
    caller: edits ? (options.require_proof ?? "nothing") : "nothing",
    policy: edits ? (policy?.require_proof ?? "nothing") : "nothing",
    allowUnproven: options.allow_unproven,
    byPeople: options.approvals !== undefined || task.planned.approvals !== undefined,
  };
}

/** Whether the answer of the base is needed, however long it takes. */
export function needsBase({ workflow, caller, policy }: Demand, bounds: PolicyBounds | undefined): boolean {
  const autoLand = (bounds?.auto_land ?? []).map(({ proof = "nothing" }) => proof);
  return [workflow, caller, policy, ...autoLand].some((proof) => proof !== "nothing");
}
