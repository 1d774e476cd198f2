// Refuses a task that asks for more than its run has, and one whose tools nothing would hold its agent to. Pure.
import {
  agentsInTurn,
  AntiphonError,
  egressBeyond,
  TASK_TOOL_NAMES,
  toolLeftOut,
  toolsOf,
  unknownTool,
} from "@antiphon/contracts";
import type { AgentSpec, RunOptions } from "@antiphon/contracts";

type Choice = Pick<
  RunOptions,
  "agent" | "next_agents" | "tasks" | "egress" | "time_budget_s" | "allowed_tools"
>;

/** @throws AntiphonError ANT_INTENT_OPTIONS, ANT_AGENT_TOOL_REFUSED */
export function checkTaskGrants(choice: Choice): void {
  const { agent, next_agents = [], tasks = [], egress, time_budget_s: most, allowed_tools: ofRun } = choice;
  // Which kind a task of the Router's will have is not known yet, and each kind has a shell.
  if (ofRun !== undefined && tasks.length === 0)
    for (const one of [agent, ...next_agents])
      requireHeld(one, toolLeftOut("edit_repo", ofRun, one), "/constraints/allowed_tools");
  for (const [i, task] of tasks.entries()) {
    const at = `/inputs/tasks/${i}`;
    // A git task has no network, whatever it names.
    const asks = task.kind === "git" ? undefined : task.egress_profile;
    const beyond = asks === undefined ? null : egressBeyond(asks, egress);
    if (beyond !== null) throw refused(`${at}/egress_profile`, beyond);
    const { time_budget_s: time = most, allowed_tools: own, kind = "edit_repo" } = task;
    if (time > most)
      throw refused(
        `${at}/time_budget_s`,
        `it asks for ${time} s, and the run allows ${most} s: give the run --time-budget ${time}`,
      );
    const path = `${at}/allowed_tools`;
    const unknown = unknownTool(kind, own);
    if (unknown !== null)
      throw refused(path, `there is no tool ${unknown}; there are ${TASK_TOOL_NAMES.join(", ")}`);
    const more = own?.find((tool) => ofRun?.includes(tool as (typeof ofRun)[number]) === false);
    if (more !== undefined && ofRun !== undefined)
      throw refused(
        path,
        `it asks for ${more}, and the run has ${ofRun.join(", ") || "no tools"}: give the run --tools ${[...ofRun, more].join(",")}`,
      );
    if (own === undefined && ofRun === undefined) continue;
    const tools = toolsOf(kind, own, ofRun);
    for (const one of agentsInTurn(task.agent, choice)) requireHeld(one, toolLeftOut(kind, tools, one), path);
  }
}

/** @throws AntiphonError ANT_AGENT_TOOL_REFUSED */
function requireHeld(agent: AgentSpec, left: ReturnType<typeof toolLeftOut>, path: string): void {
  if (left === null) return;
  const { tool, as } = left;
  const name = agent.kind === "pack" ? agent.name : `of kind ${agent.kind}`;
  const why =
    as === undefined
      ? `nothing keeps the agent ${name} from it, because it is a program; choose --agent model or another pack that is held to its tools, or allow ${tool}`
      : `the agent ${name} has one tool for it and for ${as}, which is allowed; allow both or none, or choose --agent model`;
  throw new AntiphonError("ANT_AGENT_TOOL_REFUSED", `${path}: ${tool} is not allowed, and ${why}`, {
    data: { path },
  });
}

function refused(path: string, why: string): AntiphonError {
  return new AntiphonError("ANT_INTENT_OPTIONS", `${path}: ${why}`, { data: { path } });
}
