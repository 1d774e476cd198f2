import { expect, test } from "vitest";
import type { BaselineEntry } from "./collected.ts";
import { canonicalTar } from "./tar-writer.ts";
import { STEP_BYTES } from "@antiphon/git";
import { filesIn, stepBetween } from "./tree-step.ts";

const file = (content: string, mode: "100644" | "100755" = "100644"): BaselineEntry => ({
  kind: "file",
  mode,
  size: content.length,
  sha256: content,
});
const link = (target: string): BaselineEntry => ({ kind: "symlink", target });
const tree = (files: Record<string, BaselineEntry>, directories: string[] = []) => ({
  baseline: new Map(Object.entries(files)),
  directories,
});

const SAME = Object.fromEntries(["p", "q", "r", "s", "t", "u"].map((name) => [`kept/${name}`, file(name)]));

test("what differs is removed and put, and a directory goes with its last file", () => {
  const from = tree({
    ...SAME,
    same: link("kept/p"),
    "a/changed": file("1"),
    "a/mode": file("m"),
    "b/deep/gone": file("g"),
    "c/was/directory": file("d"),
    d: file("was a file"),
  });
  const to = tree({
    ...SAME,
    same: link("kept/p"),
    "a/changed": file("2"),
    "a/mode": file("m", "100755"),
    "c/was": file("now a file"),
    "d/e": file("now a directory"),
  });
  const step = stepBetween(from, to);
  expect([...(step?.put ?? [])].sort()).toEqual(["a/changed", "a/mode", "c/was", "d/e"]);
  expect([...(step?.remove ?? [])].sort()).toEqual(
    ["a/changed", "a/mode", "b", "b/deep", "b/deep/gone", "c/was", "c/was/directory", "d"].sort(),
  );
});

test("there is no step if the files to put in would not be held in memory", () => {
  const large = (sha256: string, size: number): BaselineEntry => ({
    kind: "file",
    mode: "100644",
    size,
    sha256,
  });
  const from = tree({ ...SAME, a: file("1"), b: file("1") });
  const half = STEP_BYTES / 2;
  expect(stepBetween(from, tree({ ...SAME, a: large("2", half), b: large("2", half) }))?.put.size).toBe(2);
  expect(stepBetween(from, tree({ ...SAME, a: large("2", half), b: large("2", half + 1) }))).toBeNull();
});

test("a directory of a submodule stays", () => {
  const from = tree({ ...SAME, "vendor/own": file("1") }, ["vendor/module"]);
  expect(stepBetween(from, tree(SAME, ["vendor/module"]))?.remove).toEqual(["vendor/own"]);
});

test.each([
  ["they have little in common", tree(SAME), tree({ x: file("x"), y: file("y") })],
  ["a link differs", tree(SAME), tree({ ...SAME, l: link("kept/p") })],
  ["a file became a link", tree({ ...SAME, l: file("1") }), tree({ ...SAME, l: link("kept/p") })],
  ["a submodule came", tree(SAME), tree(SAME, ["module"])],
  ["a submodule went", tree(SAME, ["module"]), tree(SAME)],
])("there is no step between two trees if %s", (_, from, to) => {
  expect(stepBetween(from, to)).toBeNull();
});

test("only the named files of a tree are read, with their modes", async () => {
  const files = ["a", "b/c", "d"].map((path) => ({
    path,
    mode: path === "d" ? ("100755" as const) : ("100644" as const),
    content: Buffer.from(path.repeat(700)),
  }));
  const bytes = canonicalTar(files);
  async function* tar(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += 300) yield await Promise.resolve(bytes.subarray(at, at + 300));
  }
  expect(await filesIn({ tar }, new Set(["b/c", "d", "missing"]))).toEqual(files.slice(1));
});
