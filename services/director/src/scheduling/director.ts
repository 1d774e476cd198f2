/**
 * The Director: reads a record, replays its run, does what the run still owes the world.
 *
 *   record -> RunCache -> outstanding(state) -> perform each effect -> append its record -> outstanding ... -> ack
 *
 * Invariants:
 *   D8 A delivery is done only when every effect it started has its record stored (J4); a crash before that
 *      delivers it again, to this process or another one.
 *   D9 An effect that is under way in this process is left to the delivery that started it. The same record
 *      delivered once more waits for the first to end: an acknowledgement is not fenced, so it would swallow the
 *      first one's retry.
 *   D12 A delivery goes on with what its own records make outstanding, until nothing is. So nobody has to be
 *      woken by a Director's record; and what D9 leaves to another delivery is done before that one ends.
 *   D13 Only the verification of a chain may start from what was merely heard; nothing is handed out, landed or closed
 *      past a cancel or a pause that was stored before. A chain's dispatch and closing do nothing but become a record: where
 *      no record can be missing (M6) that record asks of the server itself that the run has not moved. Before anything
 *      else, and when it has moved, the run is confirmed (M3). Where tasks overlap a verification is confirmed too: the proposal that comes first may have been heard by another Director (D6).
 *   D33 A dispatch is refused only while its run has not moved: the refusal stands in the register of the attempt's verdict,
 *      and an attempt that another Director has handed out needs that for its true one. Else its run stayed open for good.
 *   D32 A dispatch or a verdict that the server will never store (too large) is replaced by the refusal that ends its
 *      task; else each delivery and each sweep would do the work again, without an end. A landing is not: git has moved.
 *   D37 What keeps a run from going on is told live as well, with its remedy: whoever watches the run cannot see the log.
 *   D40 What is shown of a run follows the claim of an attempt, though nothing has to be done about it: an attempt may take
 *      many minutes, and nobody should see it as waiting all that time.
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

/** First pause before a failed effect is tried again; doubled at each delivery up to the cap. */
const RETRY_MS = 500;
const RETRY_CAP_MS = 30_000;
/** Characters of an error that are told live. */
const MAX_TOLD = 500;
/** What leads to something only together with a later record; it is folded so that nobody has to read it. */
const TRIGGERS_NO_WORK: ReadonlySet<JournalType> = new Set(["intent", "claim"]);

/** What a turn of the admission waits for: what it held back, and the closing where that was refused. */
const HELD_WORK: ReadonlySet<Effect["kind"]> = new Set(["dispatch", "close"]);

/** What a `EffectRunner` is to the Director. */
export type RunsEffects = Pick<EffectRunner, "perform" | "refusal">;

