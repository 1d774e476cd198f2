/**
 * Collects the lettered invariants of all module headers into docs/reference/invariants.md, with the test files
 * that name them. An id is unique in its package: `D1` of the Director is not `D1` of the sandbox-runner. A test means
 * that of the most special package it imports from: a service before the CLI, before run, git, runtime and contracts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { packageOf, packagesOf } from "./import-graph.ts";

export const INVARIANTS_PAGE = "docs/reference/invariants.md";

const SOURCES = ["contracts/src", "run/src", "git/src", "runtime/src", "services", "cli/src"];
const TESTS = ["contracts", "run/src", "git/src", "runtime/src", "services", "cli/src", "test"];
const LINE = /^\s*(?:\*|\/\/)\s{1,}([A-Z]{1,2}\d+[a-z]?):?\s+(\S.*)$/;
const CONTINUED = /^\s*(?:\*|\/\/)\s{4,}(\S.*)$/;

/** A test file, or a suite of tests that every adapter of a port is held to. */
const TEST = /\.test\.ts$|\/testing\/conformance\.ts$/;

/** The ids a test's title begins with. */
const TITLE = /["'`]((?:[A-Z]{1,2}\d+[a-z]?[:,]? )+)/g;

interface Invariant {
  id: string;
  promise: string;
}

interface Module {
  readonly path: string;
  readonly invariants: readonly Invariant[];
}

/** @throws Error when a package uses an id twice. */
export function invariantsPage(root: string): string {
  const modules = SOURCES.flatMap((folder) => typescript(root, folder, false))
    .map((path): Module => ({ path, invariants: invariantsOf(readFileSync(join(root, path), "utf8")) }))
    .filter(({ invariants }) => invariants.length > 0);
  const named = testsByPromise(root, promisesOf(modules));
  const promises = modules.reduce((sum, { invariants }) => sum + invariants.length, 0);
  return [
    "# Invariants",
    "",
    "Generated from the headers of the modules by `npm run generate`. An id is unique in its package.",
    "",
    `${promises} promises of ${modules.length} modules; tests name ${named.size} of them in their titles.`,
    "",
    ...modules.map((module) => section(module, named)),
  ].join("\n");
}

/** Every `<package> <id>`. */
function promisesOf(modules: readonly Module[]): ReadonlySet<string> {
  const owners = new Map<string, string>();
  for (const { path, invariants } of modules) {
    for (const { id } of invariants) {
      const promise = `${packageOf(path)} ${id}`;
      const other = owners.get(promise);
      if (other !== undefined)
        throw new Error(`${id} is promised by ${other} and by ${path}: give one a free number`);
      owners.set(promise, path);
    }
  }
  return new Set(owners.keys());
}

/** Test files by `<package> <id>`. */
function testsByPromise(root: string, promises: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const named = new Map<string, string[]>();
  for (const test of TESTS.flatMap((folder) => typescript(root, folder, true))) {
    const packages = packagesOf(root, test).toSorted((a, b) => rank(a, test) - rank(b, test));
    const titles = [...readFileSync(join(root, test), "utf8").matchAll(TITLE)].map(([, ids = ""]) => ids);
    for (const id of new Set(titles.flatMap((ids) => ids.match(/[A-Z]{1,2}\d+[a-z]?/g) ?? []))) {
      const promise = packages.map((name) => `${name} ${id}`).find((candidate) => promises.has(candidate));
      if (promise !== undefined) named.set(promise, [...(named.get(promise) ?? []), test]);
    }
  }
  return named;
}

const GENERAL = ["cli", "run", "git", "runtime", "contracts"];
/** First the service a test is named after. */
const rank = (name: string, test: string): number =>
  basename(test).startsWith(basename(name)) ? -2 : GENERAL.indexOf(name);

function invariantsOf(source: string): Invariant[] {
  const lines = source.split("\n");
  const start = lines.findIndex((line) => /^\s*(\*|\/\/)\s*Invariants\b/.test(line));
  const found: Invariant[] = [];
  for (const line of start === -1 ? [] : lines.slice(start + 1)) {
    const entry = LINE.exec(line);
    const more = CONTINUED.exec(line);
    const last = found.at(-1);
    if (entry !== null) found.push({ id: entry[1] ?? "", promise: entry[2] ?? "" });
    else if (more !== null && last !== undefined) last.promise += ` ${more[1] ?? ""}`;
    else break;
  }
  return found;
}

function section({ path, invariants }: Module, named: ReadonlyMap<string, readonly string[]>): string {
  const rows = invariants.map(({ id, promise }) => {
    const tests = (named.get(`${packageOf(path)} ${id}`) ?? []).map((test) => `\`${test}\``);
    return `| ${id} | ${promise.replaceAll("|", "\\|")} | ${tests.join(", ")} |`;
  });
  return [
    `## \`${path}\``,
    "",
    "| Id | Promise | Tests that name it |",
    "| --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function typescript(root: string, folder: string, tests: boolean): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path).split(sep).join("/"))
    .filter((path) => path.endsWith(".ts") && TEST.test(path) === tests && !path.includes("node_modules"))
    .sort();
}
