/** The other runs of a race, in the order in which they were started. Pure. */
import type { RunLine } from "../api/run-record.ts";

/** `runs`: the newest first. An older gateway names no race, so there are none. */
export function otherRacers(runs: readonly RunLine[], race: string, runId: string): RunLine[] {
  return runs.filter((run) => run.race === race && run.runId !== runId).toReversed();
}
