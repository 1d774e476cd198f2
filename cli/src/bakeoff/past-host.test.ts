import { expect, test } from "vitest";
import type { AgentPack, AgentSpec } from "@antiphon/contracts";
import { packAgent } from "@antiphon/contracts/runs/pack-agent";
import { contestant } from "./contestant.ts";
import { pastHost } from "./past-host.ts";

const pack = (name: string, host: string): AgentPack => ({
  ...{ name, description: "A test", argv: ["a", "${model}", "${model_host}"], prompt: "stdin" },
  model: { shape: "openai", host, name: "m-1" },
});
const pi = pack("pi", "api.openai.com");
const own = pack("own", "models.own.test");
const then = (of: AgentPack, modelHost?: string): AgentSpec => packAgent(of, { modelHost });

test("the same agent keeps the model host of the run", () => {
  expect(pastHost(then(pi, "models.test"), pi)).toBe("models.test");
  expect(pastHost(then(pi), pi)).toBe("api.openai.com");
});

test("another agent keeps a host of the user's own, in place of a public one, and no public host of another agent", () => {
  expect(pastHost(then(pi, "models.test"), pack("codex", "api.openai.com"))).toBe("models.test");
  expect(pastHost(then(pi, "models.test"), own)).toBeUndefined();
  expect(pastHost(then(pi), pack("claude", "api.anthropic.com"))).toBeUndefined();
  expect(pastHost({ kind: "command", argv: ["a"] }, pi)).toBeUndefined();
});

test("an agent of a bake-off has the model and the host that its name gives, else the host of each run", () => {
  const argv = (name: string, of: AgentSpec) => {
    const agent = contestant(name, pi).agentFor(of);
    return agent.kind === "pack" ? agent.argv.slice(1) : [];
  };
  expect(argv("pi", then(pi))).toEqual(["m-1", "api.openai.com"]);
  expect(argv("pi@small", then(pi, "models.test"))).toEqual(["small", "models.test"]);
  expect(argv("pi@small@host.test", then(pi, "models.test"))).toEqual(["small", "host.test"]);
  expect(argv("pi@@host.test", then(pi))).toEqual(["m-1", "host.test"]);
  expect(argv("pi@small@20260101", then(pi))).toEqual(["small@20260101", "api.openai.com"]);
  expect(argv("pi@small@v0.3", then(pi))).toEqual(["small@v0.3", "api.openai.com"]);
  expect(argv("pi@small@models.xn--p1ai", then(pi))).toEqual(["small", "models.xn--p1ai"]);
});
