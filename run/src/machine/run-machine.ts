/**
 * The Director's machine: the life of one run as an xstate machine whose events are journal records.
 *
 *   queued -> working <-> waiting_input -> integrating [-> working] -> settled -> closed
 *                |  \-> failing (no new work; active attempts may finish) -> settled
 *                \----> canceling (a change accepted before the cancel may land) -> settled
 *
 * It runs as a pure function: `replay` folds records by a table made from this definition, no action does IO.
 * `outstanding` derives the effects that are still to be done from a state, so a crash at any point only requires
 * folding the records again.
 *
 * A pause changes no state of the machine, so nothing is lost until the resume: attempts that are under way are verified and landed.
 *
 * Promises:
 *   run/R4 Because the order of the stream decides, every Director treats a cancel and a pause alike: a change whose
 *     verdict comes after the cancel never lands, one that was accepted before may finish landing, and a pause holds
 *     back new dispatches alone until the resume.
 *
 * A Director of the release before ends a run at a question about its criteria. That end counts, so a run may close while it
 * works or waits.
 */
import type { StoredRecord } from "@antiphon/contracts";
import { assign, setup, type SnapshotFrom } from "xstate";
import { foldRun, refuseRecord } from "../fold/run-fold.ts";
import {
  emptyRun,
  isActive,
  isOver,
  isReady,
  type RunPolicy,
  type RunState,
  type TaskState,
} from "../state/run-state.ts";

type RunEvent = { type: StoredRecord["type"]; record: StoredRecord };

const fold = { actions: "fold" } as const;
/** Records that attempts under way may still add. */
const attempts = { claim: fold, result: fold, verdict: fold, landing: fold } as const;

const failed = (run: RunState): boolean => run.tasks.some((task) => task.phase.kind === "failed");

export const runMachine = setup({
  types: {
    context: {} as RunState,
    events: {} as RunEvent,
    input: {} as { runId: string; policy: RunPolicy },
  },
  actions: {
    fold: assign(({ context, event }) => foldRun(context, event.record)),
    refuse: assign(({ context, event }) => refuseRecord(context, event.record)),
  },
  guards: {
    closed: ({ context }) => context.closed !== null,
    canceled: ({ context }) => context.cancel !== null,
    routed: ({ context }) => context.routed !== null,
    unplannable: ({ context }) => context.routed !== null && context.tasks.length === 0,
    failed: ({ context }) => failed(context),
    idle: ({ context }) => !isUnderWay(context),
    nothingAccepted: ({ context }) =>
      context.integration.kind !== "accepted" &&
      !context.tasks.some((task) => task.phase.kind === "accepted"),
    done: ({ context }) => context.tasks.every((task) => isOver(task, context)),
    wantsIntegration: ({ context }) =>
      context.integration.kind !== "none" && context.tasks.some((task) => isCommitted(task.phase)),
    integrated: ({ context }) =>
      context.integration.kind === "landed" || context.integration.kind === "refused",
    judgedAgain: ({ context }) => context.integration.kind === "judging",
    onlyWaiting: ({ context }) => onlyWaiting(context),
    progressing: ({ context }) => !onlyWaiting(context),
  },
}).createMachine({
  id: "run",
  context: ({ input }) => emptyRun(input.runId, input.policy),
  initial: "queued",
  on: { control: fold, requeue: fold, message: fold, "*": { actions: "refuse" } },
  states: {
    queued: {
      on: { intent: fold, routed: fold, cancel: fold },
      always: [
        { guard: "canceled", target: "settled" },
        { guard: "unplannable", target: "settled" },
        { guard: "routed", target: "working" },
      ],
    },
    working: {
      on: { dispatch: fold, ...attempts, input: fold, approval: fold, due: fold, cancel: fold, closed: fold },
      always: [
        { guard: "closed", target: "closed" },
        { guard: "canceled", target: "canceling" },
        { guard: "failed", target: "failing" },
        { guard: "done", target: "landed" },
        { guard: "onlyWaiting", target: "waiting_input" },
      ],
    },
    waiting_input: {
      on: { input: fold, approval: fold, landing: fold, due: fold, cancel: fold, closed: fold },
      always: [
        { guard: "closed", target: "closed" },
        { guard: "canceled", target: "canceling" },
        { guard: "failed", target: "failing" },
        { guard: "progressing", target: "working" },
      ],
    },
    failing: {
      on: { ...attempts, approval: fold, cancel: fold },
      always: [
        { guard: "canceled", target: "canceling" },
        { guard: "idle", target: "settled" },
      ],
    },
    canceling: {
      on: { landing: fold },
      always: [{ guard: "nothingAccepted", target: "settled" }],
    },
    landed: {
      always: [{ guard: "wantsIntegration", target: "integrating" }, { target: "settled" }],
    },
    integrating: {
      // A skill that was at work on a change that people sent back may still report.
      on: { ...attempts, input: fold, due: fold, cancel: fold },
      always: [
        { guard: "integrated", target: "settled" },
        { guard: "canceled", target: "canceling" },
        { guard: "judgedAgain", target: "working" },
      ],
    },
    settled: {
      on: { closed: fold },
      always: [{ guard: "closed", target: "closed" }],
    },
    closed: { type: "final" },
  },
});

export type RunStage = SnapshotFrom<typeof runMachine>["value"];

/**
 * A proposal behind a change that people or skills decide about is verified after that change landed (run/R5). A failing run
 * waits for neither.
 */
function isUnderWay({ tasks }: RunState): boolean {
  const isHeldUp = tasks.some(({ phase }) => phase.kind === "awaiting");
  const isQueued = ({ phase, planned }: TaskState): boolean =>
    isHeldUp && phase.kind === "proposed" && planned.gate === undefined;
  return tasks.some((task) => isActive(task) && !isQueued(task));
}

function onlyWaiting(run: RunState): boolean {
  return (
    run.tasks.some(({ phase }) => phase.kind === "asking" || phase.kind === "awaiting") &&
    !run.tasks.some((task) => isActive(task) || task.phase.kind === "resting") &&
    !run.tasks.some((task) => isReady(task, run))
  );
}

function isCommitted(phase: RunState["tasks"][number]["phase"]): boolean {
  return phase.kind === "done" && phase.commit !== null;
}
