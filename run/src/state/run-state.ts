/**
 * The state of one run, folded from its records: the facts (`run-facts.ts`) and the Director's decisions.
 *
 * Lifecycle of a task: open -> dispatched -> claimed -> proposed -> [awaiting ->] accepted -> done. An expired lease, a
 * rejection or an answer leads back to open at the next epoch; failed is the other end. A task that judges the change of
 * another one ends as passed, and begins again with the next change. Each phase holds its own facts, so a phase cannot
 * carry a fact of another one.
 *
 * Promises:
 *   run/R1 Because two Directors and every rebuild must come to the same result, the state and the view of a run are
 *     functions of its records in stream order: they use no clock, no id and no randomness, and a timer, which may fire
 *     twice or late, changes a run only through a record.
 *   run/R2 Because an Associate that lost its lease may still write, nothing of an older epoch counts: its record
 *     changes neither the task nor its step in the view and is refused with the reason, and its sandbox leaves no
 *     checkpoint any more.
 *   run/R3 Because a reported end must hold, a task that is `done` or `failed` and a run that is closed never change
 *     again and start no effect.
 */
import type {
  CancelBody,
  ClosedBody,
  CriteriaQuestion,
  EvidenceRef,
  Feedback,
  PlannedGate,
  PlannedTask,
  ResultBody,
  RoutedBody,
  VerdictBody,
} from "@antiphon/contracts";
import { noFacts, type RunFacts } from "../facts/run-facts.ts";

export type Reported = Extract<ResultBody, { kind: "reported" }>;

export type TaskPhase =
  | { kind: "open"; epoch: number }
  /** Lost repeatedly: `epoch` is the lost attempt; the next one is dispatched after `until`. */
  | { kind: "resting"; epoch: number; until: Date }
  | { kind: "dispatched"; epoch: number; base: string; at: Date }
  | { kind: "claimed"; epoch: number; base: string; at: Date; associate: string }
  | { kind: "proposed"; epoch: number; base: string; seq: number; at: Date; report: Reported }
  /**
   * Verified, and people or skills decide whether it lands. An approval names it by `digest`, the digest of the verdict's
   * record.
   */
  | {
      kind: "awaiting";
      epoch: number;
      report: Reported;
      at: Date;
      verdict: VerdictBody;
      digest: string;
      /** The people who approved so far, each once. */
      approvedBy: readonly string[];
      /** The tasks that judge it and have not passed it yet, in their order. */
      gates: readonly string[];
    }
  | { kind: "accepted"; epoch: number; report: Reported; at: Date; verdict: VerdictBody }
  /** `criteria`: it was not an attempt that asked, but the Director before the first one. */
  | { kind: "asking"; epoch: number; at: Date; questions: string[]; criteria?: AskedCriteria }
  /** Only of a task that judges: it has passed the change that it was given. */
  | { kind: "passed"; epoch: number; verdict: VerdictBody }
  /** `left`: the commit it landed as; if it changed nothing, the one it started from. */
  | { kind: "done"; epoch: number; commit: string | null; left: string; verdict: VerdictBody }
  | { kind: "failed"; epoch: number; code: string; message: string };

/** The questions about missing checks. Without an answer in time, the task ends with the code. */
export interface AskedCriteria {
  readonly asks: readonly CriteriaQuestion[];
  readonly code: string;
  readonly message: string;
}

export interface TaskState {
  /** As the Router planned it, with the checks that a person gave since. */
  readonly planned: PlannedTask;
  readonly phase: TaskPhase;
  /** Attempts that ended in a rejection. A lost attempt is not the task's fault and is not counted. */
  readonly rejections: number;
  readonly lapses: number;
  /** Attempts that never had a sandbox. */
  readonly outages: number;
  readonly feedback: readonly Feedback[];
  readonly answers: readonly { question: string; answer: string }[];
  readonly evidence: readonly EvidenceRef[];
  /** Only of a task that judges: the change that it was given last. */
  readonly judges?: Given;
}

/** Names a change that a task judges. */
export interface Given {
  readonly attempt: number;
  /** The try to land the run on its target branch; null: the change has not landed anywhere yet. */
  readonly integration: number | null;
}

