/**
 * Carries out one attempt: context -> agent -> sandbox (work, then self-verification) -> diff -> evidence.
 *
 * It ends with a report, with the infrastructure fault that prevented one, or, when it is stopped, without either. An attempt
 * of a canceled run is stopped too, but what its agent has left until then may have been paid for: it is read from the
 * sandbox, stored, and reported as a failure, until `giveUp` aborts.
 *
 * Promises:
 *   associate/A5 Because a fault of the infrastructure says nothing about the task, it is tried again while patience and
 *     budget last and then abandoned, and is never reported as a failure of the task.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { BlobRef, DispatchBody, SandboxOutcome } from "@antiphon/contracts";
import { agentFor } from "../agents/agent-for.ts";
import { gitTask } from "../agents/git-task.ts";
import type { AttemptEnd, Stopped, StopReason } from "./attempt-end.ts";
import { briefJson } from "./brief.ts";
import { briefRoom, budgetMsOf, planJob, TOOLS_STEP, type JobPlan } from "./attempt.ts";
import { unstartable } from "./check-programs.ts";
import { merged, withoutJunk } from "./change.ts";
import type { Mailbox, Told } from "./mailbox.ts";
import { withObjects, withTreesAgain } from "./export-again.ts";
import { endingOf, overBudget } from "./ending.ts";
import { earlierOf } from "./earlier.ts";
import { isOwnFault } from "./fault.ts";
import { withSections } from "./feedback.ts";
import { NO_CHANGE } from "../ports.ts";
import type { AttemptPorts, Change, ExportAgain } from "../ports.ts";
import { DIFF_FILE } from "../evidence/bundle.ts";
import { reported } from "../evidence/proposal.ts";
import { ownQuestion, questionIn, questionLeft, withoutQuestion } from "../evidence/question.ts";
import type { Ran, Work } from "../evidence/proposal.ts";
import { withoutAccount } from "../evidence/transcript.ts";
import type { Ending } from "../evidence/report.ts";
import { recordedCalls } from "../replay/recorded-attempt.ts";
import { RunningJob } from "./running-job.ts";
import { jobOf, runJob } from "./sandbox-job.ts";

export interface AttemptOrder {
  readonly runId: string;
  readonly epoch: number;
  readonly dispatch: DispatchBody;
  readonly associate: string;
  /** Carried out once more: the job has a name of its own, and a record answers its model calls. */
  readonly replay?: {
    readonly id: string;
    readonly calls: readonly BlobRef[];
    /** Messages that it had in its brief, and those that it read later, with the look that read each. */
    readonly briefed: readonly Told[];
    readonly read: readonly (Told & { readonly look: number })[];
  };
  /** The earlier attempt, lost with its process, from whose model calls it goes on. Absent: none. */
  readonly resumes?: number;
  /** Absent: nobody can tell it anything. */
  readonly mailbox?: Mailbox;
  /** The record answers these model calls, and the model those after them. Absent: none. */
  readonly recorded?: readonly BlobRef[];
}

export interface Stops {
  /** Ends the work. Its reason is a StopReason. */
  readonly stop: AbortSignal;
  /** Ends also the wait for what the work has left. It never aborts before `stop`. */
  readonly giveUp: AbortSignal;
}

export async function carryOut(order: AttemptOrder, given: AttemptPorts, stops: Stops): Promise<AttemptEnd> {
  const { stop, giveUp } = stops;
  const ports = withTreesAgain(order, given, giveUp);
  try {
    const ran = await attempted(order, ports, stops);
    if (giveUp.aborted || (stop.aborted && !hasLeft(ran))) return stoppedBy(stop);
    const body = await reported(order, ports, stop.aborted ? canceledIn(ran) : ran);
    return giveUp.aborted ? stoppedBy(stop) : { kind: "reported", body };
  } catch (thrown) {
    const { code, detail, data } = AntiphonError.from(thrown);
    const message = detail.slice(0, 2048);
    if (stop.aborted) {
      return { ...stoppedBy(stop), ...(data["mayLive"] === true ? { left: { code, message } } : {}) }; // associate/A3
    }
    ports.log.warn({ err: thrown, code, run: order.runId, epoch: order.epoch }, "attempt abandoned");
    return { kind: "abandoned", code, message, ...(data["outage"] === true ? { outage: true } : {}) }; // associate/A5
  }
}

function stoppedBy(stop: AbortSignal): Stopped {
  return { kind: "stopped", why: stop.reason as StopReason };
}

/** A sandbox that was stopped before its first command has nothing to keep. */
const hasLeft = ({ outcome }: Ran): boolean => outcome !== null && outcome.steps.length > 0;

/** A question or a proposal of a canceled run asks for nothing more, so its attempt ends as stopped. */
function canceledIn(ran: Ran): Ran {
  if (ran.ending.kind === "stopped") return ran;
  return {
    ...ran,
    ending: { kind: "stopped", code: "ANT_SANDBOX_CANCELED", message: "the run was canceled" },
  };
}

