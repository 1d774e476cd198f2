/**
 * The Director: for each record delivered to it, it replays the run and carries out what the run still owes.
 *
 *   record -> RunCache -> outstanding(state) -> nextStep -> run each effect, append its record -> outstanding ... -> ack
 *
 * A claim triggers no effect, but the run's projection follows it: an attempt may take many minutes and must not look
 * as if it were waiting. While an effect keeps failing, the reason and its remedy are published live as well, because
 * people who watch a run cannot see the log.
 *
 * Because a delivery leaves an effect that is under way in this process to the delivery that started it, and a redelivered
 * record waits until its first delivery ends, no effect runs twice at once, and no acknowledgement swallows the retry of a
 * failed one (director/D1).
 *
 * A delivery owes the effects that it started and those that their records made outstanding. A dispatch may wait for admission, and a
 * landing that has long waited for its race is left to the sweeps.
 *
 * Promises:
 *   director/D1 Because a delivery is acknowledged only when every effect that it owes has its record, or a refusal,
 *     stored, or is left to admission or to the sweeps, and because no effect runs twice at once, a crash causes a
 *     redelivery and loses no step.
 *   director/D3 Because the Director, before every effect except the verification of a linear run, reads what could change
 *     its decision, or the server refuses the record if the run has moved, nothing is dispatched, landed or closed past a
 *     cancel or a pause that was stored before.
 */
import { AntiphonError, type Cause, type JournalType, type StoredRecord } from "@antiphon/contracts";
import { effectKey, outstanding, type Effect } from "@antiphon/run";
import type { Delivery, Logger, Outcome } from "@antiphon/runtime";
import type { AdmissionQueue } from "../admission/admission-queue.ts";
import type { EffectEnd, EffectRunner, Order } from "../effects/effect-runner.ts";
import type { CachedRun } from "../runs/cached-run.ts";
import type { RunCache } from "../runs/run-cache.ts";
import type { RaceWatch } from "../landing/race-watch.ts";
import type { RunMeter } from "../runs/run-meter.ts";
import type { TimerScheduler } from "../timers/timer-scheduler.ts";
import type { RunTracing } from "../runs/run-tracing.ts";
import type { Projector } from "../views/projector.ts";
import type { BaseTrials } from "../verification/base-trials.ts";
import { nextStep, type Knowledge } from "./step.ts";

/** Delay before a failed effect is tried again; doubled at each delivery up to the cap. */
const RETRY_MS = 500;
const RETRY_CAP_MS = 30_000;
/**
 * Deliveries after which a landing that waits for another run of its race is left to the sweeps. That run may take hours, and a
 * record that is delivered very often would be taken for one that crashes its consumers.
 */
const RACE_DELIVERIES = 10;
/** Characters of an error that are published live. */
const MAX_LIVE_CHARS = 500;
/** Triggers no work by itself. It is folded all the same, so that later records need no read of the run. */
const TRIGGERS_NO_WORK: ReadonlySet<JournalType> = new Set(["intent", "claim"]);

/** The effects of an admitted run: the held dispatch, and the closing if that dispatch is refused. */
const HELD_WORK: ReadonlySet<Effect["kind"]> = new Set(["dispatch", "close"]);

