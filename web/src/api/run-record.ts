/** What the gateway sends about a run. */
import type { EvidenceManifest, JournalRecord } from "@antiphon/contracts";

/** A journal record as it comes over HTTP. */
export type RunRecord = JournalRecord & {
  readonly seq: number;
  readonly digest: string;
  readonly at: string;
  readonly signature?: string;
};

/** Output of a command in a sandbox, or a progress message. Not stored, so it cannot be read again. */
export interface LiveOutput {
  readonly taskId: string | null;
  readonly stream: string;
  readonly epoch: number;
  readonly text: string;
}

/** One line of the list of runs. */
export interface RunLine {
  readonly runId: string;
  readonly goal: string;
  readonly repo: string;
  readonly status: string;
  readonly paused: boolean;
  readonly code: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

export interface EvidenceBundle {
  readonly taskId: string;
  readonly epoch: number;
  readonly kind: "attempt" | "verdict";
  readonly digest: string;
  readonly manifest: EvidenceManifest;
}

export const fileUrl = (runId: string, { taskId, epoch, kind }: EvidenceBundle, path: string): string =>
  `/runs/${runId}/evidence/${encodeURIComponent(taskId)}/${epoch}/files/${path
    .split("/")
    .map(encodeURIComponent)
    .join("/")}?kind=${kind}`;
