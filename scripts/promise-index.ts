/**
 * Collects the promises of all module headers into docs/reference/invariants.md, with the lines that uphold each and
 * the tests that prove it. A promise is `<package>/<id>`, written under `Promises:` in the header of one module, cited as
 * `<package>/<id>` where code upholds it and in the title of a test.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import roles from "../contracts/src/roles.json" with { type: "json" };

export const INVARIANTS_PAGE = "docs/reference/invariants.md";

const SOURCES = ["contracts", "run", "git", "runtime", "services", "cli"];
const ID = /[a-z-]+\/[A-Z]\d+/;
const ENTRY = new RegExp(`^\\s*(?:\\*|//)\\s+(${ID.source})\\s+(\\S.*)$`);
const CONTINUED = /^\s*(?:\*|\/\/)\s{2,}(\S.*)$/;
const CITED = new RegExp(`(?<![\\w/-])${ID.source}(?![\\w/])`, "g");
/** A test's title, or a suite that every adapter of a port is held to. */
const TITLE = /\b(?:it|test|describe)(?:\.\w+)*\(\s*(?:\n\s*)?(["'`])((?:(?!\1).)*)\1/gs;
const TEST = /\.test\.ts$|\/testing\/conformance\.ts$|\/test\//;

interface Promised {
  readonly id: string;
  readonly text: string;
  readonly stands: string;
}

/** @throws Error when an id is used twice, names another package, is cited nowhere or proved by no test */
export function invariantsPage(root: string): string {
  const { promises, upheld, proved, faults } = readPromises(root);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return page(promises, upheld, proved);
}

export function readPromises(root: string): {
  promises: readonly Promised[];
  upheld: Places;
  proved: Places;
  faults: readonly string[];
} {
  const files = [...SOURCES, "test"].flatMap((folder) => sources(root, folder));
  const texts = new Map(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
  const promises = files.flatMap((path) => (TEST.test(path) ? [] : promisesOf(path, texts.get(path) ?? "")));
  const { upheld, proved } = citations(texts);
  return { promises, upheld, proved, faults: faultsOf(promises, upheld, proved) };
}

type Places = ReadonlyMap<string, readonly string[]>;

function citations(texts: ReadonlyMap<string, string>): { upheld: Places; proved: Places } {
  const upheld = new Map<string, string[]>();
  const proved = new Map<string, string[]>();
  for (const [path, text] of texts) {
    const isTest = TEST.test(path);
    const body = isTest
      ? [...text.matchAll(TITLE)].map((match) => match[2] ?? "").join("\n")
      : withoutHeader(text);
    const into = isTest ? proved : upheld;
    for (const id of new Set(body.match(CITED) ?? [])) into.set(id, [...(into.get(id) ?? []), path]);
  }
  return { upheld, proved };
}

function faultsOf(promises: readonly Promised[], upheld: Places, proved: Places): string[] {
  const faults: string[] = [];
  const known = new Map<string, string>();
  for (const { id, stands } of promises) {
    const other = known.get(id);
    if (other !== undefined) faults.push(`${id} stands in ${other} and in ${stands}`);
    if (id.split("/")[0] !== packageOf(stands)) faults.push(`${stands}: ${id} is not of its package`);
    if (!upheld.has(id)) faults.push(`${id} is cited by no line that upholds it`);
    if (!proved.has(id)) faults.push(`${id} is in the title of no test`);
    known.set(id, stands);
  }
  for (const [places, where] of [
    [upheld, "cited in"],
    [proved, "in a title of"],
  ] as const) {
    for (const [id, [first]] of places)
      if (!known.has(id) && packages.has(id.split("/")[0] ?? ""))
        faults.push(`${id}, ${where} ${first}, is promised nowhere`);
  }
  return faults;
}

const packages = new Set([
  ...["contracts", "run", "git", "runtime", "cli"],
  ...roles.map(({ folder }) => folder),
]);

function packageOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "services" ? second : first;
}

function promisesOf(path: string, source: string): Promised[] {
  const found: { id: string; text: string; stands: string }[] = [];
  for (const line of headerLines(source)) {
    const entry = ENTRY.exec(line);
    const more = CONTINUED.exec(line);
    const last = found.at(-1);
    if (entry !== null) found.push({ id: entry[1] ?? "", text: entry[2] ?? "", stands: path });
    else if (more !== null && last !== undefined) last.text += ` ${more[1] ?? ""}`;
    else break;
  }
  return found;
}

/** The lines after `Promises:`. */
function headerLines(source: string): string[] {
  const lines = source.split("\n");
  const start = lines.findIndex((line) => /^\s*(\*|\/\/)\s*Promises:$/.test(line));
  return start === -1 ? [] : lines.slice(start + 1);
}

function withoutHeader(source: string): string {
  const lines = source.split("\n");
  const start = lines.findIndex((line) => /^\s*(\*|\/\/)\s*Promises:$/.test(line));
  if (start === -1) return source;
  const length = lines.slice(start + 1).findIndex((line) => !ENTRY.test(line) && !CONTINUED.test(line));
  return [...lines.slice(0, start), ...lines.slice(start + 1 + length)].join("\n");
}

function page(promises: readonly Promised[], upheld: Places, proved: Places): string {
  const names = [...new Set(promises.map(({ stands }) => packageOf(stands)))];
  return [
    "# Promises",
    "",
    "Generated from the headers of the modules by `npm run generate`, which fails when a promise has no line that cites it",
    "or no test that names it.",
    "",
    `${promises.length} promises.`,
    "",
    ...names.flatMap((name) => [
      `## ${name}`,
      "",
      "| Id | Promise | Stands in | Upheld in | Proved by |",
      "| --- | --- | --- | --- | --- |",
      ...promises
        .filter(({ stands }) => packageOf(stands) === name)
        .map(({ id, text, stands }) =>
          row(id, text.replaceAll("|", "\\|"), list([stands]), list(upheld.get(id)), list(proved.get(id))),
        ),
      "",
    ]),
  ].join("\n");
}

const row = (...cells: string[]): string => `| ${cells.join(" | ")} |`;
/** By name; the folder where two are alike. */
const list = (paths: readonly string[] = []): string =>
  paths.map((path) => `\`${basename(path)}\``).join(", ");

function sources(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path).split(sep).join("/"))
    .filter((path) => /\.(ts|pl|sh)$/.test(path) && !path.includes("node_modules"))
    .sort();
}
