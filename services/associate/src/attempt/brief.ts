/**
 * The brief for an agent in the sandbox: the task, the feedback on earlier attempts, and answers.
 *
 * The same JSON goes to standard input and to ANTIPHON_TASK, so its size is bounded. The oldest feedback is dropped first;
 * the task itself is never cut.
 */
import type { DirectorTask, DispatchBody } from "@antiphon/contracts";

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
}

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

/** The brief as JSON, at most `maxChars` long unless the task alone is longer. */
export function briefJson(dispatch: DispatchBody, epoch: number, maxChars: number): string {
  const render = (feedback: readonly BriefFeedback[]): string => {
    const brief: Brief = {
      goal: dispatch.intent.goal,
      epoch,
      task: dispatch.task,
      feedback,
      answers: dispatch.answers,
      ...(dispatch.scope.length === 0 ? {} : { scope: dispatch.scope }),
    };
    return JSON.stringify(brief);
  };
  let feedback = feedbackOf(dispatch, TAIL_CHARS);
  let json = render(feedback);
  if (json.length > maxChars) {
    feedback = feedbackOf(dispatch, SHORT_CHARS);
    json = render(feedback);
  }
  while (json.length > maxChars && feedback.length > 0) {
    feedback = feedback.slice(1);
    json = render(feedback);
  }
  return json;
}
