import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readPromises } from "../../../scripts/promise-index.ts";
import SECONDS from "../../seconds.json" with { type: "json" };
import { AGAIN_AT_NIGHT, ALL_ONLY, COMMIT, NIGHTLY, OWN_PROCESS } from "../../tiers.ts";

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

interface Listed {
  readonly file: string;
  readonly projectName: string;
}
const lists = new Map<string, readonly Listed[]>();

/** The files that vitest would run, by project. */
function listed(mode: string): readonly Listed[] {
  const known = lists.get(mode) ?? freshly(mode);
  lists.set(mode, known);
  return known;
}

function freshly(mode: string): readonly Listed[] {
  const run = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "list", "--filesOnly", "--json", "--mode", mode],
    { cwd: root, encoding: "utf8", env: { PATH: process.env["PATH"], NODE_ENV: "test" } },
  );
  expect(run.status, run.stderr).toBe(0);
  const found = JSON.parse(run.stdout) as Listed[];
  return found.map(({ file, projectName }) => ({ file: relative(root, file), projectName }));
}

const onDisk = (): string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules/")),
  ).toSorted();

const unitOf = (all: readonly Listed[]): string[] =>
  all
    .filter(({ projectName }) => projectName === "unit")
    .map(({ file }) => file)
    .toSorted();

it("has every test file of the tree in exactly one project, so none goes untested; some run again at night", () => {
  const isAgain = ({ file, projectName }: Listed): boolean =>
    projectName === "nightly" && AGAIN_AT_NIGHT.includes(file);
  const all = listed("test").filter((one) => !isAgain(one));
  expect(listed("test").filter(isAgain)).toHaveLength(AGAIN_AT_NIGHT.length);
  expect(all.map(({ file }) => file).toSorted(), "a file is missing in test/tiers.ts").toEqual(onDisk());
});

it("has every file other than unit tests in exactly one tier", () => {
  const unit = new Set(unitOf(listed("test")));
  expect([...COMMIT, ...ALL_ONLY, ...Object.keys(NIGHTLY)].toSorted()).toEqual(
    onDisk().filter((file) => !unit.has(file)),
  );
});

it("gives each of the files that need one a worker of its own", () => {
  const alone = listed("test").filter(({ projectName }) => projectName === "own-process");
  expect(alone.map(({ file }) => file)).toEqual(OWN_PROCESS);
});

it("runs the unit tests and the tier of a commit before a commit, and nothing else", () => {
  const before = listed("commit").filter(({ projectName }) => projectName !== "nightly");
  const unit = unitOf(before);
  expect(unit).toEqual(unitOf(listed("test")));
  expect(before.map(({ file }) => file).toSorted()).toEqual([...unit, ...COMMIT].toSorted());
});

it("has for each file that runs at night only another one that proves the same before, with fewer cases", () => {
  const before = new Set([...COMMIT, ...ALL_ONLY]);
  expect(Object.entries(NIGHTLY).filter(([, kept]) => !before.has(kept))).toEqual([]);
});

it("runs again at night what has cases for the night", () => {
  const hasCases = (file: string): boolean =>
    /support\/night\.ts"|small-campaign\.ts"|parsers\/growth\.ts"|\bstartQuickStack\(|\busePages\(/.test(
      readFileSync(join(root, file), "utf8"),
    );
  expect([...COMMIT, ...ALL_ONLY].filter(hasCases).toSorted()).toEqual(AGAIN_AT_NIGHT);
});

it("proves each promise by a test that does not run at night only", () => {
  const { promises, proved } = readPromises(root);
  const atNight = (path: string): boolean => path in NIGHTLY;
  const late = promises.filter(({ id }) => proved.get(id)?.every(atNight) !== false);
  expect(promises.length).toBeGreaterThan(50);
  expect(late.map(({ id }) => id)).toEqual([]);
});

it("orders files that exist by their seconds", () => {
  const there = new Set([...COMMIT, ...ALL_ONLY, ...Object.keys(NIGHTLY)]);
  expect(Object.keys(SECONDS).filter((file) => !there.has(file))).toEqual([]);
});
