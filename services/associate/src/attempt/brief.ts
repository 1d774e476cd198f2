/**
 * The brief for an agent in the sandbox: the task, the feedback on earlier attempts, the last one's diff, and answers.
 *
 * The same JSON goes to standard input and to ANTIPHON_TASK, so its size is bounded, in bytes. The diffs and what earlier tasks
 * printed are dropped first, then the oldest feedback, then what earlier tasks did, then the oldest answers; the task itself and the
 * newest answer are never cut.
 */
import type { DirectorTask, DispatchBody, EarlierTask } from "@antiphon/contracts";
import { bytesOf } from "./byte-length.ts";

/** The result of a task before this one. */
export interface Earlier {
  readonly task: string;
  readonly kind: EarlierTask["kind"];
  readonly commit: string;
  readonly summary: string;
  /** The end of what its last command printed; absent: nothing, or it changed files. */
  readonly output?: string;
}

export interface BriefFeedback {
  readonly epoch: number;
  readonly code: string;
  readonly message: string;
  readonly checks: readonly { command: string; exitCode: number | null; timedOut: boolean; tail: string }[];
}

export interface Brief {
  readonly goal: string;
  readonly epoch: number;
  readonly task: DirectorTask;
  /** Oldest first. */
  readonly feedback: readonly BriefFeedback[];
  readonly answers: readonly { question: string; answer: string }[];
  /** Globs of the files it may change; absent: all. */
  readonly scope?: readonly string[];
  /** Globs of files it must not change, also in its scope; absent: none. */
  readonly scope_except?: readonly string[];
  /** The change of the newest attempt before this one that left one; absent: none, or too long. */
  readonly previous_diff?: string;
  /** The files have that change already; absent: they are the original ones. */
  readonly continues?: true;
  /** What people have told attempts of the task, oldest first; absent: nothing. */
  readonly messages?: readonly { by: string; text: string }[];
  /** What the tasks that it depends on have left, in the order of the plan; absent: nothing. */
  readonly earlier?: readonly Earlier[];
  /** The change to judge, which the files have; absent: none, or too long. */
  readonly change?: string;
}

export interface BriefBounds {
  readonly maxBytes: number;
  readonly previousDiff: string | null;
  /** Default: false. */
  readonly isApplied?: boolean;
  /** The change that a skill judges. Default: none. */
  readonly judged?: string | null;
  /** Default: none. */
  readonly earlier?: readonly Earlier[];
  /** Default: none. */
  readonly told?: readonly { by: string; text: string }[];
}

/** Of the output of a check, first if all fits, then if it does not. */
const SECTION_CHARS = 8192;
const TAIL_CHARS = 2048;
const SHORT_CHARS = 256;

function feedbackOf(dispatch: DispatchBody, tailChars: number): BriefFeedback[] {
  return dispatch.feedback.map(({ epoch, code, message, checks }) => ({
    epoch,
    code,
    message: message.slice(0, Math.max(SHORT_CHARS, tailChars)),
    checks: checks
      .filter((check) => check.exitCode !== 0)
      .map(({ command, exitCode, timedOut, tail }) => ({
        command,
        exitCode,
        timedOut,
        tail: tail.slice(Math.max(0, tail.length - tailChars)),
      })),
  }));
}

/** The brief as JSON, at most `maxBytes` long unless the task alone is longer. */
export function briefJson(
  dispatch: DispatchBody,
  epoch: number,
  { maxBytes, previousDiff, isApplied = false, judged = null, earlier = [], told = [] }: BriefBounds,
): string {
  const render = (
    feedback: readonly BriefFeedback[],
    diff: string | null = null,
    change: string | null = null,
    before: readonly Earlier[] = earlier.map(({ output: _, ...short }) => short),
    answers = dispatch.answers,
  ): string => {
    const brief: Brief = {
      goal: dispatch.intent.goal,
      epoch,
      task: dispatch.task,
      feedback,
      answers,
      ...(dispatch.scope.length === 0 ? {} : { scope: dispatch.scope }),
      ...(dispatch.scope_except === undefined ? {} : { scope_except: dispatch.scope_except }),
      ...(diff === null ? {} : { previous_diff: diff }),
      ...(isApplied ? { continues: true } : {}),
      ...(told.length === 0 ? {} : { messages: told.map(({ by, text }) => ({ by, text })) }),
      ...(before.length === 0 ? {} : { earlier: before }),
      ...(change === null ? {} : { change }),
    };
    return JSON.stringify(brief);
  };
  const isTooLong = (json: string): boolean => bytesOf(json) > maxBytes;
  let feedback = feedbackOf(dispatch, SECTION_CHARS);
  const whole = render(feedback, previousDiff, judged, earlier);
  if (!isTooLong(whole)) return whole;
  let json = render(feedback);
  for (const tailChars of [TAIL_CHARS, SHORT_CHARS]) {
    if (!isTooLong(json)) return json;
    feedback = feedbackOf(dispatch, tailChars);
    json = render(feedback);
  }
  while (isTooLong(json) && feedback.length > 0) {
    feedback = feedback.slice(1);
    json = render(feedback);
  }
  if (!isTooLong(json)) return json;
  json = render(feedback, null, null, []);
  for (let answers = dispatch.answers; isTooLong(json) && answers.length > 1;) {
    answers = answers.slice(1);
    json = render(feedback, null, null, [], answers);
  }
  return json;
}
