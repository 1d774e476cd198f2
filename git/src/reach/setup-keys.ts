/**
 * Code that the configuration of a runner loads: set-up files, plugins, transforms, reporters, resolvers. Pure.
 *
 * Configuration also mentions sources (`main`, the scope of coverage), so only the values of known keys count as loaded.
 * A module that stands in for another, and a glob of tests, may name sources; those are left to the other rules.
 */
import { isBelowSources } from "../protection/side.ts";
import { parentOf } from "./check-tree.ts";
import { nodeModule, pythonModule } from "./modules.ts";
import type { Place, Trace } from "./trace.ts";

const LOADED =
  "setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|transform|snapshotSerializers|snapshotResolver|resolver|testEnvironment|environment|reporters?|runner|testRunner|testSequencer|testResultsProcessor|preset|dependencyExtractor|watchPlugins|require|import|loader|extends|before|after|plugins?|ui|bootstrap|pytest_plugins|DJANGO_SETTINGS_MODULE|inherit_from";
const REPLACED = "moduleNameMapper|alias";
const TESTS = "python_files|testMatch|spec|include";
const KEY = new RegExp(
  `(?<![\\w.-])["']?(?:(${LOADED})|(${REPLACED})|(${TESTS}))["']?[ \\t]*[:=][ \\t]*(?![=>])`,
  "g",
);
/** `case_*.py`, `*.check.ts`: a form that only tests have. */
const TEST_FORM = /(^|\/)(\w+[._-]\*|\*[._-]\w+)\.\w+$/;

const MAX_KEYS = 200;
const MAX_VALUE = 2000;

export function followSetup(text: string, from: string, place: Place, trace: Trace): void {
  const at = { ...place, dir: parentOf(from), direct: false };
  const seen = new Set<string>(); // Values may stand in each other, and all would load the innermost words.
  let keys = 0;
  for (const match of text.matchAll(KEY)) {
    if ((keys += 1) > MAX_KEYS) return;
    const [whole, loaded, replaced] = match;
    for (const word of wordsOf(text, match.index + whole.length)) {
      const use = `${loaded === undefined} ${replaced === undefined} ${word}`;
      if (seen.has(use)) continue;
      seen.add(use);
      if (loaded !== undefined) load(word, at, trace, false);
      else if (replaced !== undefined) load(word, at, trace, true);
      else if (TEST_FORM.test(word)) testsOf(word, at, trace);
    }
  }
}

/** Reports code that a runner loads, and lets the files beside it count as parts of it. */
export function setUp(path: string, place: Place, trace: Trace): void {
  const dir = parentOf(path);
  const isProject = ["package.json", "pyproject.toml", "setup.py"].some((name) =>
    trace.tree.has(dir === "" ? name : `${dir}/${name}`),
  );
  const support = dir === "" || (!isProject && !isBelowSources(path)) ? { support: dir } : {};
  trace.file(path, "config", { ...place, ...support });
}

function load(word: string, place: Place, trace: Trace, outside: boolean): void {
  const name = word.replace(/^(<rootDir>|\{toxinidir\}|%kernel.project_dir%)\/?/, "./");
  for (const dir of new Set([place.dir, ""])) {
    const python = /^\w+(\.\w+)+$/.test(name) ? pythonModule(trace.tree, dir, name) : null;
    const found =
      trace.tree.file(dir, name) ??
      (name.startsWith(".") ? nodeModule(trace.tree, dir, name).to : null) ??
      trace.tree.file(dir, `${name}/jest-preset.js`) ??
      trace.tree.file(dir, `${name}/jest-preset.json`) ??
      python?.to ??
      null;
    if (found === null || (outside && isBelowSources(found))) continue;
    for (const package_ of python?.packages ?? []) trace.file(package_, "config", place);
    setUp(found, place, trace);
    return;
  }
}

function testsOf(glob: string, place: Place, trace: Trace): void {
  const name = glob.replace(/^<rootDir>\/?/, "");
  const paths = trace.tree.matching(place.dir, name.includes("/") ? name : `**/${name}`);
  for (const path of paths) trace.file(path, "test", place);
}

/** The words of a value: up to its closing bracket, its lines that begin with a dash, or the end of its line. */
function wordsOf(text: string, start: number): string[] {
  const value = text.slice(start, start + MAX_VALUE);
  const region = /^[[{(]/.test(value) ? bracketed(value) : lined(value);
  const quoted = [...region.matchAll(/"([^"\n]{1,300})"|'([^'\n]{1,300})'/g)].map(([, a, b]) => a ?? b ?? "");
  return quoted.length > 0
    ? quoted
    : region.split(/[\s,]+/).filter((word) => word !== "-" && word.length > 1);
}

function bracketed(value: string): string {
  let depth = 0;
  for (let at = 0; at < value.length; at += 1) {
    const char = value[at] ?? "";
    if ("[{(".includes(char)) depth += 1;
    else if ("]})".includes(char) && (depth -= 1) === 0) return value.slice(0, at + 1);
  }
  return value;
}

function lined(value: string): string {
  const [first = "", ...more] = value.split("\n", 60);
  if (first.trim() !== "") return first.split(/[;}]/, 1)[0] ?? "";
  const end = more.findIndex((line) => !/^\s*-\s|^\s+\S/.test(line) || /^\s*[\w-]+\s*[:=]/.test(line));
  return more.slice(0, end === -1 ? more.length : end).join("\n");
}
