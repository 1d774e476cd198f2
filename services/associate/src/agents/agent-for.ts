/** Chooses the agent that a dispatch names. A task of kind `git` asks none. */
import { AntiphonError } from "@antiphon/contracts";
import type { AgentKind, AgentOf, AgentSpec, DispatchBody } from "@antiphon/contracts";
import type { Agent } from "../ports.ts";
import { commandAgent } from "./command.ts";
import { gitTask } from "./git-task.ts";
import { packAgent } from "./pack.ts";
import { replayAgent } from "./replay.ts";
import { scriptedAgent } from "./scripted.ts";

/** The adapter of each kind in the table of agents. */
const ADAPTERS: { readonly [K in AgentKind]: (spec: AgentOf<K>) => Agent } = {
  scripted: scriptedAgent,
  command: commandAgent,
  replay: replayAgent,
  pack: packAgent,
};

const GIT: Agent = { prepare: async ({ dispatch }) => gitTask(dispatch) };

/** Throws ANT_AGENT_UNKNOWN for a kind that only a newer Router knows. */
export function agentFor({ agent: spec, task }: Pick<DispatchBody, "agent" | "task">): Agent {
  if (task.kind === "git") return GIT;
  if (!Object.hasOwn(ADAPTERS, spec.kind))
    throw new AntiphonError("ANT_AGENT_UNKNOWN", `no agent of kind ${JSON.stringify(spec.kind)}`);
  const adapter = ADAPTERS[spec.kind] as (spec: AgentSpec) => Agent;
  return adapter(spec);
}
