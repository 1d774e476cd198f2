/**
 * The size and shape of the sources at some commits: `npm run bench -- house <commit> ...`. A row for each package.
 *
 * A line counts when it holds code, so blank lines and comments do not. Tests, fixtures, generated files and `testing/`
 * folders do not count. A hub is a file that at least 20 others import. Repeated lines stand in a run of at least eight
 * lines that occurs somewhere else in the same words.
 *
 * With several commits, each is compared with the first by the names of its top-level declarations, wherever they stand: which
 * are gone, which are in both and how long they were and are, and which are new.
 *
 * Not measured: how hard a line is to read, and how much a declaration does more than before.
 */
import { execFileSync } from "node:child_process";
import { posix } from "node:path";
import ts from "typescript";

const SOURCE = /\.(?:ts|tsx|mjs)$/;
const NO_PRODUCTION =
  /\.(?:test|fixture)\.tsx?$|(?:^|\/)(?:testing|fixtures|node_modules|dist|conformance)\/|\.d\.ts$/;
const GENERATED = new Set(["client/src/api.ts"]);
const PACKAGE = /^(services\/[^/]+|[^/]+)\//;
const ROOTS = new Set([
  "contracts",
  "run",
  "git",
  "runtime",
  "services",
  "cli",
  "setup",
  "scripts",
  "agents",
  "web",
]);
const HUB = 20;
const RUN = 8;
const LONG = 150;

interface Source {
  readonly path: string;
  readonly code: readonly string[];
  readonly imports: readonly string[];
  /** Lines of code by the name of the top-level declaration. */
  readonly declared: readonly (readonly [name: string, lines: number])[];
}

export function run(commits: readonly string[]): Promise<void> {
  let first: readonly Source[] | null = null;
  for (const commit of commits.length === 0 ? ["HEAD"] : commits) {
    const sources = sourcesAt(commit);
    console.log(`\n${git(["log", "-1", "--format=%h %ad %s", "--date=iso", commit]).trim()}`);
    const names = [...new Set(sources.map(packageOf))].toSorted();
    const row = (name: string, some: readonly Source[]): Record<string, string | number> => ({
      package: name,
      ...shapeOf(some),
    });
    console.table([
      ...names.map((name) =>
        row(
          name,
          sources.filter((source) => packageOf(source) === name),
        ),
      ),
      row("all", sources),
    ]);
    console.log(`hubs: ${hubsOf(sources)}, repeated lines: ${repeatedIn(sources)}`);
    if (first !== null) console.log(compared(first, sources));
    first ??= sources;
  }
  return Promise.resolve();
}

function git(words: readonly string[]): string {
  return execFileSync("git", words, { encoding: "utf8", maxBuffer: 2 ** 28 });
}

function sourcesAt(commit: string): readonly Source[] {
  const paths = git(["ls-tree", "-r", "--name-only", commit]).split("\n");
  return paths
    .filter((path) => SOURCE.test(path) && ROOTS.has(path.split("/", 1)[0] ?? ""))
    .filter((path) => !NO_PRODUCTION.test(path) && !GENERATED.has(path))
    .map((path) => read(path, git(["show", `${commit}:${path}`])));
}

const packageOf = ({ path }: Source): string => PACKAGE.exec(path)?.[1] ?? path;

function read(path: string, text: string): Source {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const held = new Set<number>();
  const lineAt = (place: number): number => file.getLineAndCharacterOfPosition(place).line;
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(file);
    if (ts.isJSDoc(node)) return;
    if (children.length > 0) children.forEach(visit);
    else if (node.getWidth(file) > 0)
      for (let line = lineAt(node.getStart(file)); line <= lineAt(node.end); line += 1) held.add(line);
  };
  visit(file);
  const lines = text.split("\n").map((line) => line.trim());
  const isCode = (line: number): boolean => held.has(line) && lines[line] !== "";
  const code = lines.filter((_, line) => isCode(line));
  const imports = ts
    .preProcessFile(text)
    .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => posix.join(posix.dirname(path), fileName));
  const declared = file.statements.flatMap((statement) => {
    const name = nameOf(statement);
    if (name === null) return [];
    const end = lineAt(statement.end);
    let size = 0;
    for (let line = lineAt(statement.getStart(file)); line <= end; line += 1) size += isCode(line) ? 1 : 0;
    return [[name, size] as const];
  });
  return { path, code, imports, declared };
}

function nameOf(statement: ts.Statement): string | null {
  const named = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : statement;
  const name = named === undefined || !("name" in named) ? undefined : (named.name as ts.Node | undefined);
  return name !== undefined && ts.isIdentifier(name) ? name.text : null;
}

/** Declarations of one name count together, so that a move from file to file changes nothing. */
function compared(before: readonly Source[], after: readonly Source[]): string {
  const [was, is] = [sizesByName(before), sizesByName(after)];
  const sum = (sizes: ReadonlyMap<string, number>, among: (name: string) => boolean): number =>
    [...sizes].reduce((total, [name, size]) => total + (among(name) ? size : 0), 0);
  const both = (name: string): boolean => was.has(name) && is.has(name);
  const equal = [...was].filter(([name, size]) => is.get(name) === size).length;
  const [shorter, longer] = [-1, 1].map(
    (sign) => [...was].filter(([name, size]) => Math.sign((is.get(name) ?? size) - size) === sign).length,
  );
  return (
    `since the first: ${sum(was, (name) => !is.has(name))} lines of declarations gone, ` +
    `${sum(was, both)} -> ${sum(is, both)} of those in both (${equal} as long as before, ${shorter} shorter, ${longer} longer), ` +
    `${sum(is, (name) => !was.has(name))} new`
  );
}

function sizesByName(sources: readonly Source[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const [name, size] of sources.flatMap(({ declared }) => declared))
    sizes.set(name, (sizes.get(name) ?? 0) + size);
  return sizes;
}

function shapeOf(sources: readonly Source[]): Record<string, number> {
  const sizes = sources.map(({ code }) => code.length).toSorted((a, b) => a - b);
  return {
    files: sizes.length,
    lines: sizes.reduce((sum, size) => sum + size, 0),
    median: sizes[Math.floor(sizes.length / 2)] ?? 0,
    longest: sizes.at(-1) ?? 0,
    [`over ${LONG}`]: sizes.filter((size) => size > LONG).length,
  };
}

function hubsOf(sources: readonly Source[]): number {
  const importers = new Map<string, number>();
  for (const path of sources.flatMap(({ imports }) => [...new Set(imports)]))
    importers.set(path, (importers.get(path) ?? 0) + 1);
  return [...importers.values()].filter((count) => count >= HUB).length;
}

/** Imports and lines without a word do not count. */
function repeatedIn(sources: readonly Source[]): number {
  const places = new Map<string, string[]>();
  for (const { path, code } of sources) {
    const told = code.filter((line) => /\w/.test(line) && !/^(?:import|export)\b.*\bfrom\b/.test(line));
    for (let at = 0; at + RUN <= told.length; at += 1) {
      const text = told.slice(at, at + RUN).join("\n");
      places.set(text, [
        ...(places.get(text) ?? []),
        ...Array.from({ length: RUN }, (_, i) => `${path}:${at + i}`),
      ]);
    }
  }
  return new Set([...places.values()].filter((found) => found.length > RUN).flat()).size;
}
