import { expect, test } from "vitest";
import type { AgentSpec } from "@antiphon/contracts";
import { checkPaidAgents } from "./paid-agents.ts";

const free: AgentSpec = { kind: "command", argv: ["true"] };
const paid: AgentSpec = {
  ...{ kind: "pack", name: "own", install: [], tools: [], path: [], argv: ["agent"], prompt: "stdin" },
  ...{ env: {}, junk: [], model: { host: "models.test", name: "m" } },
};
const task = { id: 1, description: "a", dependencies: [] };
const budget = { usd_micro: 1 };

test.each([
  ["the agent of the run", { agent: paid }],
  ["the agent after it", { agent: free, next_agents: [free, paid] }],
  [
    "the agent after it, where each task names the agent of the run",
    { agent: free, next_agents: [paid], tasks: [{ ...task, agent: free }] },
  ],
  ["the agent of a task", { agent: free, tasks: [{ ...task, agent: paid }] }],
  ["the agent that judges", { agent: free, gates: { skills: ["reviewer" as const], agent: paid } }],
])("without a budget for its model calls %s is refused", (_who, choice) => {
  const code = "ANT_EGRESS_BUDGET";
  expect(() => checkPaidAgents(choice)).toThrow(expect.objectContaining({ code }));
  expect(() => checkPaidAgents({ ...choice, model_budget: {} })).toThrow(expect.objectContaining({ code }));
  expect(() => checkPaidAgents({ ...choice, model_budget: budget })).not.toThrow();
});

test("a budget without a network is refused as well", () => {
  const choice = { agent: paid, model_budget: budget, egress: { mode: "none" as const, allowlist: [] } };
  expect(() => checkPaidAgents(choice)).toThrow(expect.objectContaining({ code: "ANT_INTENT_OPTIONS" }));
});

test("a budget beside the agent's own host on the allowlist is refused, because calls could leave unmetered", () => {
  const egress = { mode: "allowlist" as const, allowlist: ["models.test"] };
  const refused = expect.objectContaining({
    code: "ANT_INTENT_OPTIONS",
    data: { path: "/constraints/egress/allowlist" },
  }) as Error;
  expect(() => checkPaidAgents({ agent: paid, egress, model_budget: budget })).toThrow(refused);
  expect(() =>
    checkPaidAgents({ agent: free, next_agents: [paid], egress, model_budget: { tokens: 9 } }),
  ).toThrow(refused);
});

test("an agent that calls no model, that no task has, or whose host the user allowed needs no budget", () => {
  expect(() => checkPaidAgents({ agent: free })).not.toThrow();
  const git = { ...task, kind: "git" as const, git_action: "git_checkpoint" as const };
  const next_agents = [paid];
  expect(() =>
    checkPaidAgents({ agent: paid, next_agents, tasks: [{ ...task, agent: free }, git] }),
  ).not.toThrow();
  expect(() => checkPaidAgents({ agent: paid, tasks: [git, { ...task, agent: free }] })).not.toThrow();
  const egress = { mode: "allowlist" as const, allowlist: ["*.test:8080"] };
  const shouted: AgentSpec = { ...paid, model: { host: "Models.TEST", name: "m" } };
  expect(() => checkPaidAgents({ agent: shouted, egress })).not.toThrow();
  expect(() => checkPaidAgents({ agent: paid, egress })).not.toThrow();
});

const NONE = { mode: "none" as const, allowlist: [] };

test.each([
  ["the agent of the run", { agent: paid }, {}],
  ["an agent after it", { agent: free, next_agents: [paid] }, {}],
  ["its own agent", { agent: free }, { agent: paid }],
])("a task whose own network is none, and for which %s calls a model, is refused", (_who, agents, own) => {
  const egress = { mode: "git+pkg" as const, allowlist: [] };
  const tasks = (egress_profile: object) => [task, { ...task, id: 2, ...own, egress_profile }];
  const choice = (egress_profile: object) => ({
    ...{ ...agents, model_budget: budget, egress, tasks: tasks(egress_profile) },
  });
  expect(() => checkPaidAgents(choice(NONE))).toThrow(
    expect.objectContaining({
      code: "ANT_INTENT_OPTIONS",
      message: expect.stringMatching(
        /models.test, and its network none closes .* leave egress_profile out/,
      ) as string,
      data: { path: "/inputs/tasks/1/egress_profile" },
    }),
  );
  expect(() => checkPaidAgents(choice({ mode: "allowlist", allowlist: [] }))).not.toThrow();
});

test("a task that leaves the server of its unmetered model off its own allowlist is refused", () => {
  const egress = { mode: "allowlist" as const, allowlist: ["models.test", "b.test"] };
  const choice = (allowlist: string[]) => ({
    ...{ agent: paid, egress },
    tasks: [{ ...task, egress_profile: { mode: "allowlist" as const, allowlist } }],
  });
  expect(() => checkPaidAgents(choice(["b.test"]))).toThrow(/models.test on its allowlist/);
  expect(() => checkPaidAgents(choice(["models.test"]))).not.toThrow();
});

test("a git task, and one whose agent calls no model, may name no network beside a budget", () => {
  const git = { ...task, kind: "git" as const, git_action: "git_checkpoint" as const, egress_profile: NONE };
  const tasks = [git, { ...task, id: 2, agent: free, egress_profile: NONE }, { ...task, id: 3 }];
  expect(() => checkPaidAgents({ agent: paid, model_budget: budget, tasks })).not.toThrow();
});
