// Formats server-sent events. Pure.
import type { StoredRecord } from "@antiphon/contracts";

/** One journal record. Its type is the event and its stream sequence the id, so a client resumes with Last-Event-ID. */
export function recordFrame(record: StoredRecord): string {
  return `id: ${record.seq}\nevent: ${record.type}\ndata: ${JSON.stringify(recordJson(record))}\n\n`;
}

/** Live output has no id, because it is not stored and cannot be resumed. */
export function logFrame(log: {
  taskId: string | null;
  stream: string;
  epoch: number;
  text: string;
}): string {
  return `event: log\ndata: ${JSON.stringify(log)}\n\n`;
}

export const BEAT = ": beat\n\n";

/** The form of a record over HTTP. `at` is JetStream's timestamp. */
export function recordJson(record: StoredRecord): Record<string, unknown> {
  const { v, seq, type, runId, taskId, epoch, at, digest, cause, body, signature, traceparent } = record;
  return {
    v,
    seq,
    type,
    runId,
    taskId,
    epoch,
    at: at.toISOString(),
    digest,
    signature,
    traceparent,
    cause,
    body,
  };
}

/** The sequence after the last event the client saw. Any id that is not a sequence number starts from the beginning. */
export function resumeFrom(lastEventId: string | undefined): number {
  return lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) + 1 : 1;
}
