import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ALL_ONLY, COMMIT, LONGEST_FIRST, NIGHTLY } from "../../tiers.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDERS = [
  "cli",
  "client",
  "contracts",
  "run",
  "git",
  "runtime",
  "scripts",
  "services",
  "setup",
  "test",
  "web",
];

/** The files that vitest would run, by project. */
function listed(mode: string): { file: string; projectName: string }[] {
  const run = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "list", "--filesOnly", "--json", "--mode", mode],
    { cwd: root, encoding: "utf8", env: { PATH: process.env["PATH"], NODE_ENV: "test" } },
  );
  expect(run.status, run.stderr).toBe(0);
  const found = JSON.parse(run.stdout) as { file: string; projectName: string }[];
  return found.map(({ file, projectName }) => ({ file: relative(root, file), projectName }));
}

const onDisk = (): string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules/")),
  ).toSorted();

const unitOf = (all: { file: string; projectName: string }[]): string[] =>
  all
    .filter(({ projectName }) => projectName === "unit")
    .map(({ file }) => file)
    .toSorted();

it("has every test file of the tree in exactly one project, so none goes untested", () => {
  const all = listed("test");
  expect(all.map(({ file }) => file).toSorted(), "a file is missing in test/tiers.ts").toEqual(onDisk());
});

it("has every file other than unit tests in exactly one tier", () => {
  const unit = new Set(unitOf(listed("test")));
  expect([...COMMIT, ...ALL_ONLY, ...NIGHTLY].toSorted()).toEqual(onDisk().filter((file) => !unit.has(file)));
});

it("runs the unit tests and the tier of a commit before a commit, and nothing else", () => {
  const before = listed("commit").filter(({ projectName }) => projectName !== "nightly");
  const unit = unitOf(before);
  expect(unit).toEqual(unitOf(listed("test")));
  expect(before.map(({ file }) => file).toSorted()).toEqual([...unit, ...COMMIT].toSorted());
});

it("begins with files that exist", () => {
  const there = [...COMMIT, ...ALL_ONLY];
  expect(LONGEST_FIRST.filter((file) => !there.includes(file))).toEqual([]);
});
