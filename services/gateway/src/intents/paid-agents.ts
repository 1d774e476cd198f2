// Refuses a run whose agents call a model that they have no way to: without a budget the egress gateway lets no call through,
// and without a network nothing reaches it. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { AgentSpec, RunOptions, TaskSpec } from "@antiphon/contracts";

type Choice = Pick<
  RunOptions,
  "agent" | "next_agents" | "tasks" | "gates" | "model_budget" | "egress" | "fork"
>;

/** @throws AntiphonError ANT_EGRESS_BUDGET, ANT_INTENT_OPTIONS */
export function checkPaidAgents(options: Choice): void {
  for (const [path, agent] of agentsOf(options)) checkPaid(path, agent, options);
}

/** Whether a pack of the run needs the way to the models that the run has a budget for. */
export function paysForPack(options: Choice): boolean {
  return hasBudget(options) && agentsOf(options).some(([, { kind }]) => kind === "pack");
}

/** The same of one task. Who takes over a rejected attempt works only on tasks that name no agent. */
export function paysForPackOf(task: TaskSpec, options: Choice): boolean {
  const agents = task.agent === undefined ? [options.agent, ...(options.next_agents ?? [])] : [task.agent];
  return task.kind !== "git" && hasBudget(options) && agents.some(({ kind }) => kind === "pack");
}

function hasBudget({ model_budget: budget }: Choice): boolean {
  return budget?.tokens !== undefined || budget?.usd_micro !== undefined;
}

function agentsOf({ agent, next_agents = [], tasks = [], gates }: Choice): [string, AgentSpec][] {
  const all: [string, AgentSpec | undefined][] = [
    // An agent that every task replaces calls nothing, and a git task has none.
    ["/inputs/agent", tasks.length > 0 && tasks.every(isWithoutDefault) ? undefined : agent],
    ...next_agents.map((next, i): [string, AgentSpec] => [`/inputs/next_agents/${i}`, next]),
    ...tasks.map((task, i): [string, AgentSpec | undefined] => [
      `/inputs/tasks/${i}/agent`,
      task.kind === "git" ? undefined : task.agent,
    ]),
    ["/inputs/gates/agent", gates?.agent],
  ];
  return all.flatMap(([path, one]) => (one === undefined ? [] : [[path, one]]));
}

function isWithoutDefault({ kind, agent }: NonNullable<Choice["tasks"]>[number]): boolean {
  return agent !== undefined || kind === "git";
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

function allows(allowlist: readonly string[], named: string): boolean {
  const host = named.toLowerCase();
  return allowlist.some((entry) => {
    const pattern = entry.toLowerCase().replace(/:\d{1,5}$/, "");
    return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : pattern === host;
  });
}
