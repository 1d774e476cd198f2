// Decides which run may be retried, and the id of its retry. A closed run never changes, so a retry is a new run. Pure.
import { AntiphonError, sha256Hex } from "@antiphon/contracts";
import type { Intent } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";

/** The intent of a failed or canceled run; any other run is refused. */
export function retryable({ runId, intent, closed }: RunFacts): { runId: string; intentId: string } {
  if (intent === null) throw new AntiphonError("ANT_RUN_NOT_FOUND", "the run has no intent");
  const status = closed?.status ?? "open";
  if (status === "failed" || status === "canceled") return { runId, intentId: intent.intentId };
  throw new AntiphonError(
    "ANT_RUN_NOT_RETRYABLE",
    status === "succeeded" ? `${runId} succeeded, so there is nothing to retry` : `${runId} is still open`,
    {
      data: { status },
    },
  );
}

/** A retry is one run and no part of a race: the race of the first run may have been won since. */
export function withoutRace(intent: Intent): Intent {
  const { race: _race, ...inputs } = intent.inputs;
  return { ...intent, inputs };
}

/** A failed run has one retry. If the retry fails too, it has its own. */
export function retryIdOf(runId: string): string {
  return `run_${sha256Hex(JSON.stringify(["retry", runId])).slice(0, 20)}`;
}
