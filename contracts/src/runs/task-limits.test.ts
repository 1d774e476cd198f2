import { expect, test } from "vitest";
import { egressBeyond, toolLeftOut } from "./task-limits.ts";

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
  const pack = {
    ...{ kind: "pack" as const, name: "own", install: [], tools: [], path: [], argv: ["a"] },
    ...{ prompt: "stdin" as const, env: {}, junk: [] },
  };
  const without = ["read_file", "edit_file"];
  expect(toolLeftOut("edit_repo", without, program)).toBe("bash");
  expect(toolLeftOut("inspect", ["bash"], program)).toBeNull();
  expect(toolLeftOut("git", [], program)).toBeNull();
  expect(toolLeftOut("run", without, { kind: "scripted", commands: ["make"] })).toBe("bash");
  expect(toolLeftOut("run", without, { kind: "scripted" })).toBeNull();
  expect(toolLeftOut("edit_repo", without, pack)).toBe("bash");
  expect(toolLeftOut("edit_repo", without, { ...pack, honours_tools: true })).toBeNull();
});
