/**
 * Feedback that says when a check fails without any change as well. Otherwise an agent, and a person, look for the fault in
 * the change. A fix is expected to meet such a base, so it is not told there.
 */
import type { ErrorCode, Feedback, Workflow } from "@antiphon/contracts";
import type { RoomOutcome } from "../ports.ts";
import { firstFailure, isPassed } from "../verification/trials.ts";
import { within } from "./within.ts";

/** An attempt was rejected for the outcome of a check. */
const OF_A_CHECK: ReadonlySet<string> = new Set<ErrorCode>([
  "ANT_VERIFY_SELF_FAILED",
  "ANT_VERIFY_CHECK_FAILED",
]);
/** The base has run beside the attempt that failed, so there is seldom anything to wait for. */
const WAIT_MS = 500;

/** `base`: the checks on the base, or null; undefined if they were not begun. */
export async function withRedBase(
  feedback: readonly Feedback[],
  workflow: Workflow,
  base: Promise<RoomOutcome | null> | undefined,
  signal: AbortSignal,
): Promise<readonly Feedback[]> {
  const last = feedback.at(-1);
  if (last === undefined || base === undefined || workflow === "DEBUG" || !OF_A_CHECK.has(last.code))
    return feedback;
  const outcome = await within(base, WAIT_MS, signal);
  const red = outcome === null ? null : redCheck(outcome);
  const isOther = last.checks.some(({ command, exitCode }) => command === red && exitCode === 0);
  if (red === null || isOther) return feedback;
  const message = `without any change, \`${red}\` fails as well; ${last.message}`;
  return [...feedback.slice(0, -1), { ...last, message }];
}

/** A check that fails on the base in every trial. */
function redCheck({ trials }: RoomOutcome): string | null {
  if (trials.some(isPassed)) return null;
  return firstFailure(trials[0] ?? [])?.command ?? null;
}
