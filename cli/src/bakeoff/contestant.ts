// An agent of a bake-off: a pack, the model that it is to use, and where that is called.
import type { AgentPack } from "@antiphon/contracts";
import { packAgent } from "@antiphon/contracts/runs/pack-agent";
import { partsOf } from "../agents/pack-choice.ts";
import { placesOf } from "../agents/pack-places.ts";
import type { CliContext } from "../context.ts";
import { packNamed } from "../runs/run-files.ts";
import type { Contestant } from "./bakeoff.ts";
import { pastHost } from "./past-host.ts";

/**
 * @param given `claude`, `pi@gpt-6.1-sol`, `pi@small@models.example`, or the directory of a pack
 * @throws Failure ANT_AGENT_UNKNOWN
 */
export async function contestantOf(
  context: Pick<CliContext, "config" | "root">,
  given: string,
): Promise<Contestant> {
  return contestant(given, await packNamed(partsOf(given).name, placesOf(context)));
}

export function contestant(given: string, pack: AgentPack): Contestant {
  const { model, host } = partsOf(given);
  return {
    name: given,
    agentFor: (past) => packAgent(pack, { model, modelHost: host ?? pastHost(past, pack) }),
  };
}
