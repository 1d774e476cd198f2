import type { EnvironmentAgent, EnvironmentSpec } from "@antiphon/contracts";
import { expect, it } from "vitest";
import { agentSpec, specBeside, wholeSpec } from "./agent-parts.ts";
import { environmentKey } from "./environment-key.ts";

const agent: EnvironmentAgent = {
  installs: 2,
  scope: "agent:a",
  tools: ["npm"],
  path: ["/a/bin"],
  starts: "node --version",
};
const spec: EnvironmentSpec = {
  agent,
  commands: ["write the lock", "npm ci", "make deps"],
  inputs: "1".repeat(64),
  decided_by: ["Makefile"],
  scope: "repo:1",
  source: { tree: "tree", overlay: null, deletions: [] },
  tools: ["make"],
  path: ["/a/bin", "/deps/bin"],
  variables: { A: "1" },
  found: ["agent a", "Makefile: make deps"],
  packages: null,
};
const keyOf = (one: EnvironmentSpec, imageId = "i"): string =>
  environmentKey(one, { imageId, platform: "linux/x64" });

it("installs the agent without anything of the repository, so that all of them share it", () => {
  const other = { ...spec, inputs: "2".repeat(64), scope: "repo:2", variables: {}, path: ["/a/bin"] };
  expect(keyOf(agentSpec(spec, agent))).toBe(keyOf(agentSpec(other, agent)));
  expect(agentSpec(spec, agent)).toMatchObject({
    commands: ["write the lock", "npm ci"],
    scope: "agent:a",
    tools: ["npm"],
    variables: {},
  });
});

it("asks the image of the run for what the repository needs, and whether the agent starts there", () => {
  const beside = specBeside(spec, agent, "layer-1");
  expect(beside).toMatchObject({
    commands: ["node --version", "make deps"],
    tools: ["make"],
    scope: "repo:1",
  });
  expect(beside).not.toHaveProperty("agent");
  expect(keyOf(beside)).not.toBe(keyOf(specBeside(spec, agent, "layer-2")));
});

it("needs the tools of both in the standard image, and leaves any other environment as it is", () => {
  expect(wholeSpec(spec)).toMatchObject({ commands: spec.commands, tools: ["npm", "make"] });
  const { agent: _none, ...plain } = spec;
  expect(wholeSpec(plain)).toEqual(plain);
});
