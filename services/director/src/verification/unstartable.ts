/**
 * Finds a check that cannot start with any change. In every trial on the base its program is missing, or it is a file of the
 * repository that is not executable and that the change may not touch. Pure.
 *
 * Other paths do not count, because a change may add the file or make it executable. With an environment, the setup of the
 * changed tree may install the program.
 */
import { missingProgram, type CheckOutcome } from "@antiphon/contracts";
import { pathMatcher, runsAsHarness } from "@antiphon/git";
import type { RoomOutcome } from "../ports.ts";

export interface Unstartable {
  readonly check: string;
  readonly why: string;
}

/** @param grants globs of protected paths that the run may change */
export function unstartable(
  { trials, environment }: RoomOutcome,
  grants: readonly string[],
): Unstartable | null {
  const [first = []] = trials;
  for (const [i, outcome] of first.entries()) {
    const { command: check, exitCode } = outcome;
    const why = (environment === undefined ? lacking(outcome) : null) ?? closed(outcome, grants);
    // Only the first trial has output, so further trials are compared by their exit code.
    if (why !== null && trials.every((checks) => checks[i]?.exitCode === exitCode)) return { check, why };
  }
  return null;
}

function lacking({ command, exitCode, tail }: CheckOutcome): string | null {
  const program = missingProgram(command, exitCode, tail);
  return program === null ? null : `the clean room has no program ${program}`;
}

const OWN_FILE = /^\s*\.\/([\w./-]+)(?=\s|$)/;
/** The last words of the shell about the file itself. A script may pass on the code of a program that it runs. */
const DENIED = /: \.\/([\w./-]+): permission denied$/gim;

/** A file that judges is protected, so no change can make it executable, except one that a grant covers. */
function closed({ command, exitCode, tail }: CheckOutcome, grants: readonly string[]): string | null {
  const path = OWN_FILE.exec(command)?.[1];
  if (exitCode !== 126 || path === undefined || !isDenied(path, tail)) return null;
  if (!runsAsHarness(path, false) || pathMatcher(grants).matches(path)) return null;
  return `${path} is not executable, and as a file that judges it is protected from the change (\`git update-index --chmod=+x ${path}\`, or --grant ${path})`;
}

function isDenied(path: string, tail: string): boolean {
  return [...tail.matchAll(DENIED)].some(([, named]) => named === path);
}
