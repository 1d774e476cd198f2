// Refuses a task that asks for more than its run has, and one whose tools nothing would hold its agent to. Pure.
import { AntiphonError, egressBeyond, toolLeftOut } from "@antiphon/contracts";
import type { RunOptions } from "@antiphon/contracts";

type Choice = Pick<RunOptions, "agent" | "tasks" | "egress" | "time_budget_s">;

/** @throws AntiphonError ANT_INTENT_OPTIONS, ANT_AGENT_TOOL_REFUSED */
export function checkTaskGrants({ agent, tasks = [], egress, time_budget_s: most }: Choice): void {
  for (const [i, task] of tasks.entries()) {
    const at = `/inputs/tasks/${i}`;
    const beyond = task.egress_profile === undefined ? null : egressBeyond(task.egress_profile, egress);
    if (beyond !== null) throw refused(`${at}/egress_profile`, beyond);
    const { time_budget_s: time = most } = task;
    if (time > most)
      throw refused(
        `${at}/time_budget_s`,
        `it asks for ${time} s, and the run allows ${most} s: give the run --time-budget ${time}`,
      );
    const own = task.agent ?? agent;
    const tool =
      task.allowed_tools === undefined
        ? null
        : toolLeftOut(task.kind ?? "edit_repo", task.allowed_tools, own);
    if (tool === null) continue;
    const path = `${at}/allowed_tools`;
    const name = own.kind === "pack" ? own.name : `of kind ${own.kind}`;
    const message = `${path}: ${tool} is not allowed, and nothing keeps the agent ${name} from it, because it is a program; choose --agent model, whose tools are the task's, or allow ${tool}`;
    throw new AntiphonError("ANT_AGENT_TOOL_REFUSED", message, { data: { path } });
  }
}

function refused(path: string, why: string): AntiphonError {
  return new AntiphonError("ANT_INTENT_OPTIONS", `${path}: ${why}`, { data: { path } });
}
