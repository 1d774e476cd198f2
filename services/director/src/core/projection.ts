/**
 * The contracts as documents for people: rebuilt from a run's state at will, never read back as truth.
 */
import type { RouterContractInitial, TaskContract } from "@antiphon/contracts";
import type { RunState, TaskState } from "./run-state.ts";

type RouterTaskStatus = RouterContractInitial["router_contract"]["tasks"][number]["status"];

export function routerContract(run: RunState): object | null {
  if (run.closed !== null) return run.closed.contract;
  if (run.routed === null) return null;
  const opened = run.routed.contract.router_contract;
  return {
    router_contract: {
      ...opened,
      tasks: opened.tasks.map((entry, i) => {
        const task = run.tasks[i];
        return task === undefined ? entry : { ...entry, status: routerStatus(task) };
      }),
    },
  };
}

function routerStatus(task: TaskState): RouterTaskStatus {
  switch (task.phase.kind) {
    case "done":
      return "COMPLETE";
    case "failed":
    case "asking":
      return "BLOCKED";
    case "open":
      return task.phase.epoch === 1 ? "PENDING" : "IN_PROGRESS";
    default:
      return "IN_PROGRESS";
  }
}

/** The task contract's own state: a rejected task shows `open` again while its history is in the journal. */
export function contractState(task: TaskState): TaskContract["state"] {
  switch (task.phase.kind) {
    case "done":
    case "failed":
      return task.phase.kind;
    case "proposed":
    case "accepted":
      return "proposed";
    default:
      return "open";
  }
}
