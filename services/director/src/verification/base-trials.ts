/**
 * Runs the checks of a task on the base while an attempt works on it, and keeps the outcomes for the verifications to come.
 *
 * Lifecycle of an outcome: asked for at the dispatch -> running -> kept, or forgotten. A verification joins a running one.
 * The outcomes are in memory only, and nothing rests on them: where there is none (another Director, a restart, no slot to
 * spare, an older runner), the verification runs the base itself.
 *
 *   - The key holds all that decides an outcome: tenant, repository, commit, tree, checks, image, room, setup, time. The
 *     request is made from the run's own records at the head of that moment, as in a verification. A patch has no part in
 *     it, and a verification on another head has another key.
 *   - A trial is asked for once, takes no last slot of a runner and no last warm sandbox, and waits for nothing, so where
 *     many runs are at work it is left to the verification. It holds one sandbox and needs nothing else, so it can block
 *     no attempt.
 *   - An outcome with a check that did not end by itself (time, memory) is forgotten, because beside an attempt the machine
 *     may be the reason; so is a room that broke. Each is run again in the verification.
 *   - A run that ends, is canceled or moves its head stops the trials that no other task holds and no verification waits
 *     for. The reaper of the runners ends the trials of a Director that is gone.
 *   - At most limits.baseTrialsKept outcomes are kept, each for limits.baseTrialKeepMs: the name of an image, or the date, may
 *     mean something else later.
 *
 * Because an outcome on the base decides what a change proves, a kept one is used only where a fresh one would be asked for
 * in the same words by the same tenant, and a failed one never (director/D5).
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { holderOf, keyOf, type BaseOrder } from "./base-order.ts";
import { BaseTrial } from "./base-trial.ts";
import { covers, type KeptBase } from "./kept-base.ts";
import { runTrials } from "./trials.ts";

export interface BaseTrialsParts {
  readonly room: CleanRoomPort;
  readonly log: Logger;
  /** Milliseconds; only differences count. */
  now(): number;
}

export class BaseTrials {
  readonly #parts: BaseTrialsParts;
  /** By key, the one that was begun longest ago first. */
  readonly #trials = new Map<string, BaseTrial>();
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  constructor(parts: BaseTrialsParts) {
    this.#parts = parts;
  }

  /**
   * Begins the trials that `make` finds, unless they are known; it may find that none are wanted. Resolves to their outcome,
   * or to null; never rejects.
   */
  begin(make: () => Promise<BaseOrder | null>): Promise<RoomOutcome | null> {
    return this.#outlived(async () => {
      const order = await make();
      return order === null || this.#closed ? null : this.#join(order);
    });
  }

  #join(order: BaseOrder): Promise<RoomOutcome | null> {
    const { request } = order;
    const key = keyOf(order);
    this.#releaseOthers(key, request);
    const known = this.#fresh(key);
    if (known !== null && covers(known.asked, request.trials)) {
      known.hold(holderOf(request));
      return known.ended;
    }
    known?.stop();
    const trial = this.#start(key, request);
    this.#trials.delete(key);
    this.#trials.set(key, trial);
    this.#bound();
    return trial.ended;
  }

  /**
   * The outcome of trials that were begun before; null: there is none, or it is no answer. Rejects when `signal` aborts
   * meanwhile. director/D5
   */
  async take(order: BaseOrder, signal: AbortSignal): Promise<KeptBase | null> {
    const key = keyOf(order);
    this.#releaseOthers(key, order.request);
    return this.#fresh(key)?.wait(signal) ?? null;
  }

  /** The run has ended, or is about to. */
  drop(runId: string): void {
    for (const trial of this.#trials.values()) trial.releaseRun(runId);
  }

  /** A task waits for one base at a time: that of its run's head. */
  #releaseOthers(key: string, request: RoomRequest): void {
    for (const [other, trial] of this.#trials) if (other !== key) trial.release(holderOf(request));
  }

  /** Stops what is running. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const trial of this.#trials.values()) trial.stop();
    await Promise.all(this.#running);
  }

  #start(key: string, asked: RoomRequest): BaseTrial {
    const request: RoomRequest = { ...asked, purpose: "base", candidate: null, ahead: true };
    const run = async (stop: AbortSignal): Promise<RoomOutcome | null> => {
      const outcome = await this.#outlived(() => this.#ran(request, stop));
      if (outcome === null && this.#trials.get(key) === trial) this.#trials.delete(key);
      return outcome;
    };
    const trial: BaseTrial = new BaseTrial(asked.trials, { now: () => this.#parts.now(), run });
    trial.hold(holderOf(asked));
    return trial;
  }

  async #ran(request: RoomRequest, signal: AbortSignal): Promise<RoomOutcome | null> {
    const outcome = await runTrials(request, this.#parts.room, signal);
    return outcome.trials.flat().some(({ exitCode }) => exitCode === null) ? null : outcome;
  }

  /** Null: it failed, and the base is left to the verification. `close` waits for it. */
  #outlived<T>(work: () => Promise<T>): Promise<T | null> {
    const done = work()
      .catch((error: unknown) => {
        const { code } = AntiphonError.from(error);
        this.#parts.log.debug({ err: error, code }, "no checks on the base ahead of the verification");
        return null;
      })
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
    return done;
  }

  #fresh(key: string): BaseTrial | null {
    const trial = this.#trials.get(key);
    if (trial?.isFresh === true) return trial;
    this.#trials.delete(key);
    return null;
  }

  #bound(): void {
    for (const [key, trial] of this.#trials) {
      if (this.#trials.size <= limits.baseTrialsKept) return;
      trial.stop();
      this.#trials.delete(key);
    }
  }
}
