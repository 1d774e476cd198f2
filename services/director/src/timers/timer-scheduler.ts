/**
 * The timer scheduler: stores the timers of open runs on the server, and writes the record of each timer that comes
 * due. Times are kept on the server only, so they survive every Director.
 *
 * Lifecycle: a run that moved is noted; `armAfterMs` later, if it is still open, its timers are set. Most attempts have
 * ended by then and cost no timer. After a crash the sweep sets those of the open runs; it also handles overdue times
 * whose timer did not come.
 *
 * The timers of a backoff and of a question are set at once, before the delivery that began them ends: no delivery of
 * the run is open meanwhile, so only its timer continues it. An attempt has an open delivery and can wait.
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
import type { CachedRun } from "../runs/cached-run.ts";
import type { RunCache } from "../runs/run-cache.ts";

export interface TimerSchedulerParts {
  journal: Pick<Journal, "append">;
  runs: RunCache;
  timers: Timers;
  log: Logger;
  /** Hints to those at work on the run that it is over. */
  hintCancel(runId: string): void;
  /** Milliseconds; only differences count. */
  now(): number;
  /** A run was noted: `arm` is needed. */
  onNoted(): void;
}

export interface TimerSettings extends TimerBounds {
  readonly armAfterMs: number;
}

/** The author in the records: every Director writes the same, so their records are equal. */
const DIRECTOR = "director";
/** Timers known to be set. The oldest is forgotten first; setting one again is harmless. */
const MAX_KNOWN = 50_000;
/** Timers of a run that has no open delivery. */
const WITHOUT_DELIVERY: readonly TimerKind[] = ["rest", "question"];

export class TimerScheduler {
  readonly #parts: TimerSchedulerParts;
  readonly #settings: TimerSettings;
  readonly #noted = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor(parts: TimerSchedulerParts, settings: TimerSettings) {
    this.#parts = parts;
    this.#settings = settings;
  }

  /** The run moved: its timers are set soon. */
  note(runId: string): void {
    if (this.#noted.has(runId)) return;
    this.#noted.set(runId, this.#parts.now());
    this.#parts.onNoted();
  }

  /** The run is over: it needs no timers. */
  drop(runId: string): void {
    this.#noted.delete(runId);
  }

  /** Sets the timers of runs noted at least `armAfterMs` ago. "more": younger ones are noted. */
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

  /** Sets the timers of a run that has not moved for a while. Returns the time of the first; null: it has none. */
  async keep(run: CachedRun): Promise<Date | null> {
    await this.#set(run, TIMER_KINDS);
    const times = timersOf(run.snapshot, this.#settings).map(({ at }) => at.getTime());
    return times.length === 0 ? null : new Date(Math.min(...times));
  }

  /** Sets the timers of a backoff or a question now. Throws unless they are known to be stored. */
  async hold(run: CachedRun): Promise<void> {
    await this.#set(run, WITHOUT_DELIVERY);
  }

  async #set({ snapshot }: CachedRun, kinds: readonly TimerKind[]): Promise<void> {
    for (const { at, ...address } of timersOf(snapshot, this.#settings)) {
      if (!kinds.includes(address.kind)) continue;
      const key = `${keyOf(address)} ${at.getTime()}`;
      if (this.#known.has(key)) continue;
      await this.#parts.timers.set(address, at);
      this.#known.add(key);
      const [oldest] = this.#known;
      if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    }
  }

  /** Handles the times before `now` that the run still waits for, in case their timers are lost. */
  async overdue(run: CachedRun, now: Date): Promise<void> {
    for (const { at, ...address } of timersOf(run.snapshot, this.#settings)) {
      if (at <= now) await this.due(address, now);
    }
  }

  /**
   * A timer came due. Returns when the record that follows from it is stored. "again": the run waits for a later time,
   * but the server still holds the timer that just came due, so it cannot be set again yet.
   */
  async due(address: TimerAddress, now: Date): Promise<"done" | "again"> {
    const run = await this.#parts.runs.load(address.runId);
    const step = dueStep(run.snapshot, address, now, this.#settings);
    const record = recordOf(address.runId, step, run.records);
    if (step.kind === "later") return (await this.#parts.timers.set(address, step.at)) ? "done" : "again";
    if (record === null) return "done";
    const result = await this.#parts.journal.append(record); // run/R1
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

/** True for a record from whose time a task waits. */
function begins({ type, body }: StoredRecord): boolean {
  return (
    type === "claim" || type === "result" || (type === "verdict" && "asks" in body && body.asks !== undefined)
  );
}

/** The attempt's last claim or result, the question before it, or the run's intent. Directors with equal records name the same cause. */
function causeOf(
  records: readonly StoredRecord[],
  taskId: string | null,
  epoch: number,
): { seq: number; digest: string } {
  const cause = records.findLast(
    (record) =>
      record.taskId === taskId &&
      record.epoch === epoch &&
      (taskId === null ? record.type === "intent" : begins(record)),
  );
  if (cause !== undefined) return { seq: cause.seq, digest: cause.digest };
  throw new AntiphonError("ANT_JOURNAL_GAP", `no record of ${taskId ?? "the run"} at epoch ${epoch}`);
}
