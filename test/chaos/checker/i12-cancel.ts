/** I12: after a cancel nothing lands that had not been accepted before it. */
import { acceptedAt } from "./approved.ts";
import type { History } from "./history.ts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";

export const I12: Invariant = {
  id: "I12",
  title: "cancelled means never landed afterwards",
  ofRun(run: RunFacts, history: History) {
    const cancel = run.records.find((record) => record.type === "cancel");
    if (cancel === undefined) return lostCancel(run);
    const late = run.records.flatMap((record): Violation[] => {
      if (record.type !== "landing" || record.seq < cancel.seq || record.body.kind !== "landed") return [];
      const accepted = acceptedAt(run.records, record.taskId, record.epoch);
      if (accepted !== null && accepted < cancel.seq) return [];
      const what = `${record.taskId ?? "the run"} landed after the cancel, and was not accepted before it`;
      return [
        violation("I12", run.runId, { rule: "landed-after-cancel", seqs: [cancel.seq, record.seq], what }),
      ];
    });
    return [...late, ...(history.witnessed.git ? inGit(run, cancel.seq) : [])];
  },
};

/** A commit of a task without a landing record: git moved after the cancel, and the journal does not show it. */
function inGit(run: RunFacts, cancelSeq: number): Violation[] {
  return run.commits.flatMap((commit) => {
    const task = commit.trailers["Antiphon-Task"];
    const accepted = run.records.some(
      (record) =>
        record.type === "verdict" &&
        record.taskId === task &&
        record.body.verdict === "PASS" &&
        (acceptedAt(run.records, record.taskId, record.epoch) ?? cancelSeq) < cancelSeq,
    );
    if (accepted || commit.refs.length === 0) return [];
    const what = `${commit.id} of ${task} is on ${commit.refs.join(", ")}, not accepted before the cancel`;
    return [violation("I12", run.runId, { rule: "commit-after-cancel", seqs: [cancelSeq], what })];
  });
}

/** A cancel that was answered with 202 is in the journal, unless the run was over before. */
function lostCancel(run: RunFacts): Violation[] {
  const closed = run.records.find((record) => record.type === "closed");
  return run.calls.flatMap((call) => {
    if (call.kind !== "cancel" || call.status !== 202) return [];
    if (closed?.type === "closed" && closed.body.status === "canceled") return [];
    const what = `the cancel of ${run.runId} was accepted, and the journal has none`;
    return [violation("I12", run.runId, { rule: "cancel-lost", calls: [call.id], what })];
  });
}
