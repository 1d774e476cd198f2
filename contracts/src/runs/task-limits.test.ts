import { expect, test } from "vitest";
import type { AgentOf } from "./agents.ts";
import { egressBeyond, heldToTools, toolLeftOut, toolsOf } from "./task-limits.ts";

const pack: AgentOf<"pack"> = {
  ...{ kind: "pack", name: "own", install: [], tools: [], path: [], argv: ["a"] },
  ...{ prompt: "stdin", env: { A: "1", ONLY: "" }, junk: [] },
};
const names = { read_file: ["Read", "Glob"], write_file: ["Write"], edit_file: ["Edit", "Write"] };
const held = { ...pack, task_tools: { names, argv: ["--tools", "${task_tools}"] } };

test("a task has at most the network of its run", () => {
  const none = { mode: "none" as const, allowlist: [] };
  const hosts = { mode: "allowlist" as const, allowlist: ["a.test"] };
  const open = { mode: "git+pkg" as const, allowlist: ["a.test"] };
  for (const run of [undefined, none, hosts, open]) expect(egressBeyond(none, run)).toBeNull();
  for (const run of [undefined, none, hosts]) expect(egressBeyond({}, run)).toContain("--egress git+pkg");
  expect(egressBeyond({}, open)).toBeNull();
  expect(egressBeyond(hosts, open)).toBeNull();
  expect(egressBeyond(hosts, none)).toContain("--allow-host a.test");
  expect(egressBeyond({ ...hosts, allowlist: ["b.test"] }, open)).toContain("--allow-host b.test");
});

test("a program can do everything with its shell, so only an agent that is held to its tools does without one", () => {
  const program = { kind: "command" as const, argv: ["a"] };
  const without = ["read_file", "edit_file"];
  expect(toolLeftOut("edit_repo", without, program)).toEqual({ tool: "bash" });
  expect(toolLeftOut("inspect", ["bash"], program)).toBeNull();
  expect(toolLeftOut("git", [], program)).toBeNull();
  expect(toolLeftOut("run", without, { kind: "scripted", commands: ["make"] })).toEqual({ tool: "bash" });
  expect(toolLeftOut("run", without, { kind: "scripted" })).toBeNull();
  expect(toolLeftOut("edit_repo", without, pack)).toEqual({ tool: "bash" });
  expect(toolLeftOut("edit_repo", without, { ...pack, honours_tools: true })).toBeNull();
});

test("a pack that names its tools is held to those of a task without a shell, where it can tell them apart", () => {
  expect(toolLeftOut("edit_repo", ["read_file"], held)).toBeNull();
  expect(toolLeftOut("edit_repo", ["read_file", "write_file", "edit_file"], held)).toBeNull();
  expect(toolLeftOut("edit_repo", ["write_file"], held)).toEqual({ tool: "edit_file", as: "write_file" });
  expect(toolLeftOut("edit_repo", [], held)).toBeNull();
});

test("the allowed tools become words and variables of the program, and a task with a shell changes nothing", () => {
  expect(heldToTools(held, ["read_file", "bash"])).toBe(held);
  expect(heldToTools(pack, ["read_file"])).toBe(pack);
  expect(heldToTools(held, ["edit_file", "write_file", "git_checkpoint"]).argv).toEqual([
    ...["a", "--tools", "Write,Edit"],
  ]);
  expect(heldToTools(held, []).argv).toEqual(["a", "--tools", ""]);
  const env = { ONLY: '{"*":"deny"${task_tools}}' };
  const each = { names, each: ',"${tool}":"allow"', between: "", env };
  expect(heldToTools({ ...pack, task_tools: each }, ["read_file"])).toMatchObject({
    argv: ["a"],
    env: { A: "1", ONLY: '{"*":"deny","Read":"allow","Glob":"allow"}' },
  });
});

test("a task has its own tools, else those of its kind that its run has", () => {
  expect(toolsOf("run", ["read_file"], undefined)).toEqual(["read_file"]);
  expect(toolsOf("run", undefined, undefined)).toEqual(["read_file", "bash"]);
  expect(toolsOf("run", undefined, ["read_file", "edit_file"])).toEqual(["read_file"]);
  expect(toolsOf("edit_repo", undefined, ["read_file", "edit_file"])).toEqual(["read_file", "edit_file"]);
});
