/**
 * Makes what the Director says fit one record of the journal. What is left out is quoted text: whole logs are blobs, and
 * the evidence manifest names every check. Each step leaves out a little more, and the first that fits is taken.
 *
 * Invariants:
 *   F1 What fits is said as it is; the same words are always cut in the same way, so that Directors do not differ.
 *   F2 A verdict's decision, code, commit and list of checks are never cut. Logs of checks that passed go before logs of
 *      checks that failed, and of each log the end stays; last, one failure
 *      speaks for the base.
 *   F3 A dispatch carries failed checks only: the brief tells no others. The newest feedback stays for longest, and
 *      the task itself is never cut.
 *   F4 An ending keeps its status, its code, its seal and one line for every task.
 */
import { bodyBytes, recordBodyBytes } from "@antiphon/contracts";
import type { CheckOutcome, ClosedBody, DispatchBody, Feedback, VerdictBody } from "@antiphon/contracts";
import { firstFailure } from "../verification/judge.ts";

/** Characters kept of a log, of checks that passed and of those that failed; shorter at each step. */
const TAILS: readonly (readonly [passed: number, failed: number])[] = [
  [256, Infinity],
  [0, Infinity],
  [0, 1024],
  [0, 512],
  [0, 256],
  [0, 0],
];
/** What the Associate's brief shows of a message and, where it is short of room, of a log. */
const BRIEF_MESSAGE = 2048;
const BRIEF_TAIL = 256;
/** Kept of each line about a task at the end of a run; shorter at each step. The last fits limits.tasksPerRun. */
const DETAILS = [2048, 512, 128];

export function fitVerdict(body: VerdictBody): VerdictBody {
  const quoted = (passed: number, failed: number): VerdictBody => ({
    ...body,
    checks: withTails(body.checks, passed, failed), // F2
    baseChecks: withTails(body.baseChecks, passed, failed),
  });
  const steps = TAILS.map(
    ([passed, failed]) =>
      () =>
        quoted(passed, failed),
  );
  const bare = (): VerdictBody => ({ ...quoted(0, 0), message: cut(body.message, BRIEF_MESSAGE) });
  // Of what the base does without the change, one failure says all: that the checks prove something.
  const failure = firstFailure(body.baseChecks);
  const baseChecks = withTails(failure === undefined ? [] : [failure], 0, 0);
  return firstThatFits(body, [...steps, bare, () => ({ ...bare(), baseChecks })]);
}

export function fitDispatch(body: DispatchBody): DispatchBody {
  const told = body.feedback.map((one) => ({ ...one, checks: one.checks.filter(isFailed) })); // F3
  const short = told.map((one): Feedback => ({
    ...one,
    message: cut(one.message, BRIEF_MESSAGE),
    checks: withTails(one.checks, 0, BRIEF_TAIL),
  }));
  const steps = [0, ...short.keys()].map((_, dropped) => () => ({ ...body, feedback: short.slice(dropped) }));
  return firstThatFits({ ...body, feedback: told }, steps);
}

export function fitClosing(body: ClosedBody): ClosedBody {
  const steps = DETAILS.map((chars) => () => {
    const evidence = body.contract.evidence.map((one) => ({ ...one, details: cut(one.details, chars) })); // F4
    return { ...body, message: cut(body.message, BRIEF_MESSAGE), contract: { ...body.contract, evidence } };
  });
  return firstThatFits(body, steps);
}

/** F1. Where nothing fits, the shortest: whether that can be stored is for the server to say. */
function firstThatFits<T>(body: T, steps: readonly (() => T)[]): T {
  let fitting = body;
  for (const step of steps) {
    if (bodyBytes(fitting) <= recordBodyBytes) break;
    fitting = step();
  }
  return fitting;
}

function isFailed(check: CheckOutcome): boolean {
  return check.exitCode !== 0;
}

function withTails(checks: readonly CheckOutcome[], passed: number, failed: number): CheckOutcome[] {
  return checks.map((check) => ({ ...check, tail: endOf(check.tail, isFailed(check) ? failed : passed) }));
}

/** The last `chars` of a text; half of a surrogate pair is no character. */
function endOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = text.slice(text.length - chars);
  return /^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end;
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const start = text.slice(0, chars - 3);
  return `${/[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start}...`;
}
