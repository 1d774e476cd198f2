/** I1: every accepted run ends once, at most two minutes after the last fault was healed. */
import type { History } from "./history.ts";
import { violation, type Invariant, type RunFacts } from "./invariant.ts";
import { restsOnPeople } from "./resting-run.ts";

/** The time from heal, or from a later acceptance, to the end. */
export const ENDS_WITHIN_MS = 120_000;

export const I1: Invariant = {
  id: "I1",
  title: "every 202 reaches one terminal state within 120 s of heal",
  ofRun(run: RunFacts, history: History) {
    const accepted = run.calls.find((call) => call.kind === "start" && call.status === 202);
    const stored = run.records.some((record) => record.type === "intent");
    if (accepted === undefined || !stored) return []; // I11 judges a 202 without an intent.
    const closed = run.records.find((record) => record.type === "closed");
    const fromMs = Math.max(history.healedMs, accepted.answeredMs ?? accepted.sentMs);
    const last = run.records.at(-1);
    if (closed === undefined) {
      if (restsOnPeople(run.records)) return []; // It waits for a person, possibly for ever.
      if (history.endedMs - fromMs < ENDS_WITHIN_MS) {
        // Whoever stops looking early cannot acquit a run that is still open.
        return [
          unended(run, accepted.id, last?.seq, "was still open when the watch ended, too early to tell"),
        ];
      }
      return [unended(run, accepted.id, last?.seq, `is open, its last record is ${last?.type}`)];
    }
    const tookMs = closed.at.getTime() - fromMs;
    if (tookMs <= ENDS_WITHIN_MS) return [];
    const what = `${run.runId} ended ${Math.round(tookMs / 1000)} s after heal`;
    return [violation("I1", run.runId, { rule: "late-end", seqs: [closed.seq], calls: [accepted.id], what })];
  },
};

function unended(run: RunFacts, call: number, seq: number | undefined, how: string) {
  return violation("I1", run.runId, {
    rule: "no-end",
    seqs: seq === undefined ? [] : [seq],
    calls: [call],
    what: `${run.runId} was accepted and ${how}`,
  });
}
