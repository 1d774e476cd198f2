/** Shrinks a history to the few records, calls and facts without which a violation would be gone. */
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

/** A smaller history that violates the same invariant in the same words; no single item of it can go. */
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

/** Everything of other runs goes first, where the violation survives it. */
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

/** What one invariant has to say about a history, or about one run of it. */
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
