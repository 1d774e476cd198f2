/**
 * The effect of people's decisions on a verified change, implemented a second time. On purpose it shares only the records with
 * the Director and the gateway, so that the product does not judge itself.
 */
import type { StoredRecord } from "@antiphon/contracts";

type Verdict = Extract<StoredRecord, { type: "verdict" }>;

export interface Decision {
  readonly kind: "open" | "approved" | "turned down";
  /** The record that decided it: an approval, or the verdict if no approval is needed. */
  readonly seq: number | null;
}

/** Principals that stand for everybody instead of one person. */
const NOBODY_IN_PARTICULAR = ["local", "token"];
const isEverybody = (name: string): boolean =>
  NOBODY_IN_PARTICULAR.includes(name) || name.startsWith("session:");

export function needsApprovals(records: readonly StoredRecord[]): number {
  const intent = records.find((record) => record.type === "intent");
  return intent?.type === "intent" ? (intent.body.options.approvals?.needed ?? 0) : 0;
}

/** A plan or a policy may ask more people about one change than the run asks about each. */
export function neededFor(byRun: number, { body }: Verdict): number {
  const byVerdict = body.approval === undefined ? 0 : body.approval.needed;
  return byVerdict > byRun ? byVerdict : byRun;
}

/** Whether an approval of `by` counts in a run whose work these people asked for. */
export function counts(by: string, askers: Iterable<string>): boolean {
  return [...askers].every((asker) => isEverybody(asker) || (by !== asker && !isEverybody(by)));
}

/** Who asked for a part of the work with this record: by its intent, an answer or a message, or an answer that the run took over. */
export function askersOf(record: StoredRecord): readonly string[] {
  if (record.type === "intent") return [record.body.principal, ...(record.body.asked_by ?? [])];
  if (record.type === "input") return record.body.instructs === true ? [record.body.by] : [];
  return record.type === "message" ? [record.body.by] : [];
}

/** How it was decided whether this verdict's commit lands. */
export function decisionOn(verdict: Verdict, records: readonly StoredRecord[]): Decision {
  const needed = neededFor(needsApprovals(records), verdict);
  if (needed === 0) return { kind: "approved", seq: verdict.seq };
  const askers = new Set<string>();
  const approvers = new Set<string>();
  for (const record of records) {
    for (const asker of askersOf(record)) askers.add(asker);
    const { type, seq, body } = record;
    if (type !== "approval" || seq < verdict.seq || body.verdict !== verdict.digest) continue;
    if (body.choice !== "approve") return { kind: "turned down", seq };
    if (counts(body.by, askers)) approvers.add(body.by);
    if (approvers.size >= needed) return { kind: "approved", seq };
  }
  return { kind: "open", seq: null };
}

/** The sequence at which the change of an attempt was accepted for good; null: it never was. */
export function acceptedAt(
  records: readonly StoredRecord[],
  taskId: string | null,
  epoch: number,
): number | null {
  const verdict = records.find(
    (record): record is Verdict =>
      record.type === "verdict" &&
      record.taskId === taskId &&
      record.epoch === epoch &&
      record.body.verdict === "PASS",
  );
  if (verdict === undefined) return null;
  if (taskId === null) return verdict.seq; // Commits for a target branch were approved task by task.
  const decision = decisionOn(verdict, records);
  return decision.kind === "approved" ? decision.seq : null;
}
