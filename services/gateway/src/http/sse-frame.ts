// Formats server-sent events. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { SessionEvent, StoredRecord } from "@antiphon/contracts";

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

/** The answer to a request that told what it is at: the last event of its stream. */
export function answerFrame(answer: object): string {
  return `event: answer\ndata: ${JSON.stringify(answer)}\n\n`;
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

/** An event of a session; its id is its sequence. */
export function sessionFrame(event: SessionEvent): string {
  return `id: ${event.sequence}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`;
}

/**
 * The sequence after the last event that the client saw. Another id would replay everything without being asked, or skip
 * what is yet to come. `end`: the last sequence there is.
 * @throws AntiphonError ANT_CONTRACT_INVALID
 */
export function resumeFrom(
  lastEventId: string | string[] | undefined,
  end = Number.MAX_SAFE_INTEGER,
): number {
  if (lastEventId === undefined || lastEventId === "") return 1;
  const seen = typeof lastEventId === "string" && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;
  if (seen !== null && seen <= end) return seen + 1;
  const path = "Last-Event-ID";
  const why =
    seen === null ? "must be the id of an event" : `the last event is ${end}, and there is no ${seen}`;
  throw new AntiphonError("ANT_CONTRACT_INVALID", `${path}: ${why}`, { data: { path } });
}
