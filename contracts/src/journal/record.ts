/**
 * The envelope of every journal record. It carries no clock: JetStream's timestamp is the time, so a Director's records
 * are a function of the records it read. `cause` names the record that led to this one.
 */
import { Type, type Static, type TSchema } from "typebox";
import { ApprovalBody } from "./approval.ts";
import { ArchivedBody, RestoredBody } from "./archived.ts";
import { ClaimBody } from "./claim.ts";
import { ClosedBody } from "./closed.ts";
import { ControlBody, DueBody, RequeueBody } from "./control.ts";
import { DispatchBody } from "./dispatch.ts";
import { IntentBody } from "./intent.ts";
import { LandingBody } from "./landing.ts";
import { ResultBody } from "./result.ts";
import { RoutedBody } from "./routed.ts";
import { CancelBody, InputBody } from "./side-input.ts";
import { VerdictBody } from "./verdict.ts";
import { Digest, Epoch, RunId, TaskId } from "../shapes/ids.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const JOURNAL_TYPES = [
  "intent",
  "routed",
  "dispatch",
  "claim",
  "result",
  "verdict",
  "landing",
  "cancel",
  "input",
  "approval",
  "control",
  "requeue",
  "due",
  "closed",
  "archived",
  "restored",
] as const;
export type JournalType = (typeof JOURNAL_TYPES)[number];

/** Types that say where the records of a finished run are. They are not part of its history. */
export const STORAGE_TYPES: readonly JournalType[] = ["archived", "restored"];

/** Types whose records name their cause. `intent` is the first of a run and has none. */
const LED_TO: readonly JournalType[] = [
  "intent",
  "routed",
  "dispatch",
  "claim",
  "result",
  "verdict",
  "landing",
  "closed",
  "archived",
  "restored",
];

/** Types that people, other programs and timers write into a run at any time, without a cause. */
export const WORDS_FROM_OUTSIDE: readonly JournalType[] = JOURNAL_TYPES.filter(
  (type) => !LED_TO.includes(type),
);

export type JournalBodies = {
  intent: IntentBody;
  routed: RoutedBody;
  dispatch: DispatchBody;
  claim: ClaimBody;
  result: ResultBody;
  verdict: VerdictBody;
  landing: LandingBody;
  cancel: CancelBody;
  input: InputBody;
  approval: ApprovalBody;
  control: ControlBody;
  requeue: RequeueBody;
  due: DueBody;
  closed: ClosedBody;
  archived: ArchivedBody;
  restored: RestoredBody;
};

export const JOURNAL_BODIES: { readonly [T in JournalType]: TSchema } = {
  intent: IntentBody,
  routed: RoutedBody,
  dispatch: DispatchBody,
  claim: ClaimBody,
  result: ResultBody,
  verdict: VerdictBody,
  landing: LandingBody,
  cancel: CancelBody,
  input: InputBody,
  approval: ApprovalBody,
  control: ControlBody,
  requeue: RequeueBody,
  due: DueBody,
  closed: ClosedBody,
  archived: ArchivedBody,
  restored: RestoredBody,
};

export const Cause = closed({
  seq: Type.Integer({ minimum: 1, description: "Stream sequence of the record that led to this one." }),
  digest: Digest,
});
export type Cause = Static<typeof Cause>;

/** The envelope with an open body; `journalRecordOf(type)` closes it. */
export const JournalEnvelope = closed(
  {
    v: Type.Literal(1, { description: "Version of the envelope." }),
    type: Type.Enum([...JOURNAL_TYPES]),
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
    { ...properties, type: Type.Literal(type), body: JOURNAL_BODIES[type] },
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
};
