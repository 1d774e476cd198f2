/**
 * The Director: for each record delivered to it, it replays the run and carries out what the run still owes.
 *
 *   record -> RunCache -> outstanding(state) -> run each effect -> append its record -> outstanding ... -> ack
 *
 * A claim triggers no effect, but the run's projection follows it: an attempt may take many minutes and must not look
 * as if it were waiting. While an effect keeps failing, the reason and its remedy are published live as well, because
 * people who watch a run cannot see the log.
 *
 * Promises:
 *   director/D1 A delivery is acknowledged only when each effect it started has its record stored, and so has each
 *     effect that these records made outstanding, except a dispatch that waits for admission; so a crash causes a
 *     redelivery and loses no step.
 *   director/D2 A delivery leaves an effect that is under way in this process to the delivery that started it, and a
 *     redelivered record waits until its first delivery ends; so no effect runs twice at once, and no acknowledgement
 *     swallows the retry of a failed one.
 *   director/D3 Before every effect except the verification of a linear run, the Director reads what could change its
 *     decision, or the server refuses the record if the run has moved; so nothing is dispatched, landed or closed past a
 *     cancel or a pause that was stored before.
 *   director/D8 A dispatch or verdict that the server will never store is replaced by a refusal, so that its work is
 *     not repeated for ever; a dispatch is refused only while no record was added to its run, because an attempt that
 *     another Director dispatched needs the same register for its true verdict.
 */
import type { Cause, JournalType, NewRecord, StoredRecord } from "@antiphon/contracts";
import { AntiphonError } from "@antiphon/contracts";
import type { Delivery, Journal, Logger, Outcome } from "@antiphon/runtime";
import { levelOf } from "@antiphon/runtime";
import { watchForCancel } from "../runs/cancel-watch.ts";
import { effectKey, outstanding, type Effect } from "@antiphon/run";
import type { EffectRunner } from "../effects/effect-runner.ts";
import type { Projector } from "../views/projector.ts";
import type { RunState } from "@antiphon/run";
import { isChain, isGapless, type CachedRun, type RunCache } from "../runs/run-cache.ts";
import type { TimerScheduler } from "../timers/timer-scheduler.ts";
import type { AdmissionQueue } from "../admission/admission-queue.ts";

/** Delay before a failed effect is tried again; doubled at each delivery up to the cap. */
const RETRY_MS = 500;
const RETRY_CAP_MS = 30_000;
/** Characters of an error that are published live. */
const MAX_LIVE_CHARS = 500;
/** Triggers no work by itself. It is folded all the same, so that later records need no read of the run. */
const TRIGGERS_NO_WORK: ReadonlySet<JournalType> = new Set(["intent", "claim"]);

/** The effects of an admitted run: the held dispatch, and the closing if that dispatch is refused. */
const HELD_WORK: ReadonlySet<Effect["kind"]> = new Set(["dispatch", "close"]);

/** The part of an `EffectRunner` that the Director uses. */
export type RunsEffects = Pick<EffectRunner, "perform" | "refusal">;

export interface DirectorParts {
  journal: Journal;
  runs: RunCache;
  runner: RunsEffects;
  projector: Projector;
  timers: Pick<TimerScheduler, "note" | "drop" | "hold">;
  admission: Pick<AdmissionQueue, "admits">;
  /** Publishes live what a task waits for. It is not stored; there may be no listener. */
  tell: (at: Pick<StoredRecord, "runId" | "taskId" | "epoch">, text: string) => void;
  log: Logger;
}

export class Director {
  readonly #parts: DirectorParts;
  /** Records being handled, by sequence. */
  readonly #inHand = new Map<number, Promise<Outcome>>();
  readonly #underWay = new Set<string>();

  constructor(parts: DirectorParts) {
    this.#parts = parts;
  }

