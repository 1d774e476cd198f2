/**
 * The table of record types. The envelope's enum, the contracts, the unions, the consumers' filters, the rules of
 * registers, the signatures and the log lines derive from it.
 */
import type { TSchema } from "typebox";
import { ApprovalBody } from "./approval.ts";
import { ArchivedBody, RestoredBody } from "./archived.ts";
import { ClaimBody } from "./claim.ts";
import { ClosedBody } from "./closed.ts";
import { ControlBody, DueBody, RequeueBody } from "./control.ts";
import { DispatchBody } from "./dispatch.ts";
import { IntentBody } from "./intent.ts";
import { LandingBody } from "./landing.ts";
import { MessageBody } from "./message.ts";
import { ResultBody } from "./result.ts";
import { RoutedBody } from "./routed.ts";
import { CancelBody, InputBody } from "./side-input.ts";
import { VerdictBody } from "./verdict.ts";

/**
 * The parts that name a type's register: `run`, the run alone; `number`, the run's count of such records; `attempt`, a task
 * and its epoch; `either`, a run or an attempt.
 */
type About = "run" | "number" | "attempt" | "either";

interface Facts {
  readonly about: About;
  /**
   * `record`: each names the record that led to it (`intent` is the first of a run and has none). `outside`: people, other
   * programs and timers write it at any time, without a cause.
   */
  readonly from: "record" | "outside";
  /** The services it wakes. A record that wakes none is only read back or shown, or ends the run. */
  readonly wakes?: readonly RecordReader[];
  /** A decision that people rely on, so a Director signs it. The chain of causes and the seal protect all others. */
  readonly signed?: true;
  /** It says where the records of a finished run are, and is not part of its history. */
  readonly storage?: true;
  /** The log line of the service that stored it. */
  readonly logged: string;
}
type RecordReader = "router" | "director" | "associate";

interface Row<Body> extends Facts {
  readonly body: TSchema;
  /** For the type only: no row has a value here. */
  readonly typed: Body;
}

function row<Body>(body: TSchema, facts: Facts): Row<Body> {
  return { body, ...facts } as Row<Body>;
}

export const RECORDS = {
  intent: row<IntentBody>(IntentBody, {
    about: "run",
    from: "record",
    wakes: ["router", "director"],
    logged: "accepted",
  }),
  routed: row<RoutedBody>(RoutedBody, {
    about: "run",
    from: "record",
    wakes: ["director"],
    logged: "routed",
  }),
  dispatch: row<DispatchBody>(DispatchBody, {
    about: "attempt",
    from: "record",
    wakes: ["associate"],
    logged: "dispatched",
  }),
  claim: row<ClaimBody>(ClaimBody, {
    about: "attempt",
    from: "record",
    wakes: ["director"],
    logged: "claimed",
  }),
  result: row<ResultBody>(ResultBody, {
    about: "attempt",
    from: "record",
    wakes: ["director"],
    logged: "result",
  }),
  verdict: row<VerdictBody>(VerdictBody, {
    about: "attempt",
    from: "record",
    signed: true,
    logged: "verdict",
  }),
  landing: row<LandingBody>(LandingBody, {
    about: "attempt",
    from: "record",
    signed: true,
    logged: "landed",
  }),
  cancel: row<CancelBody>(CancelBody, {
    about: "either",
    from: "outside",
    wakes: ["director"],
    logged: "cancel asked for",
  }),
  input: row<InputBody>(InputBody, {
    about: "either",
    from: "outside",
    wakes: ["director"],
    logged: "input",
  }),
  approval: row<ApprovalBody>(ApprovalBody, {
    about: "number",
    from: "outside",
    wakes: ["director"],
    logged: "decided by a person",
  }),
  control: row<ControlBody>(ControlBody, {
    about: "number",
    from: "outside",
    wakes: ["director"],
    logged: "control",
  }),
  message: row<MessageBody>(MessageBody, {
    about: "number",
    from: "outside",
    logged: "told by a person",
  }),
  requeue: row<RequeueBody>(RequeueBody, {
    about: "number",
    from: "outside",
    wakes: ["router", "director", "associate"],
    logged: "requeued",
  }),
  due: row<DueBody>(DueBody, { about: "attempt", from: "outside", wakes: ["director"], logged: "due" }),
  closed: row<ClosedBody>(ClosedBody, { about: "run", from: "record", signed: true, logged: "closed" }),
  archived: row<ArchivedBody>(ArchivedBody, {
    about: "number",
    from: "record",
    storage: true,
    logged: "archived",
  }),
  restored: row<RestoredBody>(RestoredBody, {
    about: "number",
    from: "record",
    storage: true,
    logged: "restored",
  }),
};
export type JournalType = keyof typeof RECORDS;
export const JOURNAL_TYPES = Object.keys(RECORDS) as JournalType[];

export type JournalBodies = {
  [T in JournalType]: (typeof RECORDS)[T]["typed"];
};

const typesWhere = (holds: (facts: Facts) => boolean): readonly JournalType[] =>
  JOURNAL_TYPES.filter((type) => holds(RECORDS[type]));

export const STORAGE_TYPES = typesWhere(({ storage }) => storage === true);
export const SIGNED_TYPES = typesWhere(({ signed }) => signed === true);
export const WORDS_FROM_OUTSIDE = typesWhere(({ from }) => from === "outside");
/** The types that wake a service; a test checks the consumers' filters. */
export const typesFor = (reader: RecordReader): readonly JournalType[] =>
  typesWhere(({ wakes = [] }) => wakes.includes(reader));
export const LEAF_TYPES = typesWhere(({ wakes = [] }) => wakes.length === 0);
