// Refuses a run whose agents call a model that they have no way to: without a budget the egress gateway lets no call through,
// and without a network nothing reaches it. Pure.
import { agentsInTurn, AntiphonError } from "@antiphon/contracts";
import type { AgentSpec, RunOptions, TaskSpec } from "@antiphon/contracts";

type Choice = Pick<
  RunOptions,
  "agent" | "next_agents" | "tasks" | "gates" | "model_budget" | "egress" | "fork"
>;

/** @throws AntiphonError ANT_EGRESS_BUDGET, ANT_INTENT_OPTIONS */
export function checkPaidAgents(options: Choice): void {
  for (const [path, agent] of agentsOf(options)) checkPaid(path, agent, options);
  for (const [i, task] of (options.tasks ?? []).entries()) checkWay(`/inputs/tasks/${i}`, task, options);
}

/** Whether a pack of the run needs the way to the models that the run has a budget for. */
export function paysForPack(options: Choice): boolean {
  return hasBudget(options) && agentsOf(options).some(([, { kind }]) => kind === "pack");
}

/** The same of one task. */
export function paysForPackOf(task: TaskSpec, options: Choice): boolean {
  return (
    task.kind !== "git" &&
    hasBudget(options) &&
    agentsInTurn(task.agent, options).some(({ kind }) => kind === "pack")
  );
}

function hasBudget({ model_budget: budget }: Choice): boolean {
  return budget?.tokens !== undefined || budget?.usd_micro !== undefined;
}

function agentsOf(choice: Choice): [string, AgentSpec][] {
  const { agent, next_agents = [], tasks = [], gates } = choice;
  // Agents that every task replaces call nothing, and a git task has none.
  const isReplaced = tasks.length > 0 && tasks.every((task) => keepsOwn(task, choice));
  const ofRun: [string, AgentSpec][] = [
    ["/inputs/agent", agent],
    ...next_agents.map((next, i): [string, AgentSpec] => [`/inputs/next_agents/${i}`, next]),
  ];
  const all: [string, AgentSpec | undefined][] = [
    ...(isReplaced ? [] : ofRun),
    ...tasks.map((task, i): [string, AgentSpec | undefined] => [
      `/inputs/tasks/${i}/agent`,
      task.kind === "git" ? undefined : task.agent,
    ]),
    ["/inputs/gates/agent", gates?.agent],
  ];
  return all.flatMap(([path, one]) => (one === undefined ? [] : [[path, one]]));
}

/** Whether no agent of the run works on the task, or only the one that the task names as well. */
function keepsOwn({ kind, agent }: TaskSpec, choice: Choice): boolean {
  return kind === "git" || (agent !== undefined && agentsInTurn(agent, choice).length === 1);
}

function checkPaid(path: string, agent: AgentSpec, choice: Choice): void {
  if (agent.kind !== "pack" || agent.model === undefined) return;
  const { host, name } = agent.model;
  const needs = `${path}: the agent ${agent.name} calls the model ${name} at ${host}`;
  const { egress } = choice;
  if (allows(egress?.allowlist ?? [], host)) {
    if (!hasBudget(choice)) return; // A server of the user's own, which nobody meters.
    throw new AntiphonError(
      "ANT_INTENT_OPTIONS",
      `${needs}; a call of a host on the allowlist is not metered unless the deployment has a price for it, so the run's budget would not hold: leave ${host} out of the allowlist, and \`antiphon models add\` names a server of your own, at a price of 0`,
      { data: { path: "/constraints/egress/allowlist" } },
    );
  }
  if (!hasBudget(choice))
    throw new AntiphonError("ANT_EGRESS_BUDGET", `${needs}, and the run has no model budget`, {
      data: { path: "/constraints/model_budget" },
    });
  if (egress?.mode === "none")
    throw new AntiphonError(
      "ANT_INTENT_OPTIONS",
      `${needs}, and egress none closes the way to it; leave egress out, or choose git+pkg or allowlist`,
      { data: { path: "/constraints/egress/mode" } },
    );
}

/** A task with a network of its own, narrower than that of its run, may have closed the way to its agent's model. */
function checkWay(path: string, task: TaskSpec, choice: Choice): void {
  const { kind, egress_profile: own } = task;
  if (own === undefined || kind === "git") return;
  for (const agent of agentsInTurn(task.agent, choice)) {
    if (agent.kind !== "pack" || agent.model === undefined) continue;
    const { host, name } = agent.model;
    if (own.mode !== "none" && (hasBudget(choice) || allows(own.allowlist ?? [], host))) continue;
    const at = `${path}/egress_profile`;
    const closes = own.mode === "none" ? "its network none" : "its allowlist";
    const opens = hasBudget(choice)
      ? "the mode allowlist, which opens the models of the run's budget"
      : `${host} on its allowlist`;
    throw new AntiphonError(
      "ANT_INTENT_OPTIONS",
      `${at}: the agent ${agent.name} calls the model ${name} at ${host}, and ${closes} closes the way to it; leave egress_profile out, or give it ${opens}`,
      { data: { path: at } },
    );
  }
}

function allows(allowlist: readonly string[], named: string): boolean {
  const host = named.toLowerCase();
  return allowlist.some((entry) => {
    const pattern = entry.toLowerCase().replace(/:\d{1,5}$/, "");
    return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : pattern === host;
  });
}