/** Throws infrastructure faults. */
export async function attempted(order: AttemptOrder, ports: AttemptPorts, stops: Stops): Promise<Ran> {
  const { dispatch } = order;
  const { stop, giveUp } = stops;
  const deadlineMs = ports.clock.now() + budgetMsOf(dispatch);
  const nothing = { plan: null, outcome: null, change: NO_CHANGE, work: null };
  try {
    // The diff at the end needs the tree; fetching it now overlaps with the sandbox's work.
    ports.trees
      .ensure(dispatch.base, giveUp)
      .catch((error: unknown) => ports.log.debug({ err: error }, "could not fetch the base tree early"));
    const { trees, recordings, compiled } = ports;
    const { epoch, runId } = order;
    const held = ports.held?.take({ runId, taskId: dispatch.task.task_id, epoch }, dispatch.answers) ?? null;
    if (held !== null) {
      ports.progress("the container that asked goes on with the answer");
      return await followed(held, order, ports, stops);
    }
    const previousDiff = await previousDiffOf(order, ports);
    const told = await withSections(order, ports);
    const before = dispatch.continue_change === true ? await continued(dispatch, previousDiff, ports) : null;
    const isApplied = before !== null;
    const judged = await judgedIn(dispatch, ports);
    const briefed = order.replay?.briefed ?? order.mailbox?.forBrief() ?? [];
    const diffs = { previousDiff, isApplied, judged, earlier: await earlierOf(order, ports) };
    const stores = { trees, recordings, compiled, mayReuse: mayReuse(order) };
    const context = { dispatch: told, epoch, ...diffs, told: briefed, ...stores };
    const isGit = dispatch.task.kind === "git";
    const prepared = isGit ? gitTask(dispatch) : await agentFor(dispatch.agent).prepare(context);
    if (prepared.kind === "ask")
      return { ...nothing, ending: { kind: "asks", questions: prepared.questions } };
    const brief = briefJson(told, epoch, {
      maxChars: briefRoom(prepared.steps.length),
      ...diffs,
      told: briefed,
    });
    const change = merged(before ?? NO_CHANGE, prepared.change);
    const recorded = await recordedBefore(order, ports);
    return await inSandbox(
      { ...order, brief, briefed, recorded },
      ports,
      { ...prepared, change },
      deadlineMs,
      stops,
    );
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    if (stop.aborted || !isOwnFault(code)) throw thrown; // associate/A5
    return { ...nothing, ending: { kind: "stopped", code, message: detail } };
  }
}

/** Those of the attempt that a fork begins again. A replay has its own. */
async function recordedBefore(
  { dispatch: { fork }, replay }: AttemptOrder,
  { evidence }: AttemptPorts,
): Promise<readonly BlobRef[]> {
  return fork === undefined || replay !== undefined ? [] : recordedCalls(fork, evidence);
}

/** A fork asks its agent, and a replay of an attempt that asked gives it the recorded answers. */
function mayReuse({ dispatch: { fork }, replay }: AttemptOrder): boolean {
  return replay === undefined ? fork === undefined : replay.calls.length === 0;
}

/** The change that a skill judges, as the clean room verified it. A skill cannot do without it. */
async function judgedIn({ gate }: DispatchBody, { evidence }: AttemptPorts): Promise<string | null> {
  return gate === undefined ? null : evidence.text({ path: DIFF_FILE, blob: gate.diff });
}

/** Attempts that were lost, or only asked, have no change; the newest that is not older than this is told. */
const OLDEST_DIFF = 5;

/** Of the newest attempt that left one. It only helps the agent, so an attempt does without it if it cannot be read. */
async function previousDiffOf(
  { runId, epoch, dispatch }: AttemptOrder,
  { evidence, log }: AttemptPorts,
): Promise<string | null> {
  try {
    for (let at = epoch - 1; at >= Math.max(1, epoch - OLDEST_DIFF); at -= 1) {
      const diff = await evidence.diffOf(runId, dispatch.task.task_id, at);
      if (diff !== null) return diff;
    }
    const { fork } = dispatch;
    for (let at = (fork?.epoch ?? 1) - 1; fork !== undefined && at >= 1; at -= 1) {
      const diff = await evidence.diffOf(fork.run, fork.task, at);
      if (diff !== null) return diff;
    }
  } catch (error) {
    log.warn({ err: error, run: runId, epoch }, "the diff of the attempt before cannot be read");
  }
  return null;
}

/** The change to start from; null: there is none, or it does not fit the base any more. */
async function continued(
  { base }: DispatchBody,
  diff: string | null,
  { trees, progress }: AttemptPorts,
): Promise<Change | null> {
  if (diff === null) return null;
  try {
    return await trees.apply(base, diff);
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    if (!isOwnFault(code)) throw thrown; // associate/A5
    progress(
      `starts from the original files, because the change of the attempt before does not apply: ${detail}`,
    );
    return null;
  }
}

