/**
 * Decides whether a task was given up with cause. A Director gives up a task (`ANT_TASK_POISON`) when it lost more attempts
 * than `limits.maxLapses`. That is legal if the task was planted to end every process that claims it, or if the rig's own
 * faults explain each loss.
 *
 * A fault explains the loss of an attempt that was active during the fault or shortly afterwards. A momentary fault explains
 * one loss of a task; a lasting one explains another for each lease of its length. Damage that outlives a fault is therefore
 * not explained by it. Faults on processes that no attempt depends on (gateway, Router, Director) explain nothing. An attempt
 * that got no sandbox needs such a fault too, unless all sandboxes were in use.
 */
import { limits, type ResultBody, type StoredRecord } from "@antiphon/contracts";
import type { History, InjectedFault } from "./history.ts";
import { violation, type RunFacts, type Violation } from "./invariant.ts";

/** How long a fault has effects after its end: a process starts, connects again, and resumes its work. */
const FELT_MS = 15_000;
/** Roles whose faults can cost an attempt. Null: the server, which all of them need. */
const CARRIERS: ReadonlySet<string | null> = new Set([null, "associate", "sandbox-runner"]);

type AbandonedOrLapsed = Exclude<ResultBody, { kind: "reported" }>;

interface Unreported {
  readonly taskId: string;
  readonly body: AbandonedOrLapsed;
  readonly loss: Loss;
}

/** An attempt that ended without a report, and when it was active. */
interface Loss {
  readonly epoch: number;
  readonly seq: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export function givenUpWithoutCause(run: RunFacts, history: History): Violation[] {
  if (!history.witnessed.faults || history.poisonous.includes(run.runId)) return [];
  const faults = history.faults.filter(({ role }) => CARRIERS.has(role));
  return [...lossesOf(run.records)].flatMap(([taskId, losses]) => {
    if (losses.length <= limits.maxLapses) return [];
    const unexplained = unmatched(losses, faults);
    if (unexplained.length === 0) return [];
    const epochs = unexplained.map(({ epoch }) => epoch).join(", ");
    const what = `${taskId} was given up after ${losses.length} lost attempts, and no fault explains the loss of ${epochs}`;
    const seqs = unexplained.map(({ seq }) => seq);
    return [violation("I11", run.runId, { rule: "given-up-without-cause", seqs, what })];
  });
}

/** Attempts that got no sandbox although no fault explains it. */
export function outageWithoutCause(run: RunFacts, history: History): Violation[] {
  if (!history.witnessed.faults) return [];
  const faults = history.faults.filter(({ role }) => CARRIERS.has(role));
  return attemptsWithoutReport(run.records)
    .filter(({ body, loss }) => isOutage(body) && !faults.some((fault) => isFelt(fault, loss)))
    .map(({ taskId, loss }) => {
      const what = `${taskId} had no sandbox in attempt ${loss.epoch}, and no fault explains that`;
      return violation("I11", run.runId, { rule: "outage-without-cause", seqs: [loss.seq], what });
    });
}

function isOutage(body: AbandonedOrLapsed): boolean {
  return body.kind === "abandoned" && body.outage === true && body.code !== "ANT_SANDBOX_BUSY";
}

function lossesOf(records: readonly StoredRecord[]): Map<string, Loss[]> {
  const losses = new Map<string, Loss[]>();
  for (const { taskId, body, loss } of attemptsWithoutReport(records)) {
    if (body.kind === "abandoned" && body.outage === true) continue; // An outage does not count towards poison.
    losses.set(taskId, [...(losses.get(taskId) ?? []), loss]);
  }
  return losses;
}

function attemptsWithoutReport(records: readonly StoredRecord[]): Unreported[] {
  const begun = new Map<string, number>();
  const found: Unreported[] = [];
  for (const { type, taskId, epoch, seq, at, body } of records) {
    if (taskId === null) continue;
    const untilMs = at.getTime();
    if (type === "dispatch") begun.set(`${taskId} ${epoch}`, untilMs);
    if (type !== "result" || body.kind === "reported") continue;
    const fromMs = begun.get(`${taskId} ${epoch}`) ?? untilMs;
    found.push({ taskId, body, loss: { epoch, seq, fromMs, untilMs } });
  }
  return found;
}

/** The losses that remain after as many as possible were matched with a fault of their own. */
function unmatched(losses: readonly Loss[], faults: readonly InjectedFault[]): Loss[] {
  const slots = faults.flatMap((fault) => Array.from({ length: costOf(fault) }, () => fault));
  const takenBy = new Map<number, Loss>();
  const settles = (loss: Loss, tried: Set<number>): boolean =>
    slots.some((fault, slot) => {
      if (tried.has(slot) || !isFelt(fault, loss)) return false;
      tried.add(slot);
      const other = takenBy.get(slot);
      if (other !== undefined && !settles(other, tried)) return false;
      takenBy.set(slot, loss);
      return true;
    });
  return losses.filter((loss) => !settles(loss, new Set()));
}

/** The number of losses that a fault explains. */
function costOf({ fromMs, untilMs }: InjectedFault): number {
  return 1 + Math.floor((untilMs - fromMs) / limits.probedAckWaitMs);
}

/** Whether the attempt was active during the fault or shortly afterwards. */
function isFelt({ fromMs, untilMs }: InjectedFault, loss: Loss): boolean {
  return fromMs <= loss.untilMs && untilMs + FELT_MS >= loss.fromMs;
}