export interface DirectorParts {
  journal: Journal;
  runs: RunCache;
  runner: RunsEffects;
  projector: Projector;
  /** Keeps the times the runs wait for. */
  timers: Pick<TimerScheduler, "note" | "drop" | "hold">;
  admission: Pick<AdmissionQueue, "admits">;
  /** Says live what a task waits for; nobody may be listening. */
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
    const work = first === undefined ? this.#handle(delivery) : first.then(() => this.#handle(delivery)); // D9
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
      const heard = runs.heard(record);
      if (record.type === "claim")
        await this.#parts.projector.project(heard ?? (await runs.load(record.runId, record))); // D40
      if (TRIGGERS_NO_WORK.has(record.type)) return { kind: "done" };
      const run = heard ?? (await runs.load(record.runId, record));
      this.#logRefusal(run, record);
      if (deliveries > 1) this.#parts.tell(record, "taken up again");
      await this.advance(run, { seq: record.seq, digest: record.digest }, signal);
      return { kind: "done" }; // D8
    } catch (error) {
      const code = error instanceof AntiphonError ? error.code : "ANT_INTERNAL";
      // A record that cannot be read does not get better by waiting: a dead letter says where it is.
      if (code === "ANT_JOURNAL_CORRUPT") return { kind: "terminal", code, detail: String(error) };
      const delayMs = Math.min(RETRY_CAP_MS, RETRY_MS * 2 ** Math.min(deliveries - 1, 10));
      this.#parts.log.warn(
        { err: error, code, run: record.runId, seq: record.seq, delayMs },
        "will be tried again",
      );
      if (!signal.aborted) this.#tellWhy(record, error);
      return { kind: "retry", delayMs, code };
    }
  }

  /** D37 */
  #tellWhy(record: StoredRecord, error: unknown): void {
    const { code, detail, remedy } = AntiphonError.from(error);
    if (code === "ANT_RUN_CANCELED") return;
    const what = code === "ANT_INTERNAL" ? code : `${code}: ${detail.slice(0, MAX_TOLD)}`; // A bug's words are the log's.
    this.#parts.tell(record, `${what}; trying again. ${remedy}`);
  }

  /** The run's held attempts pass now. What else it owes is done by the deliveries that made it owe that (O6). */
  async dispatchAdmitted(runId: string, signal: AbortSignal): Promise<void> {
    const run = await this.#parts.runs.load(runId);
    const last = run.records.at(-1);
    if (last !== undefined)
      await this.advance(run, { seq: last.seq, digest: last.digest }, signal, HELD_WORK);
  }

  /** Does what `run` owes (`only`: of these kinds), and what that makes it owe, then shows where it stands. */
  async advance(run: CachedRun, cause: Cause, signal: AbortSignal, only?: typeof HELD_WORK): Promise<void> {
    this.#parts.timers.note(run.snapshot.context.runId);
    let now = run;
    let why = cause;
    let hasMoved = false;
    const done = new Set<string>(); // An effect whose record changed nothing is not repeated.
    try {
      for (;;) {
        let effects = this.#owed(now, done, only);
        const chain = isChain(now.snapshot.context);
        const isOnlyRecord =
          !hasMoved && chain && effects.length === 1 && effects.every(isItsRecord) && isGapless(now);
        if (!isOnlyRecord && effects.some(({ kind }) => kind !== "verify" || !chain)) {
          now = await this.#parts.runs.confirm(now); // D13
          effects = this.#owed(now, done, only);
        }
        if (effects.length === 0) return await this.#parts.timers.hold(now); // D12, D22
        for (const effect of effects) done.add(effectKey(now.snapshot.context.runId, effect));
        const settled = await Promise.allSettled(
          effects.map((effect) => this.#once(now, effect, why, signal, isOnlyRecord)),
        );
        for (const [i, result] of settled.entries()) {
          if (result.status === "rejected") throw result.reason;
          if (result.value === "moved") {
            hasMoved = true; // Once is enough: what keeps moving is confirmed from here on.
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
      if (done.has(key) || this.#underWay.has(key)) return false; // D9
      return effect.kind !== "dispatch" || this.#parts.admission.admits(snapshot.context, key);
    });
  }

  async #once(
    run: CachedRun,
    effect: Effect,
    cause: Cause,
    signal: AbortSignal,
    isOnlyRecord: boolean,
  ): Promise<{ record: StoredRecord; run: CachedRun } | "moved"> {
    const { context } = run.snapshot;
    const key = effectKey(context.runId, effect);
    this.#underWay.add(key);
    try {
      const { journal } = this.#parts;
      const after = isChain(context) && isGapless(run) ? { after: context.lastSeq } : {};
      const append = (said: NewRecord) => {
        const isRefusedDispatch = effect.kind === "dispatch" && said.type !== "dispatch";
        return isOnlyRecord || isRefusedDispatch
          ? journal.appendAfter(said, context.lastSeq, { signal }) // D13, D33
          : journal.append(said, { signal, ...after });
      };
      let record = await this.#record(context, effect, cause, signal);
      const result = await append(record).catch((error: unknown) => {
        record = this.#unsayable(context, effect, cause, error);
        return append(record);
      });
      if (result.kind === "moved") return "moved";
      const stored = result.kind === "conflict" ? result.existing : result.record;
      const at = { run: context.runId, task: record.taskId, epoch: record.epoch, seq: stored.seq };
      if (result.kind !== "appended") this.#parts.log.info(at, `${record.type} ${result.kind}`); // Else the journal tells.
      if (record.type === "closed") this.#parts.timers.drop(context.runId);
      else this.#parts.timers.note(context.runId);
      // Said before, by us or by somebody else: then there may be more that we do not know of.
      const heard = result.kind === "appended" ? this.#parts.runs.heard(stored) : null;
      return { record: stored, run: heard ?? (await this.#parts.runs.load(context.runId, stored)) };
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
        this.#parts.runs.forget(run.runId); // The delivery comes again and finds the cancel.
        throw new AntiphonError("ANT_RUN_CANCELED", `${effect.kind} of ${run.runId} stopped`);
      }
      if (signal.aborted) throw error; // V6: we stop; what that broke off is no reason to refuse anything.
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

  /** D32: what is said instead of a record the server refused for good; throws where nothing can be. */
  #unsayable(run: RunState, effect: Effect, cause: Cause, error: unknown): NewRecord {
    const hasMoved = effect.kind === "land" || effect.kind === "land-integration";
    const isRefused = error instanceof AntiphonError && error.code === "ANT_NATS_REJECTED";
    const refusal = isRefused && !hasMoved ? this.#parts.runner.refusal(run, effect, cause, error) : null;
    if (refusal === null) throw error;
    this.#parts.log.error({ err: error, run: run.runId, effect: effect.kind }, "cannot be stored; refused");
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

/** Whether an effect does nothing that its record does not say; a dead letter is buried before its run closes. */
function isItsRecord(effect: Effect): boolean {
  return effect.kind === "dispatch" || (effect.kind === "close" && effect.poisoned.length === 0);
}
