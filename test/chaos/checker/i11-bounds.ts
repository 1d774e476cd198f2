/** I11: memory, disk and queues stay within their bounds; accepted work is never dropped, nor given up without cause. */
import { givenUpWithoutCause, outageWithoutCause } from "./given-up.ts";
import type { BoundSample, History } from "./history.ts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";

export const I11: Invariant = {
  id: "I11",
  title: "memory, disk, queues bounded, never 202-then-drop",
  ofRun(run: RunFacts, history: History) {
    return [...dropped(run), ...givenUpWithoutCause(run, history), ...outageWithoutCause(run, history)];
  },
  ofHistory(history: History): Violation[] {
    const worst = new Map<string, BoundSample>();
    for (const sample of history.bounds) {
      if (sample.value <= sample.bound) continue;
      const known = worst.get(sample.what);
      if (known === undefined || sample.value > known.value) worst.set(sample.what, sample);
    }
    return [...worst.values()].map(({ what, value, bound, unit }) =>
      violation("I11", null, { rule: "beyond-bound", what: `${what}: ${value} of at most ${bound} ${unit}` }),
    );
  },
};

function dropped(run: RunFacts): Violation[] {
  const accepted = run.calls.find((call) => call.kind === "start" && call.status === 202);
  if (accepted === undefined || run.records.some((record) => record.type === "intent")) return [];
  const what = `${run.runId} was accepted, and the journal has no intent of it`;
  return [violation("I11", run.runId, { rule: "accepted-then-dropped", calls: [accepted.id], what })];
}
