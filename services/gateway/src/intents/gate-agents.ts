// The skills that judge a run's changes: the run's own and those of its repository. Refuses a run whose skills have no agent that
// could judge. Pure.
import { AntiphonError, canonicalJson } from "@antiphon/contracts";
import type { AgentSpec, GateSkill, PolicyBounds, RunOptions } from "@antiphon/contracts";
import type { Judges } from "../policy/judges.ts";

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

/**
 * The run's own skills, with the judge whom the policy names.
 * @throws AntiphonError ANT_GATE_OWN_JUDGE if the run names another one, and may not
 */
export function withNamedJudge(gates: RunOptions["gates"], { named, own }: Judges): RunOptions["gates"] {
  if (gates === undefined || gates.skills.length === 0 || named === null) return gates;
  if (gates.agent === undefined) return { ...gates, agent: named };
  if (own || isSame(gates.agent, named)) return gates;
  throw ownJudge("the policy names who judges, so the run cannot");
}

/** The agent by which a run would have its own changes judged, without leave of the policy; null: there is none. */
export function broughtJudge(
  { agent, gates }: Pick<RunOptions, "agent" | "gates">,
  { gates: byPolicy = [] }: Pick<PolicyBounds, "gates" | "profiles">,
  { named, own }: Judges,
): AgentSpec | null {
  const isAsked =
    (gates?.skills ?? []).length > 0 ||
    byPolicy.some(({ skill, agent: judge }) => skill !== undefined && judge === undefined);
  const judge = gates?.agent ?? agent;
  return !isAsked || own || (named !== null && isSame(judge, named)) ? null : judge;
}

/**
 * Whether the run's own commands would prepare what its judges run in, without leave of the policy: they run as the same user in the
 * same home, and could put another program in the judge's place.
 */
export function preparesJudges(
  { gates, setup = [] }: Pick<RunOptions, "gates" | "setup">,
  { gates: byPolicy = [] }: Pick<PolicyBounds, "gates" | "profiles">,
  { own }: Pick<Judges, "own">,
): boolean {
  const isAsked = (gates?.skills ?? []).length > 0 || byPolicy.some(({ skill }) => skill !== undefined);
  return isAsked && !own && setup.length > 0;
}

export function ownJudge(why: string, path = "/inputs/gates/agent"): AntiphonError {
  return new AntiphonError("ANT_GATE_OWN_JUDGE", `${path}: ${why}`, { data: { path } });
}

const isSame = (one: AgentSpec, other: AgentSpec): boolean => canonicalJson(one) === canonicalJson(other);
