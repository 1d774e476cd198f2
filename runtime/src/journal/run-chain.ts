/** The chain of causes in a run: each record names the record that led to it, by sequence and digest. Pure. */
import type { StoredRecord } from "@antiphon/contracts";

/** Says in words where the chain of a finished run is broken; null if it holds. */
export function brokenChain(records: readonly StoredRecord[]): string | null {
  const [first] = records;
  if (first?.type !== "intent") return `it begins with ${first?.type ?? "nothing"}, not with an intent`;
  if (!records.some(({ type }) => type === "closed")) return "it is not closed";
  const digests = new Map<number, string>();
  for (const { seq, digest, cause, subject } of records) {
    if (cause !== null && digests.get(cause.seq) !== cause.digest) {
      return `the cause of ${subject}, sequence ${cause.seq}, is missing`;
    }
    digests.set(seq, digest);
  }
  return null;
}
