/**
 * The legal life of a task, defined a second time and apart from the Director, on purpose: the product must not judge itself,
 * so `next` uses none of its code. A row is a phase, a column is the meaning of a record, and an empty field is illegal. A
 * record of another epoch than the task's own never changes the task.
 */
import type { StoredRecord } from "@antiphon/contracts";

export type Phase =
  | "open"
  | "resting"
  | "dispatched"
  | "claimed"
  | "proposed"
  | "awaiting"
  | "accepted"
  | "asking"
  | "done"
  | "failed";

/** The meaning of a record for the task. */
export type Word =
  | "dispatch"
  | "claim"
  | "proposal"
  | "question"
  | "failure"
  | "final failure"
  | "loss"
  | "outage"
  | "pass"
  | "pass to decide"
  | "pass without change"
  | "rejection"
  | "final rejection"
  | "landed"
  | "landing refused"
  | "input"
  | "approval"
  | "last approval"
  | "reject"
  | "changes"
  | "rest over"
  | "no answer in time";

/** The next phase. `again`: open at the next epoch, or failed at the bound; `waits`: a backoff, or failed at the bound. */
type Next = Phase | "again" | "lost" | "waits";

const TABLE: { readonly [P in Phase]: { readonly [W in Word]?: Next } } = {
  open: { dispatch: "dispatched", question: "asking", rejection: "failed", "final rejection": "failed" },
  resting: { "rest over": "open" },
  dispatched: { claim: "claimed", loss: "lost", outage: "waits" },
  claimed: {
    proposal: "proposed",
    question: "asking",
    failure: "again",
    "final failure": "failed",
    loss: "lost",
    outage: "waits",
  },
  proposed: {
    pass: "accepted",
    "pass to decide": "awaiting",
    "pass without change": "done",
    rejection: "again",
    "final rejection": "failed",
  },
  awaiting: { approval: "awaiting", "last approval": "accepted", reject: "failed", changes: "again" },
  accepted: { landed: "done", "landing refused": "failed" },
  asking: { input: "again", reject: "failed", changes: "again", "no answer in time": "failed" },
  done: {},
  failed: {},
};

/** A better patch cannot fix these: a check or a grant is missing. */
const FINAL: ReadonlySet<string> = new Set([
  "ANT_VERIFY_CRITERION",
  "ANT_VERIFY_NO_CHECK",
  "ANT_VERIFY_PROVES_NOTHING",
]);
/** Another attempt cannot fix these: the run asks for an image that it cannot have, or has no money left. */
const FINAL_FAILURES: ReadonlySet<string> = new Set([
  "ANT_EGRESS_BUDGET",
  "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
  "ANT_SANDBOX_IMAGE_UNUSABLE",
]);

export function wordOf(record: StoredRecord): Word | null {
  switch (record.type) {
    case "dispatch":
    case "claim":
      return record.type;
    case "input": {
      const { event, choice } = record.body;
      return event === "approval" && (choice === "reject" || choice === "changes") ? choice : "input";
    }
    case "due":
      return record.body.kind === "rest" ? "rest over" : "no answer in time";
    case "result":
      if (record.body.kind === "abandoned" && record.body.outage === true) return "outage";
      if (record.body.kind !== "reported") return "loss";
      if (record.body.result.status === "ok") return "proposal";
      if (record.body.result.status === "needs_input") return "question";
      return FINAL_FAILURES.has(record.body.code ?? "") ? "final failure" : "failure";
    case "verdict":
      if (record.body.asks !== undefined) return "question";
      if (record.body.verdict !== "PASS") {
        return FINAL.has(record.body.code ?? "") ? "final rejection" : "rejection";
      }
      return record.body.commit === null ? "pass without change" : "pass";
    case "landing":
      return record.body.kind === "landed" ? "landed" : "landing refused";
    default:
      return null;
  }
}

export interface TaskLife {
  readonly phase: Phase;
  readonly epoch: number;
  readonly rejections: number;
  readonly losses: number;
  readonly outages: number;
}

export const UNBORN: TaskLife = { phase: "open", epoch: 1, rejections: 0, losses: 0, outages: 0 };

export interface Bounds {
  readonly maxAttempts: number;
  readonly maxLapses: number;
  readonly maxOutages: number;
}

/** The task after the record; null: the record is illegal there. */
export function next(task: TaskLife, word: Word, bounds: Bounds): TaskLife | null {
  const to = TABLE[task.phase][word];
  if (to === undefined) return null;
  if (to === "lost") {
    const losses = task.losses + 1;
    if (losses > bounds.maxLapses) return { ...task, losses, phase: "failed" };
    // The first loss may be bad luck; from the second on the task backs off before it is dispatched again.
    if (losses >= 2) return { ...task, losses, phase: "resting" };
    return { ...task, losses, phase: "open", epoch: task.epoch + 1 };
  }
  if (to === "waits") {
    const outages = task.outages + 1;
    return { ...task, outages, phase: outages > bounds.maxOutages ? "failed" : "resting" };
  }
  if (word === "rest over") return { ...task, phase: "open", epoch: task.epoch + 1 };
  if (to === "again") {
    if (word === "input") return { ...task, phase: "open", epoch: task.epoch + 1 };
    const rejections = task.rejections + 1;
    if (rejections >= bounds.maxAttempts) return { ...task, rejections, phase: "failed" };
    return { ...task, rejections, phase: "open", epoch: task.epoch + 1 };
  }
  return { ...task, phase: to };
}
