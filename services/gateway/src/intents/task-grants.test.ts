import { expect, test } from "vitest";
import type { AgentSpec, TaskSpec } from "@antiphon/contracts";
import { agentOfPack } from "../operations/agent-packs.ts";
import { checkTaskGrants } from "./task-grants.ts";

const SHIPPED = new URL("../../../../agents", import.meta.url).pathname;
const agent: AgentSpec = { kind: "command", argv: ["a"] };
const check = (task: Partial<TaskSpec>, more = {}) =>
  checkTaskGrants({
    ...{ agent, time_budget_s: 300, tasks: [{ id: 1, description: "a", dependencies: [], ...task }] },
    ...more,
  });
const coded = (code: string, path: string) => expect.objectContaining({ code, data: { path } }) as unknown;

test("a task that says nothing, or asks for less than its run has, is taken", () => {
  expect(() => check({})).not.toThrow();
  expect(() => check({ time_budget_s: 60, egress_profile: { mode: "none", allowlist: [] } })).not.toThrow();
  const egress = { mode: "git+pkg" as const, allowlist: [] };
  expect(() => check({ egress_profile: egress }, { egress })).not.toThrow();
});

test("a network, a time or a lack of tools that the run cannot give is refused with its place", () => {
  const at = "/inputs/tasks/0";
  const egress_profile = { mode: "git+pkg" as const, allowlist: [] };
  expect(() => check({ egress_profile })).toThrow(coded("ANT_INTENT_OPTIONS", `${at}/egress_profile`));
  expect(() => check({ time_budget_s: 301 })).toThrow(coded("ANT_INTENT_OPTIONS", `${at}/time_budget_s`));
  const tools = { allowed_tools: ["read_file"] };
  expect(() => check(tools)).toThrow(coded("ANT_AGENT_TOOL_REFUSED", `${at}/allowed_tools`));
});

test("a tool that there is not is refused with those that there are, whatever the agent", () => {
  const given: AgentSpec = { kind: "scripted" };
  const unknown = { allowed_tools: ["bash", "reed_file"] };
  expect(() => check(unknown, { agent: given })).toThrow(
    coded("ANT_INTENT_OPTIONS", "/inputs/tasks/0/allowed_tools"),
  );
  expect(() => check(unknown)).toThrow(
    "there is no tool reed_file; there are read_file, write_file, edit_file",
  );
  expect(() => check({ kind: "git", allowed_tools: ["git_status"] }, { agent: given })).not.toThrow();
});

test("the tools of a run hold for each of its agents, and a task may only narrow them", () => {
  const at = "/constraints/allowed_tools";
  const allowed_tools = ["read_file" as const, "edit_file" as const];
  const whole = (more = {}) => checkTaskGrants({ agent, time_budget_s: 300, allowed_tools, ...more });
  expect(() => whole()).toThrow(coded("ANT_AGENT_TOOL_REFUSED", at));
  const given: AgentSpec = { kind: "scripted" };
  expect(() => whole({ agent: given })).not.toThrow();
  expect(() => whole({ agent: given, next_agents: [agent] })).toThrow(coded("ANT_AGENT_TOOL_REFUSED", at));
  const task = "/inputs/tasks/0/allowed_tools";
  const of = { agent: given, allowed_tools };
  expect(() => check({ allowed_tools: ["bash"] }, of)).toThrow(coded("ANT_INTENT_OPTIONS", task));
  expect(() => check({ allowed_tools: ["read_file"] }, of)).not.toThrow();
  expect(() => check({}, { ...of, agent })).toThrow(coded("ANT_AGENT_TOOL_REFUSED", task));
});

/** Their programs read hooks, settings and `.env` of the repository, and need a shell anyway. */
test.each(["aider", "codex", "mini-swe-agent"])("%s gets no task without a shell", async (name) => {
  const pack = await agentOfPack([SHIPPED], name, undefined);
  const options = { agent: pack, time_budget_s: 300, allowed_tools: ["read_file" as const] };
  expect(() => checkTaskGrants(options)).toThrow(
    coded("ANT_AGENT_TOOL_REFUSED", "/constraints/allowed_tools"),
  );
  expect(() => checkTaskGrants({ ...options, allowed_tools: ["bash" as const] })).not.toThrow();
});

test.each(["claude", "gemini", "model", "opencode", "opencode-server", "pi"])(
  "%s may get one",
  async (name) => {
    const pack = await agentOfPack([SHIPPED], name, undefined);
    const options = { agent: pack, time_budget_s: 300, allowed_tools: ["read_file" as const] };
    expect(() => checkTaskGrants(options)).not.toThrow();
  },
);
