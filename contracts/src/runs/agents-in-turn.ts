// Which agents work on a task, each after a rejection of the one before it. Pure.
import { canonicalJson } from "../wire/codec.ts";
import type { AgentSpec } from "./agents.ts";

interface OfRun {
  readonly agent: AgentSpec;
  readonly next_agents?: readonly AgentSpec[];
}

/** `own`: the agent that the task names. One that is the agent of the run hands over as that does; another one keeps the task. */
export function agentsInTurn(own: AgentSpec | undefined, { agent, next_agents = [] }: OfRun): AgentSpec[] {
  const isOfRun = own === undefined || canonicalJson(own) === canonicalJson(agent);
  return isOfRun ? [agent, ...next_agents] : [own];
}