export interface DirectorParts {
  runs: RunCache;
  runner: EffectRunner;
  projector: Projector;
  meter: Pick<RunMeter, "delivered">;
  traces: Pick<RunTracing, "closed">;
  timers: Pick<TimerScheduler, "note" | "drop" | "hold">;
  /** Absent: the runs of a race end only at their own landings. */
  races?: Pick<RaceWatch, "note" | "drop"> | undefined;
  /** Absent: the base runs in the verifications. */
  bases?: Pick<BaseTrials, "drop"> | undefined;
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
    const work = first === undefined ? this.#handle(delivery) : first.then(() => this.#handle(delivery)); // director/D1
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
      if (record.type === "claim") {
        const claimed = folded ?? (await runs.load(record.runId, record));
        this.#parts.meter.delivered(record, claimed.records, deliveries);
        await this.#parts.projector.project(claimed);
      }
      if (TRIGGERS_NO_WORK.has(record.type)) return { kind: "done" };
      if (record.type === "cancel") this.#parts.bases?.drop(record.runId);
      const run = folded ?? (await runs.load(record.runId, record));
      this.#logRefusal(run, record);
      this.#parts.meter.delivered(record, run.records, deliveries);
      if (deliveries > 1) {
        this.#parts.tell(record, "delivered again; resuming");
        if (run.snapshot.context.closed !== null) this.#parts.traces.closed(run.records);
      }
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
      if (code === "ANT_RACE_UNDECIDED" && deliveries >= RACE_DELIVERIES) return { kind: "done" };
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
    const { runs, timers, races, projector } = this.#parts;
    const { runId, facts } = run.snapshot.context;
    timers.note(runId);
    if (facts.closed === null) races?.note(runId, facts.intent);
    let now = run;
    let why = cause;
    let knowledge: Knowledge = "delivered";
    let hasMoved = false;
    const done = new Set<string>(); // Effects whose record changed nothing are not repeated.
    try {
      for (;;) {
        const step = nextStep(now, this.#startable(now, done, only), knowledge);
        if (step.kind === "wait") return await timers.hold(now); // director/D1
        if (step.kind === "confirm") {
          now = await runs.confirm(now); // director/D3
          knowledge = "confirmed";
          continue;
        }
        for (const effect of step.effects) done.add(effectKey(runId, effect));
        const { ifUnmoved } = step;
        const orders = step.effects.map((effect): Order => ({ run: now, effect, cause: why, ifUnmoved }));
        const ends = await Promise.allSettled(orders.map((order) => this.#run(order, signal)));
        for (const [i, end] of ends.entries()) {
          if (end.status === "rejected") throw end.reason;
          if (end.value.kind === "moved") {
            hasMoved = true; // From here on the run is confirmed before each effect, so that this loop ends.
            done.delete(effectKey(runId, step.effects[i]!));
            now = await runs.load(runId);
            continue;
          }
          const { record, run: after } = end.value;
          if (after.snapshot.context.lastSeq > now.snapshot.context.lastSeq) now = after;
          if (record.seq > why.seq) why = { seq: record.seq, digest: record.digest };
        }
        knowledge = hasMoved ? "moved" : "delivered";
      }
    } finally {
      await projector.project(now);
    }
  }

  #startable({ snapshot }: CachedRun, done: ReadonlySet<string>, only?: typeof HELD_WORK): Effect[] {
    return outstanding(snapshot).filter((effect) => {
      if (only?.has(effect.kind) === false) return false;
      const key = effectKey(snapshot.context.runId, effect);
      if (done.has(key) || this.#underWay.has(key)) return false; // director/D1
      return effect.kind !== "dispatch" || this.#parts.admission.admits(snapshot.context, key);
    });
  }

  async #run(order: Order, signal: AbortSignal): Promise<EffectEnd> {
    const { runner, timers, races, bases } = this.#parts;
    const { runId } = order.run.snapshot.context;
    const key = effectKey(runId, order.effect);
    this.#underWay.add(key);
    try {
      const end = await runner.run(order, signal);
      if (end.kind === "stored") {
        if (end.record.type === "closed") {
          timers.drop(runId);
          races?.drop(runId);
          bases?.drop(runId);
        } else timers.note(runId);
      }
      return end;
    } finally {
      this.#underWay.delete(key);
    }
  }

  #logRefusal({ snapshot }: CachedRun, record: StoredRecord): void {
    const { refused } = snapshot.context;
    if (refused?.seq !== record.seq) return;
    const { runId: run, taskId: task, epoch, type } = record;
    const told = { run, task, epoch, seq: record.seq, type, reason: refused.reason };
    // An attempt of a canceled run reports what it has left.
    if (type === "result" && snapshot.context.cancel !== null) this.#parts.log.info(told, "late report");
    else this.#parts.log.warn(told, "record refused");
  }
}
