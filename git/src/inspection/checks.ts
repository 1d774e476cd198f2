/**
 * Finds the fastest obvious check of a repository (seed 000: "else run the fastest obvious check if discoverable").
 * Pure: works on a listing and a read function. A check in the repository's `antiphon.yaml` takes precedence.
 */
import { documentValue, limits, SCRIPT_LOCKS, scriptRunner } from "@antiphon/contracts";
import { isLacking, programsForCheck, type NeededGroups } from "./check-programs.ts";
import { BUILT_CHECKS, BUILT_FROM, rubyTests, type Probe } from "./built-checks.ts";

export type ReadText = (path: string) => Promise<string | null> | string | null;

const DECLARED_IN = ["antiphon.yaml", "antiphon.yml"];

const SCRIPTS = [
  "test.sh",
  "run-tests.sh",
  "run_tests.sh",
  "runtests.sh",
  "test_runner",
  "scripts/test.sh",
  "scripts/test",
  "script/test",
  "bin/test",
  ...["test", "tests"].flatMap((directory) =>
    ["run.sh", "run-tests.sh", "run_tests.sh", "test.sh"].map((name) => `${directory}/${name}`),
  ),
];

/** In the order GNU make looks for them. */
export const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"] as const;

/**
 * Every file with a fixed name that discovery reads or looks for. These are protected, because a change that adds or
 * edits one would choose the check of the next run.
 */
export const DISCOVERED_FROM: readonly string[] = [
  ...DECLARED_IN,
  "package.json",
  ...SCRIPT_LOCKS,
  ...MAKEFILES,
  "pytest.ini",
  "conftest.py",
  "pyproject.toml",
  "setup.cfg",
  "Cargo.toml",
  "go.mod",
  ...BUILT_FROM,
  ...SCRIPTS,
];

/** The script that `npm init` writes. It always fails and checks nothing. */
const PLACEHOLDER = /no test specified/;

/**
 * @param lacks programs that the image lacks: what needs one of them is passed over, unless the repository declares it
 * @returns a shell command, or null when nothing is obvious
 */
export async function discoverChecks(
  listing: readonly string[],
  read: ReadText,
  lacks: readonly string[] = [],
): Promise<string[]> {
  const files = new Set(listing);
  const own = await declaredChecks(files, read);
  if (own.length > 0) return own;
  for (const probe of PROBES) {
    const command = await probe(files, read);
    if (command !== null && !isLacking(command, lacks)) return [command];
  }
  return [];
}

export interface CheckCandidate {
  readonly command: string;
  readonly needs: NeededGroups;
}

/** What discovery may choose from, in its order; empty if the repository declares its check or its setup. */
export async function checkCandidates(listing: readonly string[], read: ReadText): Promise<CheckCandidate[]> {
  const files = new Set(listing);
  for (const name of DECLARED_IN) {
    const document = files.has(name) ? asRecord(yamlOf((await read(name)) ?? "", name)) : null;
    if (document?.["setup"] !== undefined) return [];
  }
  if ((await declaredChecks(files, read)).length > 0) return [];
  const commands = await Promise.all(PROBES.map((probe) => probe(files, read)));
  return commands.flatMap((command) =>
    command === null ? [] : [{ command, needs: programsForCheck(command) }],
  );
}

/**
 * The other commands that look like the repository's tests, the fitting ones first: what a person would try when the obvious
 * one needs a program or a network that a check does not have. Empty if the repository declares its check.
 */
export async function otherChecks(listing: readonly string[], read: ReadText): Promise<string[]> {
  const files = new Set(listing);
  if ((await declaredChecks(files, read)).length > 0) return [];
  const commands = await Promise.all([...PROBES, ...LAST_PROBES].map((probe) => probe(files, read)));
  return [...new Set(commands.filter((command) => command !== null))].slice(1);
}

/** Each is a command of its own, which begins in the root whatever the one before it did. */
async function declaredChecks(files: ReadonlySet<string>, read: ReadText): Promise<string[]> {
  for (const name of DECLARED_IN) {
    if (!files.has(name)) continue;
    const document = asRecord(yamlOf((await read(name)) ?? "", name));
    const named = [document?.["check"], document?.["checks"]].flat();
    const commands = named.filter((item): item is string => typeof item === "string" && item.trim() !== "");
    if (commands.length > 0) return [...new Set(commands)];
  }
  return [];
}

const PROBES: readonly Probe[] = [
  packageJson,
  makefile,
  python,
  cargo,
  goModule,
  ...BUILT_CHECKS,
  perl,
  bats,
  script,
];
/** They come last, because they run fewer tests than the repository's own command. */
const LAST_PROBES: readonly Probe[] = [testPart, rootCrate, rubyTests];

