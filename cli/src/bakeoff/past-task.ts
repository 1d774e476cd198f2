// The task of a past run, to be done once more by another agent: the same goal, options and commit. Pure.
import type { AgentSpec, Intent, IntentBody, ModelBudget, SkillGates } from "@antiphon/contracts";
import { isMaterial } from "@antiphon/contracts/runs/connectors";

/** Inputs that are not carried over: the new run decides them by itself, or they were about that one run only. */
const OWN_INPUTS = [
  ...["agent", "next_agents", "tasks", "plan", "base_ref", "land_on", "race", "repo"],
  ...["fork", "again_of"],
];
/** People would be asked about each run; what is measured is the agent. */
const OWN_CONSTRAINTS = ["approvals", "allow_dirty", "model_budget"];

const WAY_TO_MODELS = { mode: "allowlist", allowlist: [] };

export type PastBody = Pick<IntentBody, "intent" | "options" | "base" | "policy">;

/**
 * Null: the run had no repository, so there is nothing that another agent could change.
 * @param body its options hold what people answered about the proof of the run, too
 */
export function pastTask(body: PastBody, agent: AgentSpec, modelUsdMicro: number | null): Intent | null {
  const { intent, options, base } = body;
  const { checks, allow_unverified } = options;
  if (isMaterial(base.repo)) return null;
  const { model_budget } = options;
  const budget = modelUsdMicro === null ? model_budget : { usd_micro: modelUsdMicro };
  const constraints = without(intent.constraints, OWN_CONSTRAINTS);
  // Also the network that its tasks brought along themselves.
  const { egress = budget === undefined ? undefined : WAY_TO_MODELS } = options;
  const gates = judged(body);
  const tasks = options.tasks?.map(({ agent: _own, approvals: _people, ...task }) => task);
  return {
    goal: intent.goal,
    inputs: {
      ...without(intent.inputs, OWN_INPUTS),
      ...{ repo: base.repo, base_ref: base.commit, agent },
      // Also what people answered about the proof, so that nobody is asked again.
      ...(checks.length === 0 ? {} : { checks }),
      ...(tasks === undefined ? {} : { tasks }),
      ...(gates === undefined ? {} : { gates }),
    },
    constraints: {
      ...constraints,
      ...{ allow_dirty: true }, // It starts from a commit, whatever the work tree holds.
      ...(allow_unverified ? { allow_unverified } : {}),
      ...(budget === undefined ? {} : { model_budget: budget }),
      ...(egress === undefined ? {} : { egress }),
    },
  };
}

/** A heat says whose task it does again, so that who chose its proof there is on record here. */
export function heatOf({ inputs, ...rest }: Intent, pastRun: string): Intent {
  return { ...rest, inputs: { ...inputs, again_of: pastRun } };
}

/** An agent that compiles would take an answer of before, which costs nothing and takes no time. */
export function askedAnew(agent: AgentSpec, seed: string): AgentSpec {
  return agent.kind === "pack" && agent.prompt === "compile" ? { ...agent, seed } : agent;
}

/** The gates with the agent that judged the past run, because otherwise each agent would judge its own changes. */
function judged({ options: { gates, agent }, policy }: PastBody): SkillGates | undefined {
  const byPolicy =
    policy?.gates?.some((gate) => gate.skill !== undefined && gate.agent === undefined) ?? false;
  return gates === undefined && !byPolicy ? undefined : { skills: [], agent, ...gates };
}

function without(from: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)));
}

/** The largest sum that the model calls of all runs may cost. Null: at least one has no budget in dollars. */
export function mostUsdMicro(intents: readonly Intent[]): number | null {
  const budgets = intents.map(({ constraints }) => constraints["model_budget"] as Partial<ModelBudget>);
  const amounts = budgets.flatMap((budget) => budget?.usd_micro ?? []);
  return amounts.length < intents.length ? null : amounts.reduce((sum, one) => sum + one, 0);
}
