import { join } from "node:path";
import { expect, it } from "vitest";
import { readPack } from "./packs.ts";
import { trialOf } from "./pack-trial.ts";

const argvOf = (argv: string[]): unknown =>
  (trialOf({ name: "own", argv, prompt: "stdin" }, "/repo").inputs as { agent: { argv: unknown } }).agent
    .argv;

it.each(["claude", "codex", "gemini", "opencode", "pi"])(
  "asks the program of the pack %s for its version",
  (name) => {
    const pack = readPack(join(import.meta.dirname, "../../../agents", name, "agent.yaml"));
    expect(argvOf([...pack.argv])).toEqual([name, "--version"]);
  },
);

it("asks the shell itself when its script becomes no program", () => {
  expect(argvOf(["sh", "-c", "fix-it; done-it"])).toEqual(["sh", "--version"]);
});

it("asks an interpreter with the pack's own file that it runs", () => {
  expect(argvOf(["node", "${files}/own.mjs", "--fast"])).toEqual([
    "node",
    "/tmp/home/.agent/lib/own.mjs",
    "--version",
  ]);
});

it("names no model, so that it needs no budget", () => {
  const pack = readPack(join(import.meta.dirname, "../../../agents/claude/agent.yaml"));
  expect(trialOf(pack, "/repo").inputs).toMatchObject({ agent: { name: "claude" } });
  expect((trialOf(pack, "/repo").inputs as { agent: object }).agent).not.toHaveProperty("model");
});
