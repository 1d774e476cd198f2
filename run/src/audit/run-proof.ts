/**
 * Checks one run of a journal from its stored bytes: each record by itself, the chain of causes, the records that
 * others imply, the seal, and the signatures. Pure.
 *
 * A run that the services wrote has no fault, whatever two Directors, a cancel or a pause did to it. One damaged record
 * gives one fault: its consequences are added to that fault. A fault names the register and the sequence if the
 * remaining records reveal them; otherwise the field is null.
 */
import { STORAGE_TYPES, type StoredRecord } from "@antiphon/contracts/journal/record";
import type { Doubt } from "@antiphon/contracts/stored/signature";
import { held, type Held, type RunMaterial } from "@antiphon/contracts/stored/run-material";
import { sealFits } from "@antiphon/contracts/stored/seal";
import { validateShape } from "@antiphon/contracts/validation/validate";
import { causeChain, words, type CauseChain } from "./cause-chain.ts";
import { FaultMap } from "./fault-map.ts";
import { forgeries, isDecision } from "./forged-records.ts";
import { impliedRecords, type Implied } from "./implied-records.ts";
import type { JournalFault } from "./journal-fault.ts";
import { registerKey } from "./known-run.ts";
import { absent, nameHoles } from "./missing-records.ts";

export interface Trust {
  /** Decides which signatures are trusted. */
  readonly doubt: Doubt;
  /** Partitions of the journal, to name the register of a missing record. */
  readonly partitions: number;
}

export interface RunProof {
  readonly runId: string;
  readonly faults: readonly JournalFault[];
  /** Number of records checked. */
  readonly records: number;
  /** Sequences that are accounted for: present, or known to be missing. */
  readonly seqs: readonly number[];
  /** Messages that were stored only temporarily: records of a run that was archived more than once. */
  readonly purgedAgain: number;
  readonly closed: boolean;
  /** Number of decisions without a signature. */
  readonly unsigned: number;
  /** True if the view is damaged. The journal is intact; a rebuild repairs the view. */
  readonly viewUnreadable: boolean;
}

export function proveRun(material: Omit<RunMaterial, "next">, trust: Trust): RunProof {
  const { runId, view } = material;
  const all = material.records.map(held).sort((a, b) => a.seq - b.seq);
  const faults = new FaultMap(runId);
  const isForged = forgeries(all, trust.doubt, faults);
  for (const message of all) if (!isForged(message)) recordItself(message, faults);
  if (material.archiveProblem !== null) faults.archive(material.archiveProblem);
  // Storage records say where the run is kept and are not part of its history.
  const messages = all
    .filter(({ address }) => address === null || !STORAGE_TYPES.includes(address.type))
    .filter((message) => !isForged(message));
  registersTwice(messages, faults);
  for (const subject of material.unreadable) faults.unreadable(subject);

  const chain = causeChain(messages);
  for (const { held: message, digest, namedBy } of chain.changed)
    faults.changed(message, `${digest} (named by ${words(namedBy)})`);
  for (const { record, found } of chain.misplaced) faults.misplaced(record, found);

  const records = messages.flatMap(({ record }) => (record === null ? [] : [record]));
  const viewFits = view === null || isView(view);
  const implied = impliedRecords(records, viewFits ? view : null);
  const gone = absent(implied, messages, runId, trust.partitions);
  const unnamed = nameHoles(chain.holes, gone, faults);
  for (const one of unnamed) faults.missing(one.subject, null, `a record, because of ${one.by}`);
  order(records, implied, faults);

  if (faults.isSealable) seal(messages, chain, faults);
  return {
    runId,
    faults: faults.all(),
    records: all.length,
    seqs: [
      ...all.flatMap(({ seq, storedSeq }) => (storedSeq === null ? [seq] : [seq, storedSeq])),
      ...chain.holes.map(({ seq }) => seq),
    ],
    purgedAgain: purgedAgain(all),
    closed: records.some(({ type }) => type === "closed"),
    unsigned: all.filter(({ address, signature }) => isDecision(address) && signature === "").length,
    viewUnreadable: !viewFits,
  };
}

/** Each archiving after the first purges the copies that a restore made, and the storage records about them. */
function purgedAgain(messages: readonly Held[]): number {
  const storage = messages.flatMap(({ address }) =>
    address !== null && STORAGE_TYPES.includes(address.type) ? [address.epoch] : [],
  );
  return storage.length === 0 ? 0 : (Math.max(...storage) - 1) * (messages.length + 2);
}

function isView(view: unknown): boolean {
  const whole = validateShape("RunViewModel", view, "tolerant");
  if (!whole.ok) return false;
  const { steps } = view as { steps: unknown[] };
  return steps.every((step) => validateShape("RunStep", step, "tolerant").ok);
}

function recordItself(message: Held, faults: FaultMap): void {
  if (message.problem === null) return;
  if (message.isCut) faults.truncated(message);
  else faults.damaged(message);
}

/** A register holds one record. A publisher that skips the expected-sequence check can add a second message. */
function registersTwice(messages: readonly Held[], faults: FaultMap): void {
  const first = new Map<string, Held>();
  for (const message of messages) {
    const earlier = first.get(message.subject);
    if (earlier === undefined) first.set(message.subject, message);
    else faults.twice(earlier, message);
  }
}

function order(records: readonly StoredRecord[], implied: readonly Implied[], faults: FaultMap): void {
  const byRegister = new Map(records.map((record) => [registerKey(record), record]));
  for (const { register, before, by } of implied) {
    const record = byRegister.get(registerKey(register));
    if (record === undefined || before === null || record.seq < before) continue;
    faults.misplaced(record, `it comes after ${by}, which it must lead to`);
  }
  const closed = records.find(({ type }) => type === "closed");
  const late = records.find(
    ({ type, seq }) => type === "landing" && closed !== undefined && seq > closed.seq,
  );
  if (late !== undefined) faults.misplaced(late, "it comes after the run was closed");
}

/** Recomputes the seal from the digests of the stored records and the digests under which others name missing ones. */
function seal(messages: readonly Held[], { holes, changed }: CauseChain, faults: FaultMap): void {
  const closed = messages.find(({ record }) => record?.type === "closed");
  if (closed?.record?.type !== "closed") return;
  const named = new Map(changed.map(({ held: { seq }, digest }) => [seq, digest]));
  const under = [
    ...messages
      .filter(({ seq }) => seq < closed.seq)
      .map((message) => ({ seq: message.seq, digests: digestsOf(message, named.get(message.seq)) })),
    ...holes.map(({ seq, digest }) => ({ seq, digests: [digest] })),
  ].sort((a, b) => a.seq - b.seq);
  const { seal: said } = closed.record.body;
  if (
    !sealFits(
      said,
      under.map(({ digests }) => digests),
    )
  )
    faults.sealBroken(closed, said, under.length);
}

function digestsOf({ digest, claimed }: Held, named: string | undefined): string[] {
  if (named !== undefined) return [named];
  return claimed === "" || claimed === digest ? [digest] : [claimed, digest];
}
