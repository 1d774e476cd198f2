/** Chooses the agent that a dispatch names. */
import { AntiphonError } from "@antiphon/contracts";
import type { AgentSpec } from "@antiphon/contracts";
import type { Agent } from "../ports.ts";
import { commandAgent } from "./command.ts";
import { replayAgent } from "./replay.ts";
import { scriptedAgent } from "./scripted.ts";

/** Throws ANT_AGENT_UNKNOWN for a kind that only a newer Router knows. */
export function agentFor(spec: AgentSpec): Agent {
  switch (spec.kind) {
    case "scripted":
      return scriptedAgent(spec);
    case "command":
      return commandAgent(spec);
    case "replay":
      return replayAgent(spec);
    default:
      throw new AntiphonError(
        "ANT_AGENT_UNKNOWN",
        `no agent of kind ${JSON.stringify((spec as AgentSpec).kind)}`,
      );
  }
}
