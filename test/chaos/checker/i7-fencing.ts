/** I7: nothing from a stale epoch is accepted, and only the holder of a claim reports on it. */
import type { StoredRecord } from "@antiphon/contracts";
import type { History } from "./history.ts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";

export const I7: Invariant = {
  id: "I7",
  title: "nothing from a stale epoch accepted",
  ofRun(run: RunFacts, history: History) {
    return [
      ...staleRecords(run),
      ...strangersReports(run),
      ...(history.witnessed.git ? staleCommits(run) : []),
    ];
  },
};

/** After an attempt was dispatched at epoch n, no record of a lower epoch is stored. */
function staleRecords(run: RunFacts): Violation[] {
  const current = new Map<string, StoredRecord>();
  return run.records.flatMap((record) => {
    if (record.taskId === null || record.type === "due") return []; // A late timer changes nothing.
    const newest = current.get(record.taskId);
    if (record.type === "dispatch" && record.epoch > (newest?.epoch ?? 0)) current.set(record.taskId, record);
    if (newest === undefined || record.epoch >= newest.epoch) return [];
    const what = `a ${record.type} of epoch ${record.epoch} of ${record.taskId} was stored while epoch ${newest.epoch} was out`;
    return [violation("I7", run.runId, { rule: "stale-record", seqs: [newest.seq, record.seq], what })];
  });
}

function strangersReports(run: RunFacts): Violation[] {
  return run.records.flatMap((record) => {
    if (record.type !== "result" || record.body.kind !== "reported") return [];
    const claim = run.records.find(
      (other) => other.type === "claim" && other.taskId === record.taskId && other.epoch === record.epoch,
    );
    const holder = claim?.type === "claim" && claim.seq < record.seq ? claim.body.associate : null;
    if (holder === record.body.associate) return [];
    const what = `${record.body.associate} reported on ${record.taskId} epoch ${record.epoch}, held by ${holder ?? "nobody"}`;
    const seqs = claim === undefined ? [record.seq] : [claim.seq, record.seq];
    return [violation("I7", run.runId, { rule: "not-the-holder", seqs, what })];
  });
}

/** The epoch on a landed commit is the epoch of the landing record. */
function staleCommits(run: RunFacts): Violation[] {
  return run.commits.flatMap((commit) => {
    const task = commit.trailers["Antiphon-Task"];
    const landing = run.records.find(
      (record) => record.type === "landing" && record.taskId === task && record.body.kind === "landed",
    );
    const epoch = Number(commit.trailers["Antiphon-Epoch"]);
    if (landing === undefined || landing.epoch === epoch) return [];
    const what = `${commit.id} carries epoch ${epoch} of ${task}, landed at epoch ${landing.epoch}`;
    return [violation("I7", run.runId, { rule: "stale-commit", seqs: [landing.seq], what })];
  });
}
