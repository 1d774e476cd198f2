/**
 * The envelope of every journal record. It carries no clock: JetStream's timestamp is the time, so a Director's records
 * are a function of the records it read. `cause` names the record that led to this one.
 */
import { Type, type Static, type TSchema } from "typebox";
import { Digest, Epoch, RunId, TaskId } from "../shapes/ids.ts";
import { closed, nullable } from "../shapes/shape.ts";
import { JOURNAL_TYPES, RECORDS, type JournalBodies, type JournalType } from "./record-table.ts";

export * from "./record-table.ts";

export const Cause = closed({
  seq: Type.Integer({ minimum: 1, description: "Stream sequence of the record that led to this one." }),
  digest: Digest,
});
export type Cause = Static<typeof Cause>;

/** The envelope with an open body; `journalRecordOf(type)` closes it. */
export const JournalEnvelope = closed(
  {
    v: Type.Literal(1, { description: "Version of the envelope." }),
    type: Type.Enum(JOURNAL_TYPES),
    runId: RunId,
    taskId: nullable(TaskId, { description: "null on run-level records." }),
    epoch: Epoch,
    cause: nullable(Cause, {
      description: "null on `intent`, `cancel`, `input`, `approval` and `control`, which come from outside.",
    }),
    body: Type.Unknown({ description: "By type: IntentBody, RoutedBody, ..." }),
  },
  { description: "A journal record." },
);

export function journalRecordOf(type: JournalType): TSchema {
  const { properties } = JournalEnvelope;
  return closed(
    { ...properties, type: Type.Literal(type), body: RECORDS[type].body },
    { description: `Journal record \`${type}\`.` },
  );
}

export type JournalRecordOf<T extends JournalType> = {
  v: 1;
  type: T;
  runId: string;
  taskId: string | null;
  epoch: number;
  cause: Cause | null;
  body: JournalBodies[T];
};
export type JournalRecord = { [T in JournalType]: JournalRecordOf<T> }[JournalType];

/** The fields a writer supplies; the envelope version is filled in. */
export type NewRecord = { [T in JournalType]: Omit<JournalRecordOf<T>, "v"> }[JournalType];

/**
 * A record as stored in the stream. `at` is JetStream's timestamp. `signature` is present on decisions of a Director.
 * `after` is present if the server was asked to store the record only directly after the run's record at that sequence.
 */
export type StoredRecord = JournalRecord & {
  seq: number;
  digest: string;
  at: Date;
  subject: string;
  signature?: string;
  after?: number;
  /** W3C trace context of the run's stage; absent if the run has no trace. */
  traceparent?: string;
};
