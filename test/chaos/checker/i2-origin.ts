/** I2: no phantom runs, and the same key always means the same run. */
import type { ClientCall, History } from "./history.ts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";

export const I2: Invariant = {
  id: "I2",
  title: "no phantom; same key, same id",
  ofHistory(history: History, runs: ReadonlyMap<string, RunFacts>) {
    const starts = history.calls.filter((call) => call.kind === "start");
    return [...sameKeySameRun(starts), ...ownKeyOwnRun(starts), ...noPhantom(starts, runs)];
  },
};

function sameKeySameRun(starts: readonly ClientCall[]): Violation[] {
  const first = new Map<string, ClientCall>();
  return starts.flatMap((call) => {
    if (call.key === null || call.status !== 202) return [];
    const earlier = first.get(call.key);
    if (earlier === undefined) first.set(call.key, call);
    if (earlier === undefined || earlier.runId === call.runId) return [];
    const what = `key ${call.key} was answered with ${earlier.runId} and with ${call.runId}`;
    return [violation("I2", call.runId, { rule: "key-with-two-runs", calls: [earlier.id, call.id], what })];
  });
}

/** One run never belongs to two keys, nor to two requests without a key. */
function ownKeyOwnRun(starts: readonly ClientCall[]): Violation[] {
  const owner = new Map<string, ClientCall>();
  return starts.flatMap((call) => {
    if (call.status !== 202 || call.runId === null) return [];
    const earlier = owner.get(call.runId);
    if (earlier === undefined) owner.set(call.runId, call);
    if (earlier === undefined || (call.key !== null && earlier.key === call.key)) return [];
    const what = `${call.runId} was answered to two different requests`;
    return [violation("I2", call.runId, { rule: "run-with-two-keys", calls: [earlier.id, call.id], what })];
  });
}

/** Every run has a request: a call that was told its id, or one that never got an answer. */
function noPhantom(starts: readonly ClientCall[], runs: ReadonlyMap<string, RunFacts>): Violation[] {
  const told = new Set(starts.flatMap((call) => (call.status === 202 ? [call.runId] : [])));
  const untold = new Map<string, Set<string>>();
  for (const call of starts) {
    if (call.intentId === null || isRefusal(call)) continue;
    const keys = untold.get(call.intentId) ?? new Set<string>();
    keys.add(call.key ?? `call ${call.id}`);
    untold.set(call.intentId, keys);
  }
  const found: Violation[] = [];
  for (const run of runs.values()) {
    const intent = run.records.find((record) => record.type === "intent");
    if (intent?.type !== "intent") {
      const seqs = run.records.map(({ seq }) => seq);
      if (run.records.length > 0) found.push(phantom(run, seqs, "has records but no intent"));
      continue;
    }
    const claims = untold.get(intent.body.intentId);
    if (told.has(run.runId)) continue;
    if (claims === undefined) found.push(phantom(run, [intent.seq], "was never asked for"));
    else if (!takeUntold(claims, starts, told)) {
      found.push(phantom(run, [intent.seq], "is one more than was asked for"));
    }
  }
  return found;
}

/** A run without a known answer uses up one request whose answer was lost. */
function takeUntold(
  keys: Set<string>,
  starts: readonly ClientCall[],
  told: ReadonlySet<string | null>,
): boolean {
  for (const key of keys) {
    const answered = starts.some(
      (call) => (call.key ?? `call ${call.id}`) === key && call.status === 202 && told.has(call.runId),
    );
    keys.delete(key);
    if (!answered) return true;
  }
  return false;
}

/** Whether the answer proves that no run was started: 4xx, or 503 with a coded reason. */
function isRefusal(call: ClientCall): boolean {
  return call.status !== null && call.status >= 400 && call.status < 500;
}

function phantom(run: RunFacts, seqs: readonly number[], how: string): Violation {
  return violation("I2", run.runId, { rule: "phantom", seqs, what: `${run.runId} ${how}` });
}
