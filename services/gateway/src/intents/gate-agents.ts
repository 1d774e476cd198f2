// Refuses a run whose skills have no agent that could judge. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { AgentSpec, PolicyBounds, RunOptions } from "@antiphon/contracts";

/** These do what they were told before, and can judge no change that they have not seen. */
const BLIND: ReadonlySet<AgentSpec["kind"]> = new Set(["scripted", "replay"]);

/** @throws AntiphonError ANT_INTENT_OPTIONS if a skill is demanded and only the author's script could be it */
export function checkGates(
  { agent, gates }: Pick<RunOptions, "agent" | "gates">,
  { gates: byPolicy = [], profiles }: Pick<PolicyBounds, "gates" | "profiles">,
): void {
  if (gates?.agent !== undefined || !BLIND.has(agent.kind)) return;
  const [own] = gates?.skills ?? [];
  const asked = byPolicy.find(({ skill, agent: judge }) => skill !== undefined && judge === undefined);
  const skill = own ?? asked?.skill;
  if (skill === undefined) return;
  const by = own === undefined ? `; policy ${profiles.join(", ")} demands it` : "";
  const path = "/inputs/gates/agent";
  const message = `${path}: nobody can be the ${skill}, because a ${agent.kind} agent does only what it was told before${by}; name one with --gate-agent`;
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}
