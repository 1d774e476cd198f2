/**
 * The Director: reads a record, replays its run, does what the run still owes the world.
 *
 *   record -> RunCache.load -> outstanding(state) -> perform each effect -> append its record -> ack
 *
 * Invariants:
 *   D8 A delivery is done only when every effect it started has its record stored (J4); a crash before that
 *      delivers it again, to this process or another one.
 *   D9 An effect that is under way in this process is left to the delivery that started it.
 */
import type { Cause, NewRecord, StoredRecord } from "@antiphon/contracts";
import { AntiphonError } from "@antiphon/contracts";
import type { Delivery, Journal, Logger, Outcome } from "@antiphon/runtime";
import { watchForCancel } from "./cancel-watch.ts";
import { effectKey, outstanding, type Effect } from "./core/outstanding.ts";
import type { Performer } from "./performer.ts";
import type { Projector } from "./projector.ts";
import type { RunState } from "./core/run-state.ts";
import type { CachedRun, RunCache } from "./run-cache.ts";

/** First pause before a failed effect is tried again; doubled at each delivery up to the cap. */
const RETRY_MS = 500;
const RETRY_CAP_MS = 30_000;

/** What a `Performer` is to the Director. */
export type Performs = Pick<Performer, "perform" | "refusal">;

export interface DirectorParts {
  journal: Journal;
  runs: RunCache;
  performer: Performs;
  projector: Projector;
  log: Logger;
}

export class Director {
  readonly #parts: DirectorParts;
  readonly #underWay = new Set<string>();

  constructor(parts: DirectorParts) {
    this.#parts = parts;
  }

  async handle({ record, deliveries, signal }: Delivery): Promise<Outcome> {
    try {
      const run = await this.#parts.runs.load(record.runId, record.seq);
      this.#logRefusal(run, record);
      await this.advance(run, { seq: record.seq, digest: record.digest }, signal);
      return { kind: "done" }; // D8
    } catch (error) {
      const code = error instanceof AntiphonError ? error.code : "ANT_INTERNAL";
      const delayMs = Math.min(RETRY_CAP_MS, RETRY_MS * 2 ** Math.min(deliveries - 1, 10));
      this.#parts.log.warn(
        { err: error, code, run: record.runId, seq: record.seq, delayMs },
        "will be tried again",
      );
      return { kind: "retry", delayMs, code };
    }
  }

  /** Does what `run` owes, then shows where it stands. */
  async advance(run: CachedRun, cause: Cause, signal: AbortSignal): Promise<void> {
    const shown = this.#parts.projector.project(run);
    const results = await Promise.allSettled(
      outstanding(run.snapshot).map((effect) => this.#once(run, effect, cause, signal)),
    );
    await shown;
    const failure = results.find((result) => result.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  async #once(run: CachedRun, effect: Effect, cause: Cause, signal: AbortSignal): Promise<void> {
    const { context } = run.snapshot;
    const key = effectKey(context.runId, effect);
    if (this.#underWay.has(key)) return; // D9
    this.#underWay.add(key);
    try {
      const record = await this.#record(context, effect, cause, signal);
      const result = await this.#parts.journal.append(record, { signal });
      const seq = result.kind === "conflict" ? result.existing.seq : result.record.seq;
      this.#parts.log.info(
        { run: context.runId, task: record.taskId, epoch: record.epoch, seq },
        `${record.type} ${result.kind}`,
      );
      if (record.type === "closed" || record.type === "dispatch") {
        await this.#parts.projector.project(await this.#parts.runs.load(context.runId, seq));
      }
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #record(run: RunState, effect: Effect, cause: Cause, signal: AbortSignal): Promise<NewRecord> {
    const watch = watchForCancel(this.#parts.journal, run.runId);
    try {
      return await this.#parts.performer.perform(run, effect, cause, AbortSignal.any([signal, watch.signal]));
    } catch (error) {
      if (watch.signal.aborted) {
        this.#parts.runs.forget(run.runId); // The delivery comes again and finds the cancel.
        throw new AntiphonError("ANT_RUN_CANCELED", `${effect.kind} of ${run.runId} stopped`);
      }
      const refusal = this.#parts.performer.refusal(run, effect, cause, error);
      if (refusal === null) throw error;
      this.#parts.log.warn({ err: error, run: run.runId, effect: effect.kind }, "refused for good");
      return refusal;
    } finally {
      watch.release();
    }
  }

  #logRefusal({ snapshot }: CachedRun, record: StoredRecord): void {
    const { refused } = snapshot.context;
    if (refused?.seq !== record.seq) return;
    const { runId: run, taskId: task, epoch, type } = record;
    this.#parts.log.warn(
      { run, task, epoch, seq: record.seq, type, reason: refused.reason },
      "record refused",
    );
  }
}
