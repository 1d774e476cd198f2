/**
 * Reconstructs a landing record that the journal lost. The accepting verdict gives commit and head, the intent gives
 * the branch, and an earlier record is the cause. The candidate is accepted only if it has the digest under which a
 * later record names it, so the result is the lost record byte by byte, or nothing.
 */
import { digestOf, encode, type NewRecord, type StoredRecord, type VerdictBody } from "@antiphon/contracts";
import { runBranch } from "../owed/closing.ts";

type Verdict = Extract<StoredRecord, { type: "verdict" }>;

/** Null if the missing record is not a landing that can be reconstructed. */
export function lostLanding(
  records: readonly StoredRecord[],
  hole: { readonly seq: number; readonly digest: string },
): NewRecord | null {
  const there = new Set(records.filter(({ type }) => type === "landing").map(placeOf));
  const causes = records.filter(({ seq }) => seq < hole.seq);
  for (const verdict of causes) {
    if (verdict.type !== "verdict" || there.has(placeOf(verdict))) continue;
    for (const body of landingsOf(verdict, records)) {
      for (const { seq, digest } of causes) {
        const { runId, taskId, epoch } = verdict;
        const record: NewRecord = { type: "landing", runId, taskId, epoch, cause: { seq, digest }, body };
        if (digestOf(encode({ v: 1, ...record })) === hole.digest) return record;
      }
    }
  }
  return null;
}

const placeOf = ({ taskId, epoch }: StoredRecord): string => `${taskId ?? "-"} ${epoch}`;

function landingsOf(verdict: Verdict, records: readonly StoredRecord[]) {
  const { commit, head }: VerdictBody = verdict.body;
  const ref = verdict.taskId === null ? targetOf(records) : runBranch(verdict.runId);
  if (commit === null || ref === null) return [];
  // Either the branch was new, or it was at the verdict's head.
  return [null, head].map((previous) => ({ kind: "landed" as const, ref, commit, previous }));
}

function targetOf(records: readonly StoredRecord[]): string | null {
  const intent = records.find((record) => record.type === "intent");
  const branch = intent?.type === "intent" ? intent.body.options.land_on : undefined;
  if (branch === undefined) return null;
  return branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
}
