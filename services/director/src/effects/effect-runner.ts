/**
 * Runs one effect to its stored record: carries it out, appends the record that says it happened, or the refusal that
 * says it never can, and folds that record into the run.
 *
 * Because the work for a dispatch or verdict that the server will never store would be repeated for ever, a refusal
 * replaces it; a dispatch is refused only while no record was added to its run, because an attempt that another Director
 * dispatched needs the same register for its true verdict (director/D1).
 */
import { AntiphonError, type Cause, type NewRecord, type StoredRecord } from "@antiphon/contracts";
import type { Effect } from "@antiphon/run";
import { levelOf, type Journal, type Logger } from "@antiphon/runtime";
import { isChain, isGapless, type CachedRun } from "../runs/cached-run.ts";
import { watchForCancel } from "../runs/cancel-watch.ts";
import type { RunCache } from "../runs/run-cache.ts";
import type { RunMeter } from "../runs/run-meter.ts";
import type { RunTracing } from "../runs/run-tracing.ts";
import type { Perform } from "./effect-table.ts";
import { refusalOf } from "./refusal.ts";

export interface EffectRunnerParts {
  readonly journal: Journal;
  readonly runs: RunCache;
  readonly perform: Perform;
  readonly meter: Pick<RunMeter, "stored">;
  readonly traces: RunTracing;
  readonly log: Logger;
}

export interface Order {
  readonly run: CachedRun;
  readonly effect: Effect;
  readonly cause: Cause;
  /** Store the record only if the run holds no record that `run` lacks. */
  readonly ifUnmoved: boolean;
}

/** `run`: with the record. `moved`: the run holds a record that was unknown, so nothing was stored. */
export type EffectEnd =
  | { readonly kind: "stored"; readonly record: StoredRecord; readonly run: CachedRun }
  | { readonly kind: "moved" };

/** Whether the effect may use a clean room. A cancel stops it then. */
function takesLong(effect: Effect): boolean {
  if (effect.kind !== "verify") return effect.kind === "verify-integration";
  const { mode, commands } = effect.task.planned.task.verify_profile;
  return mode !== "none" || commands.length > 0;
}

/** They have moved git before their record is appended. */
const LANDINGS: ReadonlySet<Effect["kind"]> = new Set(["land", "land-integration"]);

export class EffectRunner {
  readonly #parts: EffectRunnerParts;

  constructor(parts: EffectRunnerParts) {
    this.#parts = parts;
  }

  async run(order: Order, signal: AbortSignal): Promise<EffectEnd> {
    const { runs, meter, traces, log } = this.#parts;
    const result = await this.#traced(order, async () => {
      const record = await this.#perform(order, signal);
      return this.#append(order, record, signal).catch((error: unknown) =>
        this.#append(order, this.#replacementOf(order, error), signal),
      );
    });
    if (result.kind === "moved") return { kind: "moved" };
    const stored = result.kind === "conflict" ? result.existing : result.record;
    const { runId, taskId: task, epoch, seq } = stored;
    // The journal logs the appended ones.
    if (result.kind === "appended") meter.stored(stored, order.run.records);
    else log.info({ run: runId, task, epoch, seq }, `${stored.type} ${result.kind}`);
    // If it was stored before, by this Director or another, the run may hold more records that are unknown here.
    const folded = result.kind === "appended" ? runs.fold(stored) : null;
    const after = folded ?? (await runs.load(runId, stored));
    if (stored.type === "closed") traces.closed(after.records);
    return { kind: "stored", record: stored, run: after };
  }

  /** The effect as a span of its stage. */
  #traced<T>({ run, effect }: Order, work: () => Promise<T>): Promise<T> {
    const { runId } = run.snapshot.context;
    return this.#parts.traces.effect(
      effect.kind,
      { runId, taskId: effect.taskId, epoch: effect.epoch },
      work,
    );
  }

  /** director/D3, director/D1: a record that could contradict an unknown one is stored only if there is none. */
  #append({ run, effect, ifUnmoved }: Order, record: NewRecord, signal: AbortSignal) {
    const { journal } = this.#parts;
    const { context } = run.snapshot;
    const isRefusedDispatch = effect.kind === "dispatch" && record.type !== "dispatch";
    if (ifUnmoved || isRefusedDispatch) return journal.appendIfUnmoved(record, context.lastSeq, { signal });
    const hint = isChain(context) && isGapless(run) ? { probablyAfter: context.lastSeq } : {};
    return journal.append(record, { signal, ...hint });
  }

  async #perform({ run, effect, cause }: Order, signal: AbortSignal): Promise<NewRecord> {
    const { journal, runs, perform, log } = this.#parts;
    const { context } = run.snapshot;
    const { runId } = context;
    const watch = takesLong(effect) ? watchForCancel(journal, runId, signal) : null;
    try {
      return await perform(context, effect, cause, watch?.signal ?? signal);
    } catch (error) {
      if (watch?.isCanceled === true) {
        runs.forget(runId); // The redelivery reads the cancel.
        throw new AntiphonError("ANT_RUN_CANCELED", `${effect.kind} of ${runId} stopped`);
      }
      if (signal.aborted) throw error; // director/D4: this process stops; an interrupted effect is no refusal.
      const refusal = refusalOf(context, effect, cause, error);
      if (refusal === null) throw error;
      const { code } = AntiphonError.from(error);
      const asks = refusal.type === "verdict" && refusal.body.asks !== undefined;
      const told = { code, run: runId, effect: effect.kind };
      if (asks) log.info(told, "a person is asked for a check");
      else log[levelOf({ code })]({ err: error, ...told }, "refused for good");
      return refusal;
    } finally {
      watch?.release();
    }
  }

  /**
   * director/D1: the refusal that replaces a record which the server will never store. Throws where nothing can replace
   * it: a landing has already moved git.
   */
  #replacementOf({ run: { snapshot }, effect, cause }: Order, error: unknown): NewRecord {
    const isRejected = error instanceof AntiphonError && error.code === "ANT_NATS_REJECTED";
    const isReplaceable = isRejected && !LANDINGS.has(effect.kind);
    const refusal = isReplaceable ? refusalOf(snapshot.context, effect, cause, error) : null;
    if (refusal === null) throw error;
    this.#parts.log.error(
      { err: error, run: snapshot.context.runId, effect: effect.kind },
      "record cannot be stored; replaced by a refusal",
    );
    return refusal;
  }
}