  async handle(delivery: Delivery): Promise<Outcome> {
    const { seq } = delivery.record;
    const first = this.#inHand.get(seq);
    const work = first === undefined ? this.#handle(delivery) : first.then(() => this.#handle(delivery)); // director/D2
    this.#inHand.set(seq, work);
    try {
      return await work;
    } finally {
      if (this.#inHand.get(seq) === work) this.#inHand.delete(seq);
    }
  }

  async #handle({ record, deliveries, signal }: Delivery): Promise<Outcome> {
    try {
      const { runs } = this.#parts;
      const folded = runs.fold(record);
      if (record.type === "claim")
        await this.#parts.projector.project(folded ?? (await runs.load(record.runId, record)));
      if (TRIGGERS_NO_WORK.has(record.type)) return { kind: "done" };
      const run = folded ?? (await runs.load(record.runId, record));
      this.#logRefusal(run, record);
      if (deliveries > 1) this.#parts.tell(record, "delivered again; resuming");
      await this.advance(run, { seq: record.seq, digest: record.digest }, signal);
      return { kind: "done" }; // director/D1
    } catch (error) {
      const code = error instanceof AntiphonError ? error.code : "ANT_INTERNAL";
      // Waiting does not mend a record that cannot be read; the dead letter names its place.
      if (code === "ANT_JOURNAL_CORRUPT") return { kind: "terminal", code, detail: String(error) };
      const delayMs = Math.min(RETRY_CAP_MS, RETRY_MS * 2 ** Math.min(deliveries - 1, 10));
      this.#parts.log.warn(
        { err: error, code, run: record.runId, seq: record.seq, delayMs },
        "will be tried again",
      );
      if (!signal.aborted) this.#publishReason(record, error);
      return { kind: "retry", delayMs, code };
    }
  }

  /** Publishes live why a run is blocked. */
  #publishReason(record: StoredRecord, error: unknown): void {
    const { code, detail, remedy } = AntiphonError.from(error);
    if (code === "ANT_RUN_CANCELED") return;
    // The text of a bug belongs in the log only.
    const what = code === "ANT_INTERNAL" ? code : `${code}: ${detail.slice(0, MAX_LIVE_CHARS)}`;
    this.#parts.tell(record, `${what}; trying again. ${remedy}`);
  }

  /**
   * Dispatches the held attempts of a run that the admission queue admitted. The run's other effects belong to the
   * deliveries that made them outstanding, so a clean room of this run does not hold up the queue.
   */
  async dispatchAdmitted(runId: string, signal: AbortSignal): Promise<void> {
    const run = await this.#parts.runs.load(runId);
    const last = run.records.at(-1);
    if (last !== undefined)
      await this.advance(run, { seq: last.seq, digest: last.digest }, signal, HELD_WORK);
  }

  /** Carries out what `run` owes (`only`: of these kinds) and what that leads to, then projects the run. */
  async advance(run: CachedRun, cause: Cause, signal: AbortSignal, only?: typeof HELD_WORK): Promise<void> {
    this.#parts.timers.note(run.snapshot.context.runId);
    let now = run;
    let why = cause;
    let hasMoved = false;
    const done = new Set<string>(); // Effects whose record changed nothing are not repeated.
    try {
      for (;;) {
        let effects = this.#owed(now, done, only);
        const chain = isChain(now.snapshot.context);
        const isUnconfirmed =
          !hasMoved && chain && effects.length === 1 && effects.every(isRecordOnly) && isGapless(now);
        if (!isUnconfirmed && effects.some(({ kind }) => kind !== "verify" || !chain)) {
          now = await this.#parts.runs.confirm(now); // director/D3
          effects = this.#owed(now, done, only);
        }
        if (effects.length === 0) return await this.#parts.timers.hold(now); // director/D1
        for (const effect of effects) done.add(effectKey(now.snapshot.context.runId, effect));
        const settled = await Promise.allSettled(
          effects.map((effect) => this.#once(now, effect, why, signal, isUnconfirmed)),
        );
        for (const [i, result] of settled.entries()) {
          if (result.status === "rejected") throw result.reason;
          if (result.value === "moved") {
            hasMoved = true; // From here on the run is confirmed before each effect, so that this loop ends.
            done.delete(effectKey(now.snapshot.context.runId, effects[i]!));
            now = await this.#parts.runs.load(now.snapshot.context.runId);
            continue;
          }
          const { lastSeq } = now.snapshot.context;
          if (result.value.run.snapshot.context.lastSeq > lastSeq) now = result.value.run;
          if (result.value.record.seq > why.seq) why = result.value.record;
        }
        why = { seq: why.seq, digest: why.digest };
      }
    } finally {
      await this.#parts.projector.project(now);
    }
  }

  #owed({ snapshot }: CachedRun, done: ReadonlySet<string>, only?: typeof HELD_WORK): Effect[] {
    return outstanding(snapshot).filter((effect) => {
      if (only?.has(effect.kind) === false) return false;
      const key = effectKey(snapshot.context.runId, effect);
      if (done.has(key) || this.#underWay.has(key)) return false; // director/D2
      return effect.kind !== "dispatch" || this.#parts.admission.admits(snapshot.context, key);
    });
  }

  async #once(
    run: CachedRun,
    effect: Effect,
    cause: Cause,
    signal: AbortSignal,
    isUnconfirmed: boolean,
  ): Promise<{ record: StoredRecord; run: CachedRun } | "moved"> {
    const { context } = run.snapshot;
    const key = effectKey(context.runId, effect);
    this.#underWay.add(key);
    try {
      const { journal } = this.#parts;
      const after = isChain(context) && isGapless(run) ? { after: context.lastSeq } : {};
      /** Stored only if the run holds no record after those that were folded; else "moved". */
      const appendIfUnmoved = (made: NewRecord) => journal.appendAfter(made, context.lastSeq, { signal });
      /** Stored whatever was added to the run meanwhile. */
      const appendAnyway = (made: NewRecord) => journal.append(made, { signal, ...after });
      const append = (made: NewRecord) => {
        const isRefusedDispatch = effect.kind === "dispatch" && made.type !== "dispatch"; // director/D8
        return isUnconfirmed || isRefusedDispatch ? appendIfUnmoved(made) : appendAnyway(made); // director/D3
      };
      let record = await this.#record(context, effect, cause, signal);
      const result = await append(record).catch((error: unknown) => {
        record = this.#replacementOf(context, effect, cause, error);
        return append(record);
      });
      if (result.kind === "moved") return "moved";
      const stored = result.kind === "conflict" ? result.existing : result.record;
      const at = { run: context.runId, task: record.taskId, epoch: record.epoch, seq: stored.seq };
      // The journal logs the appended ones.
      if (result.kind !== "appended") this.#parts.log.info(at, `${record.type} ${result.kind}`);
      if (record.type === "closed") this.#parts.timers.drop(context.runId);
      else this.#parts.timers.note(context.runId);
      // If it was stored before, by this Director or another, the run may hold more records that are unknown here.
      const folded = result.kind === "appended" ? this.#parts.runs.fold(stored) : null;
      return { record: stored, run: folded ?? (await this.#parts.runs.load(context.runId, stored)) };
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #record(run: RunState, effect: Effect, cause: Cause, signal: AbortSignal): Promise<NewRecord> {
    const takesLong = effect.kind === "verify" || effect.kind === "verify-integration";
    const watch = takesLong ? watchForCancel(this.#parts.journal, run.runId) : null;
    const stop = watch === null ? signal : AbortSignal.any([signal, watch.signal]);
    try {
      return await this.#parts.runner.perform(run, effect, cause, stop);
    } catch (error) {
      if (watch?.signal.aborted === true) {
        this.#parts.runs.forget(run.runId); // The redelivery reads the cancel.
        throw new AntiphonError("ANT_RUN_CANCELED", `${effect.kind} of ${run.runId} stopped`);
      }
      if (signal.aborted) throw error; // director/D4: this process stops; an interrupted effect is no refusal.
      const refusal = this.#parts.runner.refusal(run, effect, cause, error);
      if (refusal === null) throw error;
      const { code } = AntiphonError.from(error);
      const at = { err: error, code, run: run.runId, effect: effect.kind };
      this.#parts.log[levelOf({ code })](at, "refused for good");
      return refusal;
    } finally {
      watch?.release();
    }
  }

  /**
   * director/D8: the refusal that replaces a record which the server will never store. Throws where nothing can replace
   * it: a landing has already moved git.
   */
  #replacementOf(run: RunState, effect: Effect, cause: Cause, error: unknown): NewRecord {
    const hasLanded = effect.kind === "land" || effect.kind === "land-integration";
    const isRefused = error instanceof AntiphonError && error.code === "ANT_NATS_REJECTED";
    const refusal = isRefused && !hasLanded ? this.#parts.runner.refusal(run, effect, cause, error) : null;
    if (refusal === null) throw error;
    this.#parts.log.error(
      { err: error, run: run.runId, effect: effect.kind },
      "record cannot be stored; replaced by a refusal",
    );
    return refusal;
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

/** Whether the record is the whole effect. A closing that buries dead letters does more. */
function isRecordOnly(effect: Effect): boolean {
  return effect.kind === "dispatch" || (effect.kind === "close" && effect.poisoned.length === 0);
}
