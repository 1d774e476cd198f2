/**
 * Checks the chain of causes of a run. Each record names its cause by sequence and digest. If no message has that
 * digest, the record is gone; if another message has its sequence, the record was changed.
 */
import { WORDS_FROM_OUTSIDE, type StoredRecord } from "@antiphon/contracts/journal/record";
import type { Held } from "@antiphon/contracts/stored/run-material";

/** A missing record that another record names as its cause. */
export interface Hole {
  readonly seq: number;
  readonly digest: string;
  readonly namedBy: StoredRecord;
}

/** A record that differs from the digest under which another record names it. */
export interface Changed {
  readonly held: Held;
  readonly digest: string;
  readonly namedBy: StoredRecord;
}

export interface CauseChain {
  readonly holes: readonly Hole[];
  readonly changed: readonly Changed[];
  /** Records whose cause comes after them, or that lack the cause they must have. */
  readonly misplaced: readonly { readonly record: StoredRecord; readonly found: string }[];
}

export function causeChain(messages: readonly Held[]): CauseChain {
  const byDigest = new Map<string, Held>();
  for (const message of messages) {
    if (message.claimed !== "") byDigest.set(message.claimed, message);
    byDigest.set(message.digest, message);
  }
  const bySeq = new Map(messages.map((message) => [message.seq, message]));
  const holes = new Map<string, Hole>();
  const changed: Changed[] = [];
  const misplaced: { record: StoredRecord; found: string }[] = [];
  for (const { record } of messages) {
    if (record === null) continue;
    const { cause } = record;
    if (cause === null) {
      const mayStart = record.type === "intent" || WORDS_FROM_OUTSIDE.includes(record.type);
      if (!mayStart) misplaced.push({ record, found: "it names no record that led to it" });
      continue;
    }
    // By digest first: a run restored from an archive has the same records at new sequences.
    const known = byDigest.get(cause.digest);
    if (known !== undefined) {
      const found = `it names seq ${known.seq}, which comes after it`;
      if (known.seq >= record.seq) misplaced.push({ record, found });
      continue;
    }
    const there = bySeq.get(cause.seq);
    if (there !== undefined) changed.push({ held: there, digest: cause.digest, namedBy: record });
    else if (!holes.has(cause.digest)) holes.set(cause.digest, { ...cause, namedBy: record });
  }
  return { holes: [...holes.values()], changed, misplaced };
}

/** Names a record in a fault. */
export function words({ type, seq }: StoredRecord): string {
  return `${type}, seq ${seq}`;
}
