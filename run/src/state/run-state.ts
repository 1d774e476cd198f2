/**
 * What the Director knows of one run: a fold of the run's records, nothing else.
 *
 * Lifecycle of a task: open -> dispatched -> claimed -> proposed -> [awaiting ->] accepted -> done, with the ways back
 * (lapsed, rejected or answered -> open at the next epoch) and the way out (failed). Resources and facts
 * live on the phase that owns them, so a phase can never carry a fact of another one.
 *
 * Invariants:
 *   D1 Only a record of the task's current epoch changes the task; an older one is refused.
 *   D2 `done` and `failed` never change.
 *   D3 The state is a function of the records in stream order: no clock, no id, no randomness.
 */
import type {
  CancelBody,
  ClosedBody,
  ControlBody,
  EvidenceRef,
  Feedback,
  IntentBody,
  PlannedTask,
  ResultBody,
  RoutedBody,
  VerdictBody,
} from "@antiphon/contracts";

export type Reported = Extract<ResultBody, { kind: "reported" }>;

export type TaskPhase =
  | { kind: "open"; epoch: number }
  /** Lost again and again: `epoch` is the lost one, the next is handed out when the rest is over. */
  | { kind: "resting"; epoch: number; until: Date }
  | { kind: "dispatched"; epoch: number; base: string; at: Date }
  | { kind: "claimed"; epoch: number; base: string; at: Date; associate: string }
  | { kind: "proposed"; epoch: number; base: string; seq: number; at: Date; report: Reported }
  /** Verified; people decide whether it lands. An approval names it by `digest`, that of the verdict's record. */
  | {
      kind: "awaiting";
      epoch: number;
      report: Reported;
      at: Date;
      verdict: VerdictBody;
      digest: string;
      /** Who approved so far, each once. */
      approvedBy: readonly string[];
    }
  | { kind: "accepted"; epoch: number; report: Reported; at: Date; verdict: VerdictBody }
  | { kind: "asking"; epoch: number; at: Date; questions: string[] }
  | { kind: "done"; epoch: number; commit: string | null; verdict: VerdictBody }
  | { kind: "failed"; epoch: number; code: string; message: string };

export interface TaskState {
  readonly planned: PlannedTask;
  readonly phase: TaskPhase;
  /** Attempts that ended in a rejection; a lapsed or abandoned one is not the task's fault. */
  readonly rejections: number;
  readonly lapses: number;
  /** Attempts that never had a sandbox. */
  readonly outages: number;
  readonly feedback: readonly Feedback[];
  readonly answers: readonly { question: string; answer: string }[];
  readonly evidence: readonly EvidenceRef[];
}

/** Who has to agree before a verified change lands; `needed` 0: nobody. */
export interface ApprovalRule {
  readonly needed: number;
  readonly requester: string;
}

/** Landing the finished run on the branch the caller asked for. */
export type Integration =
  | { kind: "none" }
  | { kind: "open"; epoch: number }
  | { kind: "accepted"; epoch: number; verdict: VerdictBody; at: Date }
  | { kind: "landed"; epoch: number; commit: string; ref: string }
  | { kind: "refused"; epoch: number; code: string; message: string };

export interface RunState {
  readonly runId: string;
  readonly intent: IntentBody | null;
  /** When it was asked for, by the stream's clock. */
  readonly openedAt: Date | null;
  readonly routed: RoutedBody | null;
  readonly tasks: readonly TaskState[];
  /** The commit at the tip of `antiphon/<runId>`; the base commit until something lands. */
  readonly head: string;
  readonly integration: Integration;
  readonly cancel: CancelBody | null;
  /** The last word of people about going on; `pause` holds back everything that is not under way. */
  readonly control: { readonly n: number; readonly kind: ControlBody["kind"] } | null;
  readonly closed: ClosedBody | null;
  readonly lastSeq: number;
  /** Digests of all records folded so far, in stream order; `closed` seals them. */
  readonly digests: readonly string[];
  /** The record that was refused last and why, for the log. */
  readonly refused: { seq: number; reason: string } | null;
}

export interface RunPolicy {
  readonly maxAttempts: number;
  readonly maxLapses: number;
  readonly maxOutages: number;
  readonly maxIntegrations: number;
  /** First rest after repeated losses, in milliseconds. Default limits.lapseRestMs. */
  readonly restMs?: number;
}

export function emptyRun(runId: string): RunState {
  return {
    runId,
    intent: null,
    openedAt: null,
    routed: null,
    tasks: [],
    head: "",
    integration: { kind: "none" },
    cancel: null,
    control: null,
    closed: null,
    lastSeq: 0,
    digests: [],
    refused: null,
  };
}

export function approvalRuleOf({ intent }: Pick<RunState, "intent">): ApprovalRule {
  return { needed: intent?.options.approvals?.needed ?? 0, requester: intent?.principal ?? "" };
}

/** Nothing new is dispatched; what is under way may finish, be verified and land. */
export function isPaused(run: Pick<RunState, "control">): boolean {
  return run.control?.kind === "pause";
}

export function isActive(task: TaskState): boolean {
  const kind = task.phase.kind;
  return kind === "dispatched" || kind === "claimed" || kind === "proposed" || kind === "accepted";
}

export function isReady(task: TaskState, tasks: readonly TaskState[]): boolean {
  if (task.phase.kind !== "open") return false;
  return task.planned.deps.every((dep) =>
    tasks.some((other) => other.planned.task.task_id === dep && other.phase.kind === "done"),
  );
}
