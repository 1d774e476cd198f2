/**
 * Keeps the timers of the runs under way: sets what a run waits for on the server, and records what came due.
 *
 * Lifecycle: a run that moved is noted; `armAfterMs` later, if it is still open, its timers are set. Most attempts are
 * over by then and cost no timer. What a crash leaves unset the sweep notes again (J10), and what is overdue although no
 * timer came the sweep brings up itself. An attempt is somebody's delivery meanwhile; a rest and a question are
 * nobody's, so their timers do not wait.
 *
 * Invariants:
 *   D16 A run that stays open has its timers on the server; nothing here is the only place where a time is kept.
 *   D22 The delivery that began a rest or a question is done only when its timer is on the server: whoever dies before
 *       that is followed by somebody who sets it.
 */
import {
  AntiphonError,
  TIMER_KINDS,
  type NewRecord,
  type StoredRecord,
  type TimerAddress,
  type TimerKind,
} from "@antiphon/contracts";
import type { Journal, Logger, Timers } from "@antiphon/runtime";
import { dueStep, timersOf, type DueStep, type TimerBounds } from "@antiphon/run";
import type { CachedRun, RunCache } from "../runs/run-cache.ts";

export interface TimerSchedulerParts {
  journal: Pick<Journal, "append">;
  runs: RunCache;
  timers: Timers;
  log: Logger;
  /** A hint to who works on the run that it is over. */
  hintCancel(runId: string): void;
  /** Milliseconds; only differences count. */
  now(): number;
  /** A run was noted: `arm` is needed. */
  onNoted(): void;
}

export interface TimerSettings extends TimerBounds {
  readonly armAfterMs: number;
}

/** What the Director calls itself in records: any Director writes the same. */
const DIRECTOR = "director";
/** Registers known to be set, the oldest forgotten first; setting one again is harmless. */
const MAX_KNOWN = 50_000;
/** What a run waits for while no delivery of it is under way. */
const WITHOUT_HOLDER: readonly TimerKind[] = ["rest", "question"];

export class TimerScheduler {
  readonly #parts: TimerSchedulerParts;
  readonly #settings: TimerSettings;
  readonly #noted = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor(parts: TimerSchedulerParts, settings: TimerSettings) {
    this.#parts = parts;
    this.#settings = settings;
  }

  /** The run moved: its timers are looked at soon. */
  note(runId: string): void {
    if (this.#noted.has(runId)) return;
    this.#noted.set(runId, this.#parts.now());
    this.#parts.onNoted();
  }

  /** The run is over: nothing is waited for. */
  drop(runId: string): void {
    this.#noted.delete(runId);
  }

  /** Sets the timers of the runs that have been open long enough. "more": others are noted that have not. */
  async arm(): Promise<"more" | "nothing"> {
    const until = this.#parts.now() - this.#settings.armAfterMs;
    const old = [...this.#noted].filter(([, since]) => since <= until).map(([runId]) => runId);
    for (const runId of old) {
      this.#noted.delete(runId);
      try {
        await this.#set(await this.#parts.runs.load(runId), TIMER_KINDS);
      } catch (error) {
        this.note(runId);
        throw error;
      }
    }
    return this.#noted.size > 0 ? "more" : "nothing";
  }

  /** Sets now what nothing but its timer would bring up again. Throws when that is not known to be stored. */
  async hold(run: CachedRun): Promise<void> {
    await this.#set(run, WITHOUT_HOLDER); // D22
  }

  async #set({ snapshot }: CachedRun, kinds: readonly TimerKind[]): Promise<void> {
    for (const { at, ...address } of timersOf(snapshot, this.#settings)) {
      if (!kinds.includes(address.kind)) continue;
      const key = `${keyOf(address)} ${at.getTime()}`;
      if (this.#known.has(key)) continue;
      await this.#parts.timers.set(address, at); // D16
      this.#known.add(key);
      const [oldest] = this.#known;
      if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    }
  }

  /** What is long past and still waited for. The timers bring it up; this is for when they are lost. */
  async overdue(run: CachedRun, now: Date): Promise<void> {
    for (const { at, ...address } of timersOf(run.snapshot, this.#settings)) {
      if (at <= now) await this.due(address, now);
    }
  }

  /**
   * A time has come. Returns when what follows from it is stored. "again": the time moved on, and the server has not
   * let go of the timer that just came due, so it cannot be set anew yet.
   */
  async due(address: TimerAddress, now: Date): Promise<"done" | "again"> {
    const run = await this.#parts.runs.load(address.runId);
    const step = dueStep(run.snapshot, address, now, this.#settings);
    const record = recordOf(address.runId, step, run.records);
    if (step.kind === "later") return (await this.#parts.timers.set(address, step.at)) ? "done" : "again";
    if (record === null) return "done";
    const result = await this.#parts.journal.append(record); // D14
    const { runId, taskId: task, epoch } = record;
    if (result.kind !== "appended")
      this.#parts.log.info({ run: runId, task, epoch, timer: address.kind }, `${record.type} ${result.kind}`);
    if (step.kind === "overspent") this.#parts.hintCancel(runId);
    return "done";
  }
}

function keyOf({ kind, runId, taskId, epoch }: TimerAddress): string {
  return `${kind} ${runId} ${taskId ?? "-"} ${epoch}`;
}

function recordOf(runId: string, step: DueStep, records: readonly StoredRecord[]): NewRecord | null {
  switch (step.kind) {
    case "moot":
    case "later":
      return null;
    case "lapse": {
      const { taskId, epoch, holder } = step;
      const body = { kind: "lapsed" as const, observer: DIRECTOR, holder };
      return { type: "result", runId, taskId, epoch, cause: causeOf(records, taskId, epoch), body };
    }
    case "due": {
      const { taskId, epoch, of } = step;
      return {
        type: "due",
        runId,
        taskId,
        epoch,
        cause: causeOf(records, taskId, epoch),
        body: { kind: of },
      };
    }
    case "overspent": {
      const code = "ANT_RUN_TIME_BUDGET";
      const body = { by: DIRECTOR, reason: `not over within ${step.budgetS} s`, code };
      return { type: "cancel", runId, taskId: null, epoch: 0, cause: causeOf(records, null, 0), body };
    }
  }
}

/** The last record of the attempt (of the run: its first): the same for every Director that folded the same state. */
function causeOf(
  records: readonly StoredRecord[],
  taskId: string | null,
  epoch: number,
): { seq: number; digest: string } {
  const cause = records.findLast(
    (record) =>
      record.taskId === taskId &&
      record.epoch === epoch &&
      (taskId === null ? record.type === "intent" : record.type === "claim" || record.type === "result"),
  );
  if (cause !== undefined) return { seq: cause.seq, digest: cause.digest };
  throw new AntiphonError("ANT_JOURNAL_GAP", `no record of ${taskId ?? "the run"} at epoch ${epoch}`);
}
