/**
 * A check that cannot start, whatever the change is: on the base the shell found no program of its name, in every trial. Pure.
 *
 * A path is left alone, since a change may bring the file; so is an exit of 126, which only a path has. With an environment,
 * the setup of the changed tree may install the program.
 */
import { missingProgram } from "@antiphon/contracts";
import type { RoomOutcome } from "../ports.ts";

export interface Unstartable {
  readonly check: string;
  readonly program: string;
}

export function unstartable({ trials, environment }: RoomOutcome): Unstartable | null {
  const [first = []] = trials;
  if (environment !== undefined) return null;
  for (const [i, { command: check, exitCode, tail }] of first.entries()) {
    const program = missingProgram(check, exitCode, tail);
    // A further trial that ended in the same way brings no output.
    if (program !== null && trials.every((checks) => checks[i]?.exitCode === exitCode))
      return { check, program };
  }
  return null;
}
