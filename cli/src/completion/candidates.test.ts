import { RUN_FLAGS } from "@antiphon/contracts/runs/run-options";
import { describe, expect, it } from "vitest";
import { readConfig } from "../config.ts";
import { buildProgram } from "../program.ts";
import { openScreen } from "../screen/screen.ts";
import { candidates } from "./candidates.ts";
import { commandTree, type CommandNode } from "./command-tree.ts";

const program = buildProgram({
  screen: openScreen(false, process),
  config: readConfig("/nowhere", {}),
  version: "0.0.0",
  root: "/nowhere",
  bundle: "/nowhere",
  program: null,
  runFlags: RUN_FLAGS,
  gateway: () => Promise.reject(new Error("not in this test")),
  setExitCode: () => undefined,
});
const tree = commandTree(program);

function offered(line: string): string[] | string {
  const found = candidates(tree, line.split(" "));
  return found.kind === "words" ? found.words.map(({ word }) => word) : found.kind;
}

describe("completion", () => {
  it("offers every verb, each with its summary, and not the one that only shells call", () => {
    const verbs = offered("");
    expect(verbs).toEqual(expect.arrayContaining(["run", "runs", "check", "init", "evidence"]));
    expect(verbs).not.toContain("complete");
    const found = candidates(tree, [""]);
    expect(found.kind === "words" && found.words.every(({ description }) => description !== "")).toBe(true);
  });

  it.each([
    ["run --", "--detach", "--limit"],
    ["runs --", "--limit", "--detach"],
    ["images allow --", "--json", "--limit"],
  ])("keeps verbs with a common beginning apart: `%s` has %s and no %s", (line, has, hasNot) => {
    expect(offered(line)).toContain(has);
    expect(offered(line)).not.toContain(hasNot);
  });

  it.each([
    ["run x --egress ", ["none", "git+pkg", "allowlist"]],
    ["run x --egress = g", ["none", "git+pkg", "allowlist"]],
    ["run x --egress =", ["none", "git+pkg", "allowlist"]],
    ["run x --egress=", ["--egress=none", "--egress=git+pkg", "--egress=allowlist"]],
    ["run x --workflow ", ["BUILD", "DEBUG", "REVIEW", "PLAN"]],
    ["completion ", ["bash", "zsh", "fish"]],
    ["completion bash ", []],
  ])("completes the values of `%s`", (line, values) => {
    expect(offered(line)).toEqual(values);
  });

  it.each([
    ["get ", "runs"],
    ["evidence get run_1 ", []],
    ["doctor --journal ", "runs"],
    ["explain ANT_", "names"],
    ["run x --repo ", "directories"],
    ["run x --patch ", "files"],
    ["run x --command ", []],
    ["run x -- my-", "files"],
    ["validate ", "files"],
  ])("leaves `%s` to %s", (line, kind) => {
    expect(offered(line)).toEqual(kind);
  });

  it("offers the options of every command, down to the last level", () => {
    const visit = (node: CommandNode, path: string[]): void => {
      const flags = node.options.map(({ flag }) => flag);
      expect(offered([...path, "-"].join(" "))).toEqual([...flags, "--help"]);
      for (const child of node.children) visit(child, [...path, child.name]);
    };
    visit(tree, []);
  });
});
