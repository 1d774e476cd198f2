// Decides which run may be retried, and the id of its retry. A closed run never changes, so a retry is a new run. Pure.
import { AntiphonError, sha256Hex, withAnsweredChecks } from "@antiphon/contracts";
import type { Intent, RunOptions, TaskSpec } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";

const ONCE_MORE = 'Start a new run with the same words if you want it once more: `antiphon run "<intent>"`.';
const STILL_OPEN =
  "It ends by itself (`antiphon wait <runId>`) or with `antiphon cancel <runId>`, and can be retried if it fails.";

/** The intent of a failed or canceled run; any other run is refused. */
export function retryable({ runId, intent, closed }: RunFacts): { runId: string; intentId: string } {
  if (intent === null) throw new AntiphonError("ANT_RUN_NOT_FOUND", "the run has no intent");
  const status = closed?.status ?? "open";
  if (status === "failed" || status === "canceled") return { runId, intentId: intent.intentId };
  throw new AntiphonError(
    "ANT_RUN_NOT_RETRYABLE",
    status === "succeeded" ? `${runId} succeeded, so there is nothing to retry` : `${runId} is still open`,
    { data: { status }, remedy: status === "succeeded" ? ONCE_MORE : STILL_OPEN },
  );
}

/** A retry is one run and no part of a race: the race of the first run may have been won since. */
export function withoutRace(intent: Intent): Intent {
  const { race: _race, ...inputs } = intent.inputs;
  return { ...intent, inputs };
}

/**
 * The options of a retry with what people answered about the proof of the run, so that nobody is asked again. The options on record
 * hold what the run had from a run that it retried itself.
 */
export function withAnswersOf(options: RunOptions, { intent, tasks }: RunFacts): RunOptions {
  if (intent === null) return options;
  const { checks, allow_unverified, tasks: before = [] } = intent.options;
  const proven = options.tasks?.map((task): TaskSpec => {
    const same = before.find(({ id }) => id === task.id);
    const { checks: own, acceptance_criteria: criteria } = same ?? {};
    return {
      ...task,
      ...(own === undefined ? {} : { checks: own }),
      ...(criteria === undefined ? {} : { acceptance_criteria: criteria }),
    };
  });
  const again = { ...options, checks, allow_unverified, ...(proven === undefined ? {} : { tasks: proven }) };
  const answered = (tasks ?? []).flatMap(({ attempts }) =>
    attempts.flatMap(({ criteria, answer }) =>
      criteria === null || answer === null ? [] : [{ asks: criteria.asks, answer: answer.body }],
    ),
  );
  return withAnsweredChecks(again, answered);
}

/** A failed run has one retry. If the retry fails too, it has its own. */
export function retryIdOf(runId: string): string {
  return `run_${sha256Hex(JSON.stringify(["retry", runId])).slice(0, 20)}`;
}
