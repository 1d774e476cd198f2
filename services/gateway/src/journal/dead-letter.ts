// Formats a dead letter for people, and finds the record that its requeue names. Pure.
import { AntiphonError, parseJournalSubject } from "@antiphon/contracts";
import type { ConsumerName, DeadLetter, RequeueBody, StoredRecord } from "@antiphon/contracts";

const CONSUMERS: readonly string[] = ["router", "director", "associate"] satisfies ConsumerName[];

export interface LetterLine {
  readonly id: string;
  readonly seq: number;
  readonly at: string;
  readonly consumer: string;
  readonly code: string;
  readonly detail: string;
  readonly deliveries: number;
  readonly type: string | null;
  readonly runId: string | null;
  readonly taskId: string | null;
  readonly epoch: number | null;
}

export function letterLine(kept: { id: string; seq: number; at: Date; letter: DeadLetter }): LetterLine {
  const { consumer, code, detail, deliveries, origin } = kept.letter;
  const address = parseJournalSubject(origin.subject);
  return {
    id: kept.id,
    seq: kept.seq,
    at: kept.at.toISOString(),
    consumer,
    code,
    detail,
    deliveries,
    type: address?.type ?? null,
    runId: address?.runId ?? null,
    taskId: address?.taskId ?? null,
    epoch: address?.epoch ?? null,
  };
}

/** The record to handle again. If the letter is about a requeue, that requeue's own origin is meant. */
export function originOf(letter: DeadLetter, records: readonly StoredRecord[]): StoredRecord {
  const named = records.find(({ seq }) => seq === letter.origin.seq);
  const origin = named?.type === "requeue" ? records.find(({ seq }) => seq === named.cause?.seq) : named;
  if (origin !== undefined) return origin;
  throw new AntiphonError("ANT_DLQ_UNREADABLE", `the journal has no record ${letter.origin.seq} of that run`);
}

export function requeueBody(letter: DeadLetter, origin: StoredRecord, by: string): RequeueBody {
  const { consumer, code } = letter;
  if (!CONSUMERS.includes(consumer))
    throw new AntiphonError("ANT_DLQ_UNREADABLE", `${consumer} handles no requeues`);
  return {
    consumer: consumer as ConsumerName,
    origin: { type: origin.type, task: origin.taskId, epoch: origin.epoch },
    code,
    by,
  };
}
