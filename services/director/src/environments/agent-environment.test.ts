import { packAgent, type EnvironmentSpec } from "@antiphon/contracts";
import { expect, it } from "vitest";
import { withAgent } from "./agent-environment.ts";

const tree = { object: "tree-object" };
const agent = packAgent({ name: "a", argv: ["a"], prompt: "stdin", install: { npm: ["a@1.0.0"] } });
const setup = {
  commands: ["npm ci"],
  scope: "repo:1",
  tools: ["npm"],
  path: ["/p"],
  found: ["lock"],
} as unknown as EnvironmentSpec;

it("installs the agent before the repository's setup, which keeps its scope", () => {
  const spec = withAgent(setup, agent, tree, "/repo");
  expect(spec).toMatchObject({ commands: [...agent.install, "npm ci"], scope: "repo:1", tools: ["npm"] });
  expect(spec?.path.at(-1)).toBe("/p");
});

it("shares pinned packages between repositories, and nothing else", () => {
  const scopeOf = (install: string[], repository: string) =>
    withAgent(null, { ...agent, install }, tree, repository)?.scope;
  expect(scopeOf(agent.install, "/a")).toBe(scopeOf(agent.install, "/b"));
  expect(scopeOf(["sh /workspace/install.sh"], "/a")).not.toBe(scopeOf(["sh /workspace/install.sh"], "/b"));
});

it("leaves the environment of any other agent as it is", () => {
  expect(withAgent(setup, { kind: "command", argv: ["a"] }, tree, "/repo")).toBe(setup);
  expect(withAgent(null, { ...agent, install: [] }, tree, "/repo")).toBeNull();
});
