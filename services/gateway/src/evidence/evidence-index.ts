// Lists a run's evidence from the references in its records, in their order. Pure.
import type { BlobRef, EvidenceManifest, EvidenceRef, StoredRecord } from "@antiphon/contracts";

export interface EvidencePointer {
  readonly taskId: string;
  readonly epoch: number;
  /** "attempt": written by the Associate. "verdict": written by the clean room. */
  readonly kind: "attempt" | "verdict";
  readonly key: string;
  readonly digest: string;
}

export type EvidenceBundle = EvidencePointer & { readonly manifest: EvidenceManifest };

export function evidenceOf(records: readonly StoredRecord[]): EvidencePointer[] {
  return records.flatMap((record) => {
    if (record.taskId === null) return [];
    const at = { taskId: record.taskId, epoch: record.epoch };
    if (record.type === "result" && record.body.kind === "reported")
      return [pointer(at, "attempt", record.body.evidence)];
    if (record.type === "verdict" && record.body.evidence !== null)
      return [pointer(at, "verdict", record.body.evidence)];
    return [];
  });
}

function pointer(
  at: { taskId: string; epoch: number },
  kind: EvidencePointer["kind"],
  { key, digest }: EvidenceRef,
): EvidencePointer {
  return { ...at, kind, key, digest };
}

/** A file is found only by its exact path in the manifest. */
export function fileIn(manifest: EvidenceManifest, path: string): BlobRef | null {
  return manifest.files.find((file) => file.path === path)?.blob ?? null;
}