/** Landing of the finished run on the branch that the caller asked for. */
export type Integration =
  | { kind: "none" }
  | { kind: "open"; epoch: number }
  /** Verified on a branch that moved, and skills judge it again. `gates`: the tasks that have not passed it yet. */
  | { kind: "judging"; epoch: number; verdict: VerdictBody; at: Date; gates: readonly string[] }
  | { kind: "accepted"; epoch: number; verdict: VerdictBody; at: Date }
  | { kind: "landed"; epoch: number; commit: string; ref: string }
  | { kind: "refused"; epoch: number; code: string; message: string };

export interface RunState {
  readonly runId: string;
  /** The Director's bounds for this run. */
  readonly policy: RunPolicy;
  /** What the records say. The other fields follow from the records that fit the state of the run. */
  readonly facts: RunFacts;
  readonly routed: RoutedBody | null;
  readonly tasks: readonly TaskState[];
  /** The commit at the tip of `antiphon/<runId>`; the base commit until something lands. */
  readonly head: string;
  readonly integration: Integration;
  /** A person takes the changes without proof, as the option `allow_unverified` does. */
  readonly unverified: boolean;
  readonly cancel: CancelBody | null;
  readonly closed: ClosedBody | null;
  readonly lastSeq: number;
  /** Digests of all records folded so far, in stream order; `closed` seals them. */
  readonly digests: readonly string[];
  /** The last refused record and the reason, for the log. */
  readonly refused: { seq: number; reason: string } | null;
}

export interface RunPolicy {
  readonly maxAttempts: number;
  readonly maxLapses: number;
  readonly maxOutages: number;
  readonly maxIntegrations: number;
  /** First backoff after repeated losses, in milliseconds. Default limits.lapseRestMs. */
  readonly restMs?: number;
}

export function emptyRun(runId: string, policy: RunPolicy): RunState {
  return {
    runId,
    policy,
    facts: noFacts(runId),
    routed: null,
    tasks: [],
    head: "",
    integration: { kind: "none" },
    unverified: false,
    cancel: null,
    closed: null,
    lastSeq: 0,
    digests: [],
    refused: null,
  };
}

export function isActive(task: TaskState): boolean {
  const kind = task.phase.kind;
  return kind === "dispatched" || kind === "claimed" || kind === "proposed" || kind === "accepted";
}

/** run/R12: no task begins while a person is asked what would prove the run. */
function asksForCriteria({ tasks }: Work): boolean {
  return tasks.some(({ phase }) => phase.kind === "asking" && phase.criteria !== undefined);
}

type Work = Pick<RunState, "tasks" | "integration">;

export function isReady(task: TaskState, run: Work): boolean {
  if (task.phase.kind !== "open" || asksForCriteria(run)) return false;
  if (task.planned.gate !== undefined) return isAsked(task.planned, task.planned.gate, run);
  return task.planned.deps.every((dep) =>
    run.tasks.some((other) => other.planned.task.task_id === dep && other.phase.kind === "done"),
  );
}

/** run/R10: a skill begins when a verified change waits for it and for no skill before it. */
function isAsked(
  { task: { task_id } }: PlannedTask,
  { of }: PlannedGate,
  { tasks, integration }: Work,
): boolean {
  if (integration.kind === "judging") {
    const asked = integration.verdict.replayed?.find(({ task }) => task === of)?.gates ?? [];
    return asked.find((gate) => integration.gates.includes(gate)) === task_id;
  }
  const phase = tasks.find(({ planned }) => planned.task.task_id === of)?.phase;
  return phase?.kind === "awaiting" && phase.gates[0] === task_id;
}

/** Nothing more comes of the task. One that judges is over with the task whose changes it judges, and not while it judges again. */
export function isOver({ planned: { gate, task }, phase }: TaskState, { tasks, integration }: Work): boolean {
  if (gate === undefined) return phase.kind === "done";
  if (integration.kind === "judging" && integration.gates.includes(task.task_id)) return false;
  return tasks.some(({ planned, phase: other }) => planned.task.task_id === gate.of && other.kind === "done");
}
