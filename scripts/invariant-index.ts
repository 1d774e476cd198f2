/**
 * Collects the lettered invariants of all module headers into docs/reference/invariants.md, with the test files
 * that name them. An id belongs to its module: `D1` of one file is not `D1` of another.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

export const INVARIANTS_PAGE = "docs/reference/invariants.md";

const SOURCES = ["contracts/src", "runtime/src", "services", "cli/src"];
const TESTS = ["contracts", "runtime/src", "services", "cli/src", "test"];
const LINE = /^\s*(?:\*|\/\/)\s{1,}([A-Z]\d+[a-z]?):?\s+(\S.*)$/;
const CONTINUED = /^\s*(?:\*|\/\/)\s{4,}(\S.*)$/;

interface Invariant {
  id: string;
  promise: string;
}

export function invariantsPage(root: string): string {
  const tests = TESTS.flatMap((folder) => typescript(root, folder, true)).map((path) => ({
    path,
    text: readFileSync(join(root, path), "utf8"),
  }));
  const sections = SOURCES.flatMap((folder) => typescript(root, folder, false)).flatMap((path) => {
    const found = invariantsOf(readFileSync(join(root, path), "utf8"));
    return found.length === 0 ? [] : [section(path, found, tests)];
  });
  return [
    "# Invariants",
    "",
    "Generated from the headers of the modules by `npm run generate`. An id belongs to its module.",
    "",
    ...sections,
  ].join("\n");
}

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

function section(
  path: string,
  found: readonly Invariant[],
  tests: readonly { path: string; text: string }[],
): string {
  const home = path
    .split("/")
    .slice(0, path.startsWith("services/") ? 2 : 1)
    .join("/");
  const near = tests.filter((test) => test.path.startsWith(`${home}/`) || test.path.startsWith("test/"));
  const rows = found.map(({ id, promise }) => {
    const title = new RegExp(`["'\`]${id}[: ]`);
    const names = near.filter((test) => title.test(test.text)).map((test) => `\`${test.path}\``);
    return `| ${id} | ${promise.replaceAll("|", "\\|")} | ${names.join(", ")} |`;
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
    .filter(
      (path) => path.endsWith(".ts") && path.endsWith(".test.ts") === tests && !path.includes("node_modules"),
    )
    .sort();
}
