/**
 * Finds what a harness file mentions: imports, and file names and command lines in its strings. Pure.
 *
 * No language is parsed. Every string that names a file of the tree counts as a use of it, so no name that is written out
 * is missed. Names that are put together at run time are not seen.
 */
import { nameOf, parentOf } from "./check-tree.ts";
import { nodeModule, pythonModule } from "./modules.ts";
import type { SourceAt, Trace } from "./trace.ts";
import { reach } from "./words.ts";

const MAX_STRINGS = 5000;
const MAX_STRING = 400;

/** A string may be a command line if it begins like one. */
const COMMAND =
  /^(npm|npx|pnpm|yarn|bun|make|just|pytest|tox|nox|mocha|jest|vitest|cargo|go (test|run|vet)|mvn|gradle|node|python[0-9.]*|sh|bash|perl|ruby|php|prove|ctest|\.\/\S+) \S/;
const PROGRAM = /^(npm|npx|pnpm|yarn|pytest|tox|nox|mocha|jest|vitest|cargo|mvn|gradle|ctest|prove)$/;

export function languageOf(path: string): SourceAt["language"] {
  if (/\.([mc]?[jt]sx?|json|node)$/.test(path)) return "node";
  return /\.pyi?$/.test(path) ? "python" : "other";
}

export function followSource(text: string, at: SourceAt, trace: Trace): void {
  if (at.language === "python") pythonImports(text, at, trace);
  if (at.from?.endsWith("_test.go") === true) embeddedFiles(text, at.from, at, trace);
  if (at.from !== null && /\.[ch](pp|xx|c|h)?$/.test(at.from)) includedHeaders(text, at.from, trace);
  if (at.from !== null && /\.(pl|pm|t|PL)$/.test(at.from)) perlModules(text, at, trace);
  let strings = 0;
  for (const run of stringRuns(text)) {
    strings += run.length;
    if (strings > MAX_STRINGS) return;
    for (const string of run) mention(string, at, trace);
    if (run.length > 1) mention(run.join(COMMAND.test(run.join(" ")) ? " " : "/"), at, trace);
  }
}

/** Adjacent strings, such as the arguments of `path.join`. */
function* stringRuns(text: string): Generator<string[]> {
  const form = /"((?:[^"\\\n]|\\.){1,400})"|'((?:[^'\\\n]|\\.){1,400})'|`([^`\\]{1,400})`/g;
  let run: string[] = [];
  let end = 0;
  for (const match of text.matchAll(form)) {
    const between = text.slice(end, match.index);
    if (run.length > 0 && !(between.length < 8 && /^\s*[,/+]\s*\[?\s*$/.test(between))) {
      yield run;
      run = [];
    }
    run.push(match[1] ?? match[2] ?? match[3] ?? "");
    end = match.index + match[0].length;
  }
  if (run.length > 0) yield run;
}

function mention(string: string, { from, language, place }: SourceAt, trace: Trace): void {
  if (string.length > MAX_STRING || string.includes("\n")) return;
  const inner = { ...place, direct: false };
  if (COMMAND.test(string)) return trace.shell(string, inner);
  if (PROGRAM.test(string)) return trace.program(string, inner);
  const here = from === null ? place.dir : parentOf(from);
  const name = string.replace(/^(file:\/\/|<rootDir>)\/?/, "").replace(/^\$\{[^}]*\}/, ".");
  const places = new Set([here, place.dir, ""]);
  for (const dir of places) {
    const found =
      trace.tree.file(dir, name) ?? (name.startsWith("/") ? trace.tree.file(here, `.${name}`) : null);
    if (found !== null) trace.file(found, "import", inner);
    else if (/[*?]/.test(name) && name.includes("/"))
      for (const path of trace.tree.matching(dir, name)) trace.file(path, "import", inner);
    else if (name.startsWith(".") || (language === "other" && /^[\w./-]+$/.test(name)))
      moduleMention(name, dir, { from, language, place: inner }, trace);
  }
}

function moduleMention(name: string, dir: string, { from, language, place }: SourceAt, trace: Trace): void {
  if (language === "node") {
    const { to } = nodeModule(trace.tree, dir, name);
    if (to === null) return;
    trace.file(to, "import", place);
    if (from !== null && dir === parentOf(from)) trace.import({ from, name, language, to });
    return;
  }
  for (const ending of [".rb", ".py", ".pl", ".php", ".lua", ".sh"]) {
    const to = trace.tree.file(dir, name + ending);
    if (to !== null) trace.file(to, "import", place);
  }
}

