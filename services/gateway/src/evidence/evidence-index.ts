// Lists a run's evidence from the references in its records, in stream order. Pure.
import type { BlobRef, EvidenceManifest } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";

export interface EvidencePointer {
  readonly taskId: string;
  readonly epoch: number;
  /** "attempt": written by the Associate. "verdict": written by the clean room. */
  readonly kind: "attempt" | "verdict";
  readonly key: string;
  readonly digest: string;
}

export type EvidenceBundle = EvidencePointer & { readonly manifest: EvidenceManifest };

export function evidenceOf({ evidence }: RunFacts): EvidencePointer[] {
  return evidence.map(({ taskId, epoch, ref: { key, digest }, from: { kind } }) => ({
    taskId,
    epoch,
    kind,
    key,
    digest,
  }));
}

/** A file is found only by its exact path in the manifest. */
export function fileIn(manifest: EvidenceManifest, path: string): BlobRef | null {
  return manifest.files.find((file) => file.path === path)?.blob ?? null;
}
