/**
 * Commands that a repository names and that may prove something, though they are no tests: a build, a linter, a type checker. They
 * are proposed to a person, never taken by themselves, because they may pass whatever a change does. Pure.
 */

import { SCRIPT_LOCKS, scriptRunner } from "@antiphon/contracts";

/** In the order of their proposals. */
const NAMES = ["test", "check", "verify", "validate", "typecheck", "types", "lint", "build", "compile"];
const PLACEHOLDER = /no test specified/i;
const COMMAND_FILES = ["package.json", "GNUmakefile", "makefile", "Makefile"];
export const CHECK_FILES = [...COMMAND_FILES, ...SCRIPT_LOCKS];

/** `texts`: those of CHECK_FILES that the repository has. */
export function possibleChecks(texts: ReadonlyMap<string, string>): string[] {
  const [json = "", ...makefiles] = COMMAND_FILES.map((file) => texts.get(file) ?? "");
  const scripts = scriptsIn(json);
  const targets = new Set(targetsIn(makefiles.find((text) => text !== "") ?? ""));
  const runner = scriptRunner((file) => texts.has(file));
  return [
    ...NAMES.filter((name) => isCommand(scripts[name])).map((name) => `${runner} run ${name}`),
    ...NAMES.filter((name) => targets.has(name)).map((name) => `make ${name}`),
  ];
}

/** Names before a single or double colon, and no assignments. */
function targetsIn(makefile: string): string[] {
  return makefile.split("\n").flatMap((line) => {
    const at = line.indexOf(":");
    return at > 0 && line[at + 1] !== "=" && !line.startsWith("\t") ? [line.slice(0, at).trim()] : [];
  });
}

function isCommand(script: unknown): boolean {
  return typeof script === "string" && script.trim() !== "" && !PLACEHOLDER.test(script);
}

function scriptsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const scripts = (JSON.parse(text) as { scripts?: unknown } | null)?.scripts;
    return typeof scripts === "object" && scripts !== null ? { ...scripts } : {};
  } catch {
    return {}; // It is proposed to nobody.
  }
}
