/** I4: a run that is over stays over, in the journal and in every answer to a client. */
import type { StoredRecord } from "@antiphon/contracts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";

const OVER: ReadonlySet<string> = new Set(["succeeded", "failed", "canceled"]);

export const I4: Invariant = {
  id: "I4",
  title: "terminal never changes",
  ofRun: (run) => [...closedOnce(run), ...nothingAfter(run), ...taskStaysOver(run), ...answersStay(run)],
};

function closedOnce(run: RunFacts): Violation[] {
  const [first, ...others] = run.records.filter((record) => record.type === "closed");
  return others.map((record) =>
    at(run, "closed-twice", [first?.seq ?? 0, record.seq], `${run.runId} was closed again`),
  );
}

/** Late records of attempts may follow the end; records that change the run may not. */
function nothingAfter(run: RunFacts): Violation[] {
  const closed = run.records.find((record) => record.type === "closed");
  if (closed === undefined) return [];
  return run.records.flatMap((record) => {
    if (record.seq < closed.seq || record.type !== "landing" || record.body.kind !== "landed") return [];
    return [
      at(run, "landed-after-close", [closed.seq, record.seq], "something landed after the run was closed"),
    ];
  });
}

/** After its landing a task has no further attempt, no second verdict and no other landing. */
function taskStaysOver(run: RunFacts): Violation[] {
  const done = new Map<string, StoredRecord>();
  return run.records.flatMap((record) => {
    if (record.taskId === null) return [];
    const earlier = done.get(record.taskId);
    if (earlier === undefined) {
      if (endsTask(record)) done.set(record.taskId, record);
      return [];
    }
    if (record.type !== "dispatch" && record.type !== "verdict") return [];
    const what = `${record.taskId} was done, then came a ${record.type} of epoch ${record.epoch}`;
    return [at(run, "done-again", [earlier.seq, record.seq], what)];
  });
}

function endsTask(record: StoredRecord): boolean {
  if (record.type === "landing") return record.body.kind === "landed";
  return record.type === "verdict" && record.body.verdict === "PASS" && record.body.commit === null;
}

/** An answer about an ended run never changes, and it agrees with the journal. */
function answersStay(run: RunFacts): Violation[] {
  const closed = run.records.find((record) => record.type === "closed");
  const told = run.calls
    .filter((call) => call.kind === "get" && call.runStatus !== null && call.answeredMs !== null)
    .toSorted((a, b) => a.sentMs - b.sentMs);
  return told.flatMap((call, i) => {
    const before = told.slice(0, i).find((one) => OVER.has(one.runStatus ?? "") && isBefore(one, call));
    if (before !== undefined && before.runStatus !== call.runStatus) {
      const what = `the client was told ${before.runStatus}, later ${call.runStatus}`;
      return [violation("I4", run.runId, { rule: "answer-changed", calls: [before.id, call.id], what })];
    }
    if (!OVER.has(call.runStatus ?? "")) return [];
    if (closed?.type === "closed" && closed.body.status === call.runStatus) return [];
    const journal = closed?.type === "closed" ? closed.body.status : "that it is open";
    const what = `the client was told ${call.runStatus}, the journal says ${journal}`;
    const seqs = closed === undefined ? [] : [closed.seq];
    return [violation("I4", run.runId, { rule: "answer-untrue", calls: [call.id], seqs, what })];
  });
}

/** An answer is earlier only if it came before the next request was sent. */
function isBefore(one: { answeredMs: number | null }, other: { sentMs: number }): boolean {
  return one.answeredMs !== null && one.answeredMs <= other.sentMs;
}

function at(run: RunFacts, rule: string, seqs: number[], what: string): Violation {
  return violation("I4", run.runId, { rule, seqs, what });
}
