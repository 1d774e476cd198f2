// The skills that judge a run's changes: the run's own and those of its repository. Refuses a run whose skills have no agent that
// could judge. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { AgentSpec, GateSkill, PolicyBounds, RunOptions } from "@antiphon/contracts";

/** These do what they were told before, and can judge no change that they have not seen. */
const BLIND: ReadonlySet<AgentSpec["kind"]> = new Set(["scripted", "replay"]);

/** @throws AntiphonError ANT_INTENT_OPTIONS if a skill is demanded and only a script could be it */
export function checkGates(
  { agent, gates }: Pick<RunOptions, "agent" | "gates">,
  { gates: byPolicy = [], profiles }: Pick<PolicyBounds, "gates" | "profiles">,
  byRepository: readonly GateSkill[] = [],
): void {
  const judge = gates?.agent ?? agent;
  if (!BLIND.has(judge.kind)) return;
  const [own] = gates?.skills ?? [];
  const asked = byPolicy.find(({ skill, agent: judge }) => skill !== undefined && judge === undefined);
  const skill = own ?? asked?.skill;
  if (skill === undefined) return;
  const isOfRepository = own !== undefined && byRepository.includes(own);
  const policy = own === undefined ? `; policy ${profiles.join(", ")} demands it` : "";
  const by = isOfRepository ? "; antiphon.yaml of the repository demands it" : policy;
  const path = "/inputs/gates/agent";
  const message = `${path}: nobody can be the ${skill}, because a ${judge.kind} agent does only what it was told before${by}; name one with --gate-agent`;
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}

/** The run's own come first. */
export function withRepositoryGates(
  gates: RunOptions["gates"],
  byRepository: readonly GateSkill[] = [],
): RunOptions["gates"] {
  if (byRepository.length === 0) return gates;
  return { ...gates, skills: [...new Set([...(gates?.skills ?? []), ...byRepository])] };
}