/** Parts of a `test` that also lints or asks a registry for advice, by the names that many projects give them. */
const PARTS = ["tests-only", "test:unit", "unit", "unit-test", "test:node"];

async function scriptsOf(files: ReadonlySet<string>, read: ReadText): Promise<Record<string, unknown>> {
  if (!files.has("package.json")) return {};
  return asRecord(asRecord(jsonOf((await read("package.json")) ?? ""))?.["scripts"]) ?? {};
}

async function testPart(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  const scripts = await scriptsOf(files, read);
  const part = PARTS.find((name) => typeof scripts[name] === "string");
  return part === undefined ? null : `${runnerOf(files)} run ${part}`;
}

async function packageJson(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  const { test } = await scriptsOf(files, read);
  if (typeof test !== "string" || test.trim() === "" || PLACEHOLDER.test(test)) return null;
  return `${runnerOf(files)} test`;
}

const runnerOf = (files: ReadonlySet<string>): string => scriptRunner((name) => files.has(name));

async function makefile(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  for (const name of MAKEFILES) {
    if (!files.has(name)) continue;
    const text = (await read(name)) ?? "";
    const target = ["test", "check"].find((goal) => new RegExp(`^${goal}[ \\t]*::?(?!=)`, "m").test(text));
    if (target !== undefined) return `make ${target}`;
  }
  return null;
}

async function python(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  const tests = [...files].filter((path) => /(^|\/)(test_[^/]*|[^/]*_test)\.py$/.test(path));
  const configured =
    files.has("pytest.ini") ||
    files.has("conftest.py") ||
    /^\[tool\.pytest/m.test((files.has("pyproject.toml") ? await read("pyproject.toml") : null) ?? "") ||
    /^\[tool:pytest\]/m.test((files.has("setup.cfg") ? await read("setup.cfg") : null) ?? "");
  if (configured) return "python3 -m pytest -q";
  if (tests.length === 0) return null;
  const texts = await Promise.all(tests.slice(0, 20).map(async (path) => (await read(path)) ?? ""));
  // Without a sign of pytest, use unittest, which every Python has.
  return texts.some((text) => /^[ \t]*(import pytest|from pytest)\b/m.test(text)) ||
    !texts.some((text) => /\bunittest\b/.test(text))
    ? "python3 -m pytest -q"
    : "python3 -m unittest discover -q";
}

/** In a root that is itself a package, Cargo leaves out the other members of the workspace unless it is told. */
async function cargo(files: ReadonlySet<string>, read: ReadText): Promise<string | null> {
  if (!files.has("Cargo.toml")) return null;
  const manifest = (await read("Cargo.toml")) ?? "";
  const isBoth = /^\[workspace\]/m.test(manifest) && /^\[package\]/m.test(manifest);
  const whole = isBoth && !/^default-members[ \t]*=/m.test(manifest);
  return whole ? "cargo test --workspace --offline" : rootCrate(files);
}

async function rootCrate(files: ReadonlySet<string>): Promise<string | null> {
  return files.has("Cargo.toml") ? "cargo test --offline" : null;
}

async function goModule(files: ReadonlySet<string>): Promise<string | null> {
  return files.has("go.mod") && [...files].some((path) => path.endsWith("_test.go")) ? "go test ./..." : null;
}

async function perl(files: ReadonlySet<string>): Promise<string | null> {
  return [...files].some((path) => /^t\/[^/]+\.t$/.test(path)) ? "prove -lr t" : null;
}

/** Bats runs the files of one directory, and those below it if there are any. A repository of Bats itself has its own. */
async function bats(files: ReadonlySet<string>): Promise<string | null> {
  const tests = [...files].filter((path) =>
    /^(tests?|spec)\/(?!.*(fixtures|examples?)\/).*\.bats$/.test(path),
  );
  const [directory] = tests.map((path) => path.split("/")[0]).sort();
  if (directory === undefined) return null;
  const program = files.has("bin/bats") ? "bin/bats" : "bats";
  const isDeep = tests.some((path) => path.split("/").length > 2);
  return `${program} ${isDeep ? "-r " : ""}${directory}`;
}

async function script(files: ReadonlySet<string>): Promise<string | null> {
  const found = SCRIPTS.find((name) => files.has(name));
  if (found === undefined) return null;
  return found.endsWith(".sh") ? `sh ./${found}` : `./${found}`;
}

const MAX_JSON = 1024 * 1024;

/** A file that does not parse or exceeds its bound is treated as empty. */
function yamlOf(text: string, name: string): unknown {
  return text.length > limits.manifestBytes ? null : documentValue(text, name);
}

function jsonOf(text: string): unknown {
  if (text.length > MAX_JSON) return null;
  try {
    return JSON.parse(text.replace(/^\ufeff/, "")) as unknown;
  } catch {
    return null;
  }
}

function asRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
