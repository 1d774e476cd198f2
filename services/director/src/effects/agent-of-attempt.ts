/**
 * Which agent makes an attempt. Each rejection hands the task over to the next agent of the run, and the last one keeps it; a
 * lost attempt and a question do not. A task that names its own agent keeps that, and so does a skill that judges: its rejections
 * say nothing about its agent. A git task has none. Pure.
 */
import { agentsInTurn, type AgentSpec, type RunOptions } from "@antiphon/contracts";
import type { TaskState } from "@antiphon/run";

export function agentOfAttempt(
  { planned, rejections }: Pick<TaskState, "planned" | "rejections">,
  options: Pick<RunOptions, "agent" | "next_agents">,
): AgentSpec {
  if (planned.gate !== undefined || planned.task.kind === "git") return planned.agent;
  const agents = agentsInTurn(planned.agent, options);
  return agents[Math.min(rejections, agents.length - 1)] ?? planned.agent;
}
