/** The list of runs as it is read: the newest page again and again, older pages once each. Pure. */
import type { RunPage } from "@antiphon/client";

/** The newest page read again. Runs that newer ones pushed off it stay, so that the older pages still follow without a gap. */
export function refreshed(before: RunPage | null, now: RunPage): RunPage {
  if (before === null) return now;
  const fresh = new Set(now.runs.map(({ runId }) => runId));
  return { runs: [...now.runs, ...before.runs.filter(({ runId }) => !fresh.has(runId))], next: before.next };
}

export function followed(before: RunPage, older: RunPage): RunPage {
  return { runs: [...before.runs, ...older.runs], next: older.next };
}
