// `antiphon.yaml` as `antiphon init` writes it, and the checks that it declares. Pure.
import { documentValue } from "@antiphon/contracts/documents/document";
import { scriptRunner } from "@antiphon/contracts/shapes/script-runner";
import type { CheckOutcome } from "@antiphon/contracts";
import { stringify } from "yaml";
import { duration } from "../screen/table.ts";
import { lacking } from "./unstartable.ts";

export const PROJECT_FILES = ["antiphon.yaml", "antiphon.yml"] as const;

/** A command that was tried on the commit. */
export type Tried = Pick<CheckOutcome, "command" | "exitCode" | "timedOut" | "durationMs"> &
  Partial<Pick<CheckOutcome, "tail">>;

export interface Findings {
  readonly commit: string;
  /** What a run without a check of its own would run. */
  readonly found: readonly Tried[];
  /** Other commands of the repository that look like checks. */
  readonly further: readonly Tried[];
  /** The image that was named; null: the standard one. */
  readonly image: string | null;
}

export function projectFileText({ commit, found, further, image }: Findings): string {
  const active = found.filter(passed);
  const failing = [...found, ...further].filter((one) => !passed(one));
  const passing = further.filter(passed);
  const tried = [...active, ...passing, ...failing];
  const lines = [
    "# Antiphon's settings for this repository.",
    "#",
    "# A run reads this file from the commit it starts from, never from the work tree: commit it. A run may change it only",
    "# with --grant antiphon.yaml.",
    "",
    "# The commands that prove a change. Each has to exit with 0 in a fresh sandbox without a network, which holds the",
    "# tracked files and the change. `antiphon check` runs them on your work tree.",
    "# They have to use the sources of a change: where they pass without its files too, it does not land by itself. A document",
    "# that no check depends on lands with a remark; `--require-proof regression` refuses it, and `requireProof` in the",
    "# deployment's policy does so in all runs. Neither is a key of this file, which a granted run could change.",
    `# Tried on ${commit.slice(0, 10)}:`,
    ...(tried.length === 0 ? ["#   nothing that looks like a check was found"] : []),
    ...tried.map((one) => `#   ${scalar(one.command)}: ${told(one)}`),
    ...(active.length > 0
      ? ["checks:"]
      : [
          "# No test passed, so no check is set.",
          "# checks:",
          ...(tried.length === 0 ? ["#   - make test"] : []),
        ]),
    ...active.map(({ command }) => `  - ${scalar(command)}`),
    ...offered(
      active.length > 0
        ? "# These pass too; without its `# ` a line is a check as well:"
        : "# These pass; without its `# `, and that of `checks:`, a line is a check:",
      passing,
    ),
    ...offered("# These do not pass:", failing),
    "",
    "# The sandbox image: one of `antiphon images list`. `default` is the standard image, even if a devcontainer.json names",
    "# another one.",
    image === null ? "# image: default" : `image: ${scalar(image)}`,
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * Comments, also if they pass: a build or a linter that passes says less than the tests, and as the only check it would prove
 * every change that compiles.
 */
function offered(title: string, commands: readonly Tried[]): string[] {
  return commands.length === 0 ? [] : [title, ...commands.map(({ command }) => `#   - ${scalar(command)}`)];
}

export function passed({ exitCode }: Tried): boolean {
  return exitCode === 0;
}

/** The shell says 126 and 127 of a program that could not be started. */
export function ranAndFailed(tried: Tried): boolean {
  const { exitCode, timedOut } = tried;
  return exitCode !== null && !timedOut && ![0, 126, 127].includes(exitCode) && lacking(tried) === null;
}

export function told({ exitCode, timedOut, durationMs }: Tried): string {
  const time = duration(durationMs);
  if (exitCode === 0) return `passed in ${time}`;
  if (timedOut) return `ran out of time after ${time}`;
  return exitCode === null ? `did not finish in ${time}` : `failed in ${time}, exit code ${exitCode}`;
}

/** Told where no check is set. */
export function nothingSet({ found, further }: Findings): string {
  const passing = further.filter(passed).map(({ command }) => `\`${command}\``);
  const rooms = "A check runs without a network, on the tracked files and the programs of the image";
  if (passing.length === 0) return `no check passes on the last commit. ${rooms}`;
  const which = found.length === 0 ? "no test was found" : "no test passes on the last commit";
  return `${which}; ${passing.join(" and ")} passed, and the file offers that as a comment. ${rooms}`;
}

/** On one line, quoted where YAML needs it. */
function scalar(text: string): string {
  const plain = stringify(text, { lineWidth: 0 }).trimEnd();
  return plain.includes("\n") || plain.includes(" #") ? JSON.stringify(text) : plain;
}

/** The checks that the file's text declares; null: none, or the text is not YAML. */
export function declaredChecks(text: string, name: string): string[] | null {
  const document = documentValue(text, name) as { check?: unknown; checks?: unknown } | null;
  if (typeof document !== "object" || document === null) return null;
  const named = [document.check ?? [], document.checks ?? []].flat();
  const commands = named.filter((one): one is string => typeof one === "string" && one.trim() !== "");
  return commands.length === 0 ? null : commands;
}

const SCRIPTS = ["typecheck", "type-check", "lint", "check", "build"];
const TARGETS = ["check", "lint"];

/** The committed files that name commands, and the lock files that say who runs them. */
export interface CheckTexts {
  readonly packageJson: string | null;
  readonly makefile: string | null;
  readonly locks: readonly string[];
}

/** Commands of package.json and the Makefile that look like checks, besides the ones already known. */
export function furtherCommands(files: CheckTexts, known: readonly string[]): string[] {
  const scripts = scriptsOf(files.packageJson);
  const targets = TARGETS.filter((name) =>
    new RegExp(`^${name}[ \\t]*::?(?!=)`, "m").test(files.makefile ?? ""),
  );
  const runner = scriptRunner((file) => files.locks.includes(file));
  const all = [
    ...SCRIPTS.filter((name) => typeof scripts[name] === "string").map((name) => `${runner} run ${name}`),
    ...targets.map((name) => `make ${name}`),
  ];
  return all.filter((command) => !known.includes(command));
}

function scriptsOf(packageJson: string | null): Record<string, unknown> {
  if (packageJson === null) return {};
  try {
    const { scripts } = JSON.parse(packageJson) as { scripts?: unknown };
    return typeof scripts === "object" && scripts !== null ? (scripts as Record<string, unknown>) : {};
  } catch {
    return {}; // A run finds no check in such a file either.
  }
}