async function inSandbox(
  order: AttemptOrder & { readonly brief: string; readonly briefed: readonly Told[] },
  ports: AttemptPorts,
  work: Work,
  deadlineMs: number,
  stops: Stops,
): Promise<Ran> {
  const { dispatch, runId, epoch } = order;
  const budgetMs = budgetMsOf(dispatch);
  const plan = planJob({
    runId,
    epoch,
    dispatch,
    work: work.steps,
    selfVerify: work.selfVerify,
    isProgram: work.isProgram ?? false,
    mayAsk: work.mayAsk ?? work.isProgram ?? false,
    compiles: work.compiles !== undefined,
    brief: order.brief,
    budgetMs,
    probeTools: !ports.tools.has(dispatch.image ?? ""),
  });
  if (plan.steps.length === 0) {
    return { ending: { kind: "ran" }, plan, outcome: null, change: work.change, work };
  }
  const shortened = historyNote(dispatch);
  if (shortened !== null) ports.progress(shortened);
  const job = await jobOf(order, ports.overlays, plan, work.change);
  const messages = { briefed: order.briefed, first: order.replay?.read ?? [] };
  let until = deadlineMs;
  const exportAgain: ExportAgain = async (attempt, signal) => {
    const askedAt = ports.clock.now();
    await ports.exportAgain(attempt, signal);
    until += ports.clock.now() - askedAt; // waiting is free
  };
  const running = new RunningJob({ plan, work, budgetMs, ...messages }, (own, calls) =>
    withObjects(order, { ...ports, exportAgain }, own.stop, () =>
      runJob(job, plan, ports, until, own, calls),
    ),
  );
  return followed(running, order, ports, stops);
}

/** While the job runs, it is given what people tell the attempt. */
async function followed(
  running: RunningJob,
  order: AttemptOrder,
  ports: AttemptPorts,
  stops: Stops,
): Promise<Ran> {
  const stop = order.mailbox?.each((told) => running.tell(told));
  try {
    const ran = await ended(running, order, ports, stops);
    return ran.outcome === null ? ran : { ...ran, heard: running.heardIn(ran.outcome) };
  } finally {
    stop?.();
  }
}

/** Waits for the job's end or its next question. A job that asks is kept for the attempt that gets the answer. */
async function ended(
  running: RunningJob,
  { runId, epoch, dispatch }: AttemptOrder,
  ports: AttemptPorts,
  stops: Stops,
): Promise<Ran> {
  const { plan, work, budgetMs } = running.facts;
  let next = await running.next(stops);
  for (; "asked" in next; next = await running.next(stops)) {
    const { text } = next.asked;
    const known = dispatch.answers.findLast(({ question }) => question === text);
    if (known === undefined) break;
    running.answer(known.answer, epoch); // a fresh container comes to the same question
  }
  if ("asked" in next) {
    if (ports.held === undefined) running.drop();
    else ports.held.keep({ runId, taskId: dispatch.task.task_id, epoch }, running);
    const ending = { kind: "asks", questions: [next.asked.text] } as const;
    return { ending, plan, outcome: null, change: NO_CHANGE, work };
  }
  const { outcome } = next;
  if (outcome === "over-budget") {
    return { ending: overBudget(budgetMs, null), plan, outcome: null, change: NO_CHANGE, work };
  }
  keepTools(ports, dispatch, outcome);
  const collected = withoutAccount(await changeIn(outcome, ports), work.account);
  const { account } = collected;
  const after = withoutJunk(collected.change, work.junk ?? []);
  const left =
    ownQuestion(work.asks, outcome, collected.change) ??
    (work.mayAsk === true || work.isProgram === true ? questionLeft(outcome, after) : null);
  if (left !== null) {
    const ending = { kind: "asks", questions: [left] } as const;
    return { ending, plan, outcome, change: merged(work.change, withoutQuestion(after)), work, account };
  }
  const ending = endedIn(outcome, plan, budgetMs);
  return { ending, plan, outcome, change: merged(work.change, after), work, account };
}

function endedIn(outcome: SandboxOutcome, plan: JobPlan, budgetMs: number): Ending {
  const question = questionIn(outcome);
  if (question !== null) return { kind: "asks", questions: [question] };
  return (
    unstartable(
      plan.checks.map(({ command }) => command),
      outcome,
    ) ?? endingOf(outcome, [...plan.work, ...plan.checks], budgetMs)
  );
}

/** Says what of the history is not in the sandbox because it does not fit. */
function historyNote({ history }: DispatchBody): string | null {
  if (history === null) return "no git repository in the sandbox: the objects of its commit are too large";
  if (history?.cut !== true) return null;
  return `the git history in the sandbox ends after ${history.commits} commits, because more would be too large`;
}

async function changeIn(outcome: SandboxOutcome, ports: AttemptPorts): Promise<Change> {
  if (outcome.changes === null) return NO_CHANGE;
  const { overlay, deletions } = outcome.changes;
  return { files: await ports.overlays.unpack(overlay), deletions };
}

function keepTools(ports: AttemptPorts, dispatch: DispatchBody, outcome: SandboxOutcome): void {
  const probe = outcome.steps.find((step) => step.id === TOOLS_STEP);
  if (probe === undefined || probe.exitCode !== 0) return;
  const lines = probe.stdout.tail.split("\n").filter((line) => line.trim() !== "");
  ports.tools.set(dispatch.image ?? "", lines);
}
