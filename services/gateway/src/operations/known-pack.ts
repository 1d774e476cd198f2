/** Tells whether the agent of a run is a pack of this deployment, or a program that the run brings under the name of one. */
import { AntiphonError, canonicalJson, type AgentOf, type AgentSpec } from "@antiphon/contracts";
import { agentOfPack } from "./agent-packs.ts";

/** To the letter, with the pack's own model or another one of the same host. */
export async function isPackOf(folders: readonly string[], agent: AgentSpec): Promise<boolean> {
  if (agent.kind !== "pack") return false;
  try {
    const model = modelIn(await agentOfPack(folders, agent.name, PLACE), agent);
    const known = await agentOfPack(folders, agent.name, model);
    const { seed: _seed, ...given } = agent;
    return canonicalJson(known) === canonicalJson(given);
  } catch (error) {
    if (error instanceof AntiphonError && NO_PACK.has(error.code)) return false;
    throw error;
  }
}

/** No folder holds such a pack that can be read, or its model would have no name that a model may have. */
const NO_PACK: ReadonlySet<string> = new Set([
  "ANT_AGENT_UNKNOWN",
  "ANT_AGENT_PACK_INVALID",
  "ANT_CONTRACT_INVALID",
]);

/** Filled in as the model, it shows where a pack has the name of its model. */
const PLACE = "the-name-of-the-model";

/** Undefined: the pack names no model. */
function modelIn(template: AgentOf<"pack">, { argv, env }: AgentOf<"pack">): string | undefined {
  const words = [
    ...template.argv.map((word, i) => [word, argv[i]] as const),
    ...Object.entries(template.env).map(([name, word]) => [word, env[name]] as const),
  ];
  const [word = "", given = ""] = words.find(([one]) => one.includes(PLACE)) ?? [];
  const at = word.indexOf(PLACE);
  const times = word.split(PLACE).length - 1;
  const length = PLACE.length + (given.length - word.length) / times;
  return at === -1 ? undefined : given.slice(at, at + length);
}
