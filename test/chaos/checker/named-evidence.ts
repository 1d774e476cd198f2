/** The evidence that the records of a history name: keys of manifests, and diffs of proposals by register. */
import type { BlobRef, StoredRecord } from "@antiphon/contracts";

/** The attempt or verdict that a record describes. */
export const registerOf = ({ runId, taskId, epoch }: StoredRecord): string => `${runId} ${taskId} ${epoch}`;

export function namedEvidence(records: readonly StoredRecord[]): {
  readonly keys: ReadonlySet<string>;
  readonly patches: ReadonlyMap<string, BlobRef>;
} {
  const keys = new Set<string>();
  const patches = new Map<string, BlobRef>();
  for (const record of records) {
    if (record.type === "result" && record.body.kind === "reported") {
      keys.add(record.body.evidence.key);
      if (record.body.patch !== null) patches.set(registerOf(record), record.body.patch);
    }
    if (record.type === "verdict" && record.body.evidence !== null) keys.add(record.body.evidence.key);
  }
  return { keys, patches };
}
