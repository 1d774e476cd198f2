// An agent of a bake-off: a pack, and the model that it is to use.
import { packAgent } from "@antiphon/contracts/runs/pack-agent";
import { placesOf } from "../agents/pack-places.ts";
import type { CliContext } from "../context.ts";
import { packNamed } from "../runs/run-files.ts";
import type { Contestant } from "./bakeoff.ts";

/** @param given `claude`, `pi@gpt-6.1-sol`, or the directory of a pack @throws Failure ANT_AGENT_UNKNOWN */
export async function contestantOf(
  context: Pick<CliContext, "config" | "root">,
  given: string,
): Promise<Contestant> {
  const at = given.indexOf("@");
  const [name, model] = at < 1 ? [given, undefined] : [given.slice(0, at), given.slice(at + 1)];
  const pack = await packNamed(name, placesOf(context));
  return { name: given, agent: packAgent(pack, { model: model === "" ? undefined : model }) };
}
