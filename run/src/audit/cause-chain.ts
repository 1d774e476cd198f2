/**
 * The causes of a run: each record names the one that led to it, by sequence and digest. A name that nothing answers
 * to is a record that is gone; one whose place holds something else is a record that was changed.
 */
import { WORDS_FROM_OUTSIDE, type StoredRecord } from "@antiphon/contracts/journal/record";
import type { Held } from "@antiphon/contracts/stored/run-material";

/** A record that another one names and that is not there. */
export interface Hole {
  readonly seq: number;
  readonly digest: string;
  readonly namedBy: StoredRecord;
}

/** A record that is not what another one says it was. */
export interface Changed {
  readonly held: Held;
  readonly digest: string;
  readonly namedBy: StoredRecord;
}

export interface CauseChain {
  readonly holes: readonly Hole[];
  readonly changed: readonly Changed[];
  /** Records that name one which comes after them, or none where they must. */
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
    // By digest first: a run that was restored from an archive has new sequences and the same records.
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
