/** Shrinks a history to the records, calls and facts that a violation needs. */
import type { History } from "./history.ts";
import type { Invariant, RunFacts, Violation } from "./invariant.ts";
import { runsOf } from "./run-facts.ts";

/** The parts of a history that can be left out one by one. */
const PARTS = [
  "calls",
  "records",
  "refs",
  "commits",
  "patched",
  "blobs",
  "manifests",
  "containers",
  "bounds",
  "faults",
  "poisonous",
] as const;

export type Counterexample = Pick<History, (typeof PARTS)[number]>;

/** A smaller history with the same violation, from which no single item can be removed. */
export function counterexample(history: History, found: Violation, invariant: Invariant): Counterexample {
  const own = ofOneRun(history, found);
  let smallest = stillViolates(own, found, invariant) ? own : history;
  for (const part of PARTS) {
    for (let chunk = Math.ceil(smallest[part].length / 2); chunk >= 1; chunk = Math.floor(chunk / 2)) {
      for (let from = 0; from < smallest[part].length;) {
        const rest = smallest[part].filter((_, i) => i < from || i >= from + chunk);
        const smaller: History = { ...smallest, [part]: rest };
        if (stillViolates(smaller, found, invariant)) smallest = smaller;
        else from += chunk;
      }
    }
  }
  return Object.fromEntries(PARTS.map((part) => [part, smallest[part]])) as Counterexample;
}

/** First removes all items of other runs, if the violation survives that. */
function ofOneRun(history: History, found: Violation): History {
  const { runId } = found;
  if (runId === null) return history;
  const facts: RunFacts | undefined = runsOf(history).get(runId);
  if (facts === undefined) return history;
  const keys = new Set(facts.calls.flatMap(({ key }) => (key === null ? [] : [key])));
  const isCalled = (call: History["calls"][number]): boolean =>
    call.runId === runId || found.calls.includes(call.id) || (call.key !== null && keys.has(call.key));
  return {
    ...history,
    calls: history.calls.filter(isCalled),
    records: facts.records,
    refs: facts.refs,
    commits: facts.commits,
    containers: facts.containers,
    bounds: [],
  };
}

function stillViolates(history: History, found: Violation, invariant: Invariant): boolean {
  return violationsOf(history, invariant, found.runId).some(
    (other) => other.rule === found.rule && other.runId === found.runId && other.what === found.what,
  );
}

/** The violations of one invariant in a history, or in one run of it. */
export function violationsOf(
  history: History,
  invariant: Invariant,
  onlyRun: string | null = null,
): Violation[] {
  const runs = runsOf(history);
  const chosen =
    onlyRun === null ? [...runs.values()] : [...runs.values()].filter(({ runId }) => runId === onlyRun);
  return [
    ...chosen.flatMap((run) => invariant.ofRun?.(run, history) ?? []),
    ...(invariant.ofHistory?.(history, runs) ?? []),
  ];
}
