/**
 * What the records of a run say, each kept with the attempt it belongs to. Facts need neither the Director's policy nor
 * its decisions, so whoever can read the records (gateway, command line) has the same facts as the Director, and a
 * record that came too late to decide anything is still shown. `RunState` adds what the Director decides from them.
 */
import type {
  CancelBody,
  ClosedBody,
  ControlBody,
  CriteriaQuestion,
  EvidenceRef,
  BlobRef,
  InputBody,
  IntentBody,
  JournalRecord,
  LandingBody,
  PlannedTask,
  ResultBody,
  RoutedBody,
  VerdictBody,
} from "@antiphon/contracts";
import type { Asked } from "@antiphon/contracts/runs/step-approval";
import type { StepApproval } from "@antiphon/contracts";

/** Time by the stream's clock. Over HTTP it is a text. */
export type StreamTime = Date | string;

/** A record as it is read, from the stream or over HTTP. */
export type ReadRecord = JournalRecord & {
  readonly digest: string;
  readonly at: StreamTime;
  readonly traceparent?: string;
};

/** One attempt at a task: its records, and the decisions of people about it. */
export interface Attempt {
  readonly epoch: number;
  /** False if the task could not be dispatched at this epoch, so that only a verdict tells of it. */
  readonly dispatched: boolean;
  readonly associate: string | null;
  readonly result: ResultBody | null;
  readonly verdict: VerdictBody | null;
  /** The Director's question to a person before the first attempt. Its epoch has no attempt and no verdict. Null: it asks none. */
  readonly criteria: { readonly asks: readonly CriteriaQuestion[]; readonly message: string } | null;
  /** The decision of people about the verified change; null if none is needed. */
  readonly approval: StepApproval | null;
  /** What skills found about the verified change. */
  readonly gates: GateFacts;
  /** The answer to the question of the attempt or of the Director. */
  readonly answer: { readonly at: string; readonly body: InputBody } | null;
  readonly landing: LandingBody | null;
  /** The backoff after the attempt is over. */
  readonly rested: boolean;
}

export interface GateFacts {
  /** The tasks of the skills that passed it. */
  readonly passed: readonly string[];
  /** Why it does not land; null: no skill says so. */
  readonly blocked: { readonly code: string; readonly message: string } | null;
}

export const NO_GATES: GateFacts = { passed: [], blocked: null };

export interface TaskFacts {
  readonly planned: PlannedTask;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
}

/** Evidence that a record names, also of an attempt that is no longer the current one. */
export interface EvidenceFact {
  readonly taskId: string;
  readonly epoch: number;
  readonly ref: EvidenceRef;
  /** `attempt`: from the Associate, with its patch. `verdict`: from the clean room. */
  readonly from: { kind: "attempt"; patch: BlobRef | null } | { kind: "verdict"; verdict: string };
  /** Stored after the end of the run. */
  readonly isLate: boolean;
}

/** An answer or a decision of a person. */
export interface PersonsWord {
  readonly type: "input" | "approval";
  readonly by: string;
  readonly choice: string;
  /** An answer that makes its writer one of those who asked for the work. */
  readonly instructs: boolean;
  readonly at: StreamTime;
  readonly task: string;
  readonly epoch: number;
}

/** What a person told an attempt. The attempts whose result names it have been given it. */
export interface PersonsMessage {
  readonly n: number;
  readonly task: string;
  readonly attempt: number;
  readonly by: string;
  readonly text: string;
  readonly at: StreamTime;
}

export interface RunFacts {
  readonly runId: string;
  readonly intent: IntentBody | null;
  readonly openedAt: StreamTime | null;
  /** Of the run's W3C trace context. */
  readonly traceId: string | null;
  readonly routed: RoutedBody | null;
  /** Null until the run is routed. A plan that comes after the end is not taken up. */
  readonly tasks: readonly TaskFacts[] | null;
  /** In stream order. */
  readonly evidence: readonly EvidenceFact[];
  readonly words: readonly PersonsWord[];
  /** What people told attempts while these worked, in the order of their numbers. */
  readonly messages: readonly PersonsMessage[];
  readonly cancel: CancelBody | null;
  /** The latest pause or resume. */
  readonly control: { readonly n: number; readonly kind: ControlBody["kind"] } | null;
  readonly requeues: number;
  /** The latest landing on the run's own branch. */
  readonly landed: Extract<LandingBody, { kind: "landed" }> | null;
  readonly closed: (ClosedBody & { readonly at: StreamTime }) | null;
}

export function noFacts(runId: string): RunFacts {
  return {
    runId,
    intent: null,
    openedAt: null,
    traceId: null,
    routed: null,
    tasks: null,
    evidence: [],
    words: [],
    messages: [],
    cancel: null,
    control: null,
    requeues: 0,
    landed: null,
    closed: null,
  };
}

/**
 * The people who asked for the work of a run, and the number of approvals that a verified change needs before it lands. People who
 * sent an attempt a message or answered its question asked for a part of the work, and so did those whose answer the run has from
 * the one that it retries or forks. People who requested changes to a verified change did not: they reviewed it. In records of older releases an answer does not count as a request, because the run may have
 * landed by an approval of the person who answered.
 */
export function askedOf({ intent, messages, words }: Pick<RunFacts, "intent" | "messages" | "words">): Asked {
  const answers = words.filter(({ instructs }) => instructs);
  const before = intent?.asked_by ?? [];
  const askers = [intent?.principal ?? "", ...before, ...[...messages, ...answers].map(({ by }) => by)];
  return { askers, needed: intent?.options.approvals?.needed ?? 0 };
}

/** Who chose the proof that a retry or a fork of this run takes over: in it, or in a run that it took its own from. */
export function provenBy({ intent, tasks }: Pick<RunFacts, "intent" | "tasks">): string[] {
  const answers = (tasks ?? []).flatMap(({ attempts }) =>
    attempts.flatMap(({ criteria, answer }) =>
      criteria === null || answer === null ? [] : [answer.body.by],
    ),
  );
  return [...new Set([...(intent?.asked_by ?? []), ...answers])];
}

/** Whether people hold the run. Attempts under way may finish, be verified and land; a closed run is not paused. */
export function isPaused({ control, closed }: Pick<RunFacts, "control" | "closed">): boolean {
  return control?.kind === "pause" && closed === null;
}

export const timeOf = (at: StreamTime): string => (typeof at === "string" ? at : at.toISOString());
