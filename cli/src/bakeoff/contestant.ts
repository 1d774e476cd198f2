// An agent of a bake-off: a pack, the model that it is to use, and where that is called.
import type { AgentPack } from "@antiphon/contracts";
import { packAgent } from "@antiphon/contracts/runs/pack-agent";
import { placesOf } from "../agents/pack-places.ts";
import type { CliContext } from "../context.ts";
import { packNamed } from "../runs/run-files.ts";
import type { Contestant } from "./bakeoff.ts";
import { pastHost } from "./past-host.ts";

/** A version such as `v0.3` is part of a model's name: the last label of a host is letters, or an encoded name. */
const HOST = /^(?:[a-z0-9-]+\.)+(?:[a-z]+|xn--[a-z0-9-]+)$/i;

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

/** The name of a model may hold an `@`, but then no host follows it. */
function partsOf(given: string): { name: string; model?: string; host?: string } {
  const at = given.indexOf("@");
  if (at < 1) return { name: given };
  const rest = given.slice(at + 1);
  const last = rest.lastIndexOf("@");
  const isHost = last >= 0 && HOST.test(rest.slice(last + 1));
  const model = isHost ? rest.slice(0, last) : rest;
  return {
    name: given.slice(0, at),
    ...(model === "" ? {} : { model }),
    ...(isHost ? { host: rest.slice(last + 1) } : {}),
  };
}
