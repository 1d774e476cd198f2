/**
 * Shortens a body of the Director until it fits one record of the journal. Only quoted text is left out: whole logs are
 * blobs, and the evidence manifest names every check. Each step leaves out a little more; the first that fits is taken.
 * A body that fits is unchanged, and the same body is always cut in the same way, so that two Directors write equal
 * records.
 *
 * A verdict keeps its decision, code, commit and list of checks. Logs of passed checks are cut before logs of failed
 * ones, and the end of each log stays; as the last step one failure stands for all checks of the base.
 *
 * A dispatch carries failed checks only, as the brief shows no others. The newest feedback is kept longest, and the
 * task is never cut. A closing keeps its status, code, seal and one line per task.
 */
import { fitsRecord } from "@antiphon/contracts";
import type { CheckOutcome, ClosedBody, DispatchBody, Feedback, VerdictBody } from "@antiphon/contracts";
import { firstFailure } from "../verification/trials.ts";

/** Characters kept of the log of a passed and of a failed check; fewer at each step. */
const TAILS: readonly (readonly [passed: number, failed: number])[] = [
  [256, Infinity],
  [0, Infinity],
  [0, 1024],
  [0, 512],
  [0, 256],
  [0, 0],
];
/** Characters that the Associate's brief shows of a message and, when it is short of room, of a log. */
const BRIEF_MESSAGE = 2048;
const BRIEF_TAIL = 256;
/** Characters kept of each task's line in a closing; fewer at each step. The last fits limits.tasksPerRun lines. */
const DETAILS = [2048, 512, 128];

export function fitVerdict(body: VerdictBody): VerdictBody {
  const quoted = (passed: number, failed: number): VerdictBody => ({
    ...body,
    checks: withTails(body.checks, passed, failed),
    baseChecks: withTails(body.baseChecks, passed, failed),
  });
  const steps = TAILS.map(
    ([passed, failed]) =>
      () =>
        quoted(passed, failed),
  );
  const bare = (): VerdictBody => ({ ...quoted(0, 0), message: cut(body.message, BRIEF_MESSAGE) });
  // One failure on the base is enough to show that the checks prove something.
  const failure = firstFailure(body.baseChecks);
  const baseChecks = withTails(failure === undefined ? [] : [failure], 0, 0);
  return firstThatFits(body, [...steps, bare, () => ({ ...bare(), baseChecks })]);
}

export function fitDispatch(body: DispatchBody): DispatchBody {
  const told = body.feedback.map((one) => ({ ...one, checks: one.checks.filter(isFailed) }));
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
    const evidence = body.contract.evidence.map((one) => ({ ...one, details: cut(one.details, chars) }));
    return { ...body, message: cut(body.message, BRIEF_MESSAGE), contract: { ...body.contract, evidence } };
  });
  return firstThatFits(body, steps);
}

/** The shortest form if none fits; the server decides whether it can be stored. */
function firstThatFits<T>(body: T, steps: readonly (() => T)[]): T {
  let fitting = body;
  for (const step of steps) {
    if (fitsRecord(fitting)) break;
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

/** The last `chars` of a text, without half of a surrogate pair at its start. */
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
