/** The phrases that the messages of judgements are made of. Pure. */
import type { CheckOutcome } from "@antiphon/contracts";
import type { Trials } from "./trials.ts";

const SHOWN = 3;

/** The first few of a list, in one line. */
export function listed(all: readonly string[]): string {
  const [shown, more] = [all.slice(0, SHOWN).join(", "), all.length - SHOWN];
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** How a check ended. */
export function ending({ command, timedOut, exitCode }: CheckOutcome): string {
  if (timedOut) return `${command} ran out of time`;
  return exitCode === null ? `${command} did not finish` : `${command} exited ${exitCode}`;
}

/** Which checks pass, and in how many trials. */
export function passing(trials: Trials): string {
  const [checks = [], { length }] = [trials[0], trials];
  const where = length > 1 ? `in ${length} of ${length} trials` : "in the clean room";
  return `${checks.map(({ command }) => command).join(", ")} passes ${where}`;
}
