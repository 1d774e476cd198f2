/** What the gateway sends about a run. */
import { urlOf, type EvidenceBundle } from "@antiphon/client";

export type { EvidenceBundle, RunLine, RunRecord } from "@antiphon/client";

/** Output of a command in a sandbox, or a progress message. Not stored, so it cannot be read again. */
export interface LiveOutput {
  readonly taskId: string | null;
  readonly stream: string;
  readonly epoch: number;
  readonly text: string;
}

export function fileUrl(runId: string, bundle: EvidenceBundle, path: string): string {
  const { taskId: task, epoch, kind } = bundle;
  return urlOf("/runs/{id}/evidence/{task}/{epoch}/files/{path}", { id: runId, task, epoch, path, kind });
}
