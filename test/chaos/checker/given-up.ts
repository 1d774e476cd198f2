/**
 * Was a task given up with cause? A Director gives one up (`ANT_TASK_POISON`) when more of its attempts were lost than
 * `limits.maxLapses`. That is legal for a task that was planted to end whoever claims it, and where the rig's own faults
 * explain each of the losses.
 *
 *   U1 A fault explains the loss of an attempt that was out while it lasted, or shortly afterwards.
 *   U2 A fault that is over at once explains one loss of a task; a lasting one another for each lease of its length. So
 *      whatever stays broken after a fault is not explained by it.
 *   U4 That no sandbox was to be had needs such a fault as well, except where all of them were taken.
 *   U3 What no attempt rests on (a gateway, a Router, a Director) explains nothing.
 */
import { limits, type ResultBody, type StoredRecord } from "@antiphon/contracts";
import type { History, InjectedFault } from "./history.ts";
import { violation, type RunFacts, type Violation } from "./invariant.ts";

/** How long after its end a fault is still felt: a process starts, connects again, and takes up its work. */
const FELT_MS = 15_000;
/** Whose end can cost an attempt. Null: the server, and with it everybody. */
const CARRIERS: ReadonlySet<string | null> = new Set([null, "associate", "sandbox-runner"]);

type AbandonedOrLapsed = Exclude<ResultBody, { kind: "reported" }>;

interface Unreported {
  readonly taskId: string;
  readonly body: AbandonedOrLapsed;
  readonly loss: Loss;
}

/** An attempt that ended without a report: from when to when it was out. */
interface Loss {
  readonly epoch: number;
  readonly seq: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export function givenUpWithoutCause(run: RunFacts, history: History): Violation[] {
  if (!history.witnessed.faults || history.poisonous.includes(run.runId)) return [];
  const faults = history.faults.filter(({ role }) => CARRIERS.has(role)); // U3
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

/** U4 */
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
    if (body.kind === "abandoned" && body.outage === true) continue; // It gives nobody up as poison.
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

/** The losses that are left over when as many as possible have a fault of their own. */
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

/** U2 */
function costOf({ fromMs, untilMs }: InjectedFault): number {
  return 1 + Math.floor((untilMs - fromMs) / limits.associateAckWaitMs);
}

/** U1 */
function isFelt({ fromMs, untilMs }: InjectedFault, loss: Loss): boolean {
  return fromMs <= loss.untilMs && untilMs + FELT_MS >= loss.fromMs;
}
