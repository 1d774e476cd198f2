import { AntiphonError, type IntentBody } from "@antiphon/contracts";
import type { RunState } from "./run-state.ts";

/** The intent of a run. It is the first record of every run, so a run without one has lost records. */
export function intentOf({ runId, facts }: RunState): IntentBody {
  if (facts.intent === null) throw new AntiphonError("ANT_JOURNAL_GAP", `run ${runId} has no intent record`);
  return facts.intent;
}
