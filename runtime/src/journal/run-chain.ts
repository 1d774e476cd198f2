/** What holds a run's records together (J9): each names the record that led to it, by sequence and digest. Pure. */
import type { StoredRecord } from "@antiphon/contracts";

/** Where the chain of a finished run is broken, in words; null when it holds. */
export function brokenChain(records: readonly StoredRecord[]): string | null {
  const [first] = records;
  if (first?.type !== "intent") return `it begins with ${first?.type ?? "nothing"}, not with an intent`;
  if (!records.some(({ type }) => type === "closed")) return "it is not closed";
  const digests = new Map<number, string>();
  for (const { seq, digest, cause, subject } of records) {
    if (cause !== null && digests.get(cause.seq) !== cause.digest) {
      return `the cause of ${subject}, sequence ${cause.seq}, is not there`;
    }
    digests.set(seq, digest);
  }
  return null;
}