/** `import a.b, c`, `from a.b import c`, `from . import c`. */
function pythonImports(text: string, { from, place }: SourceAt, trace: Trace): void {
  const form =
    /^[ \t]{0,80}(?:from[ \t]{1,8}(\.{0,16})([\w.]{0,200})[ \t]{1,8}import[ \t]{1,8}\(?([\w, \t*]{0,800})|import[ \t]{1,8}([\w., \t]{1,800}))/gm;
  const here = from === null ? place.dir : parentOf(from);
  let imports = 0;
  for (const [, dots, base = "", members = "", plain] of text.matchAll(form)) {
    if ((imports += 1) > MAX_STRINGS) return;
    const names =
      plain === undefined
        ? [base, ...members.split(",").map((member) => `${base}.${member.trim().split(/\s/)[0] ?? ""}`)]
        : plain.split(",").map((name) => name.trim().split(/\s/)[0] ?? "");
    const up = (dots ?? "").length;
    const dirs = up > 0 ? [ancestor(here, up - 1)] : [here, place.dir, "", "src", "lib"];
    for (const name of names) pythonImport(name.replace(/^\./, ""), dirs, { from, place }, trace);
  }
}

function pythonImport(
  name: string,
  dirs: readonly string[],
  at: Omit<SourceAt, "language">,
  trace: Trace,
): void {
  if (name === "" || name.endsWith(".")) return;
  const place = { ...at.place, direct: false };
  for (const dir of dirs) {
    const { packages, to } = pythonModule(trace.tree, dir, name);
    for (const path of packages) trace.file(path, "import", place);
    if (to === null) continue;
    trace.file(to, "import", place);
    if (at.from !== null) trace.import({ from: at.from, name, language: "python", to });
    return;
  }
  if (at.from !== null) trace.import({ from: at.from, name, language: "python", to: null });
}

function ancestor(dir: string, levels: number): string {
  let at = dir;
  for (let level = 0; level < levels; level += 1) at = parentOf(at);
  return at;
}

/** `use Foo::Bar` below the directories that Perl checks search. */
function perlModules(text: string, { from, place }: SourceAt, trace: Trace): void {
  const dirs = new Set(["lib", "t/lib", "t", "", "inc", from === null ? place.dir : parentOf(from)]);
  for (const [, name = ""] of [
    ...text.matchAll(/^[ \t]{0,80}(?:use|require)[ \t]{1,8}([\w:]{1,200})/gm),
  ].slice(0, 500)) {
    for (const dir of dirs) {
      const path = trace.tree.file(dir, `${name.replaceAll("::", "/")}.pm`);
      if (path !== null) trace.file(path, "import", { ...place, direct: false });
    }
  }
}

/** True if the text is shell, by file name or first line. */
export function isShell(path: string, text: string): boolean {
  if (/\.(sh|bash|zsh|ksh|bats)$/.test(path)) return true;
  if (nameOf(path).includes(".") && !nameOf(path).startsWith(".")) return false;
  return /^#!.*\b(sh|bash|dash|zsh|ksh|ash)\b/.test(text.slice(0, 200));
}

/** A test of Go compares with what it embeds. */
function embeddedFiles(text: string, from: string, { place }: SourceAt, trace: Trace): void {
  const lines = [...text.matchAll(/^\/\/go:embed[ \t]([^\n]{1,500})$/gm)].slice(0, 100);
  for (const [, words = ""] of lines)
    for (const word of words.split(/\s+/))
      reach(word, "input", { ...place, dir: parentOf(from), direct: false }, trace);
}

/** Headers of the image are searched for in the repository's own directories first. */
function includedHeaders(text: string, from: string, trace: Trace): void {
  const lines = [...text.matchAll(/^[ \t]{0,40}#[ \t]{0,8}include[ \t]{0,8}[<"]([\w./+-]{1,200})[>"]/gm)];
  for (const [, name = ""] of lines.slice(0, 500)) trace.import({ from, name, language: "c", to: null });
}
