/**
 * Writes what people look at: the run's view and its contracts as JSON in KV. Best effort by design: these
 * are projections, rebuilt from the journal at will, so a lost or late write loses nothing.
 *
 * Lifecycle: idle -> writing -> resting -> idle. A run that changes while something is written waits for the next
 * round and is then written once, as it stands. A rest is several times as long as the round before it, so that
 * projections take a bounded share of a busy server, and next to no time when little happens.
 *
 * Invariants:
 *   N1 Nobody waits for a projection, except when `MAX_WAITING` runs wait to be shown.
 *   N2 What is shown last is what the run came to: the rounds of a run are one after the other, each with its
 *      newest state.
 */
import { keys, runView } from "@antiphon/contracts";
import { systemClock, type Clock, type Kv, type Logger } from "@antiphon/runtime";
import { routerContract, taskContract } from "./core/projection.ts";
import type { CachedRun } from "./run-cache.ts";

/** At the bound whoever has more to show waits for the next round. */
const MAX_WAITING = 5_000;
/** Runs of one round. */
const ROUND = 256;
/** A rest is this many times as long as the round before it: a tenth of a busy Director's time is for views. */
const REST = 9;
const MAX_REST_MS = 2_000;

/** Runs whose documents are remembered; of a forgotten one the next write costs a read. */
const MAX_SHOWN = 10_000;

interface Shown {
  /** The last record that is told of. */
  seq: number;
  readonly documents: Map<string, { readonly text: string; readonly revision: number }>;
}

export class Projector {
  readonly #runs: Kv;
  readonly #contracts: Kv;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #shown = new Map<string, Shown>();
  readonly #waiting = new Map<string, CachedRun>();
  #writing: Promise<void> | null = null;
  readonly #stop = new AbortController();

  constructor(buckets: { runs: Kv; contracts: Kv }, log: Logger, clock: Clock = systemClock) {
    this.#runs = buckets.runs;
    this.#contracts = buckets.contracts;
    this.#log = log;
    this.#clock = clock;
  }

  /** Will show the run as it is now, or as it is by then. */
  async project(run: CachedRun): Promise<void> {
    const { runId, lastSeq } = run.snapshot.context;
    const waiting = this.#waiting.get(runId);
    if (waiting === undefined || waiting.snapshot.context.lastSeq < lastSeq) this.#waiting.set(runId, run);
    this.#writing ??= this.#write();
    if (this.#waiting.size > MAX_WAITING) await this.#writing; // N1
  }

  /** Everything that waits is shown, without another rest. */
  async drain(): Promise<void> {
    this.#stop.abort();
    await this.#writing;
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // What is said in one go is shown in one round.
    while (this.#waiting.size > 0) {
      const round = [...this.#waiting.values()].slice(0, ROUND);
      for (const { snapshot } of round) this.#waiting.delete(snapshot.context.runId);
      const startedAt = this.#clock.now();
      await Promise.all(round.map((run) => this.#show(run))); // N2
      const restMs = Math.min(MAX_REST_MS, REST * (this.#clock.now() - startedAt));
      if (restMs > 0) await this.#clock.sleep(restMs, this.#stop.signal);
    }
    this.#writing = null;
  }

  async #show({ records, snapshot }: CachedRun): Promise<void> {
    const run = snapshot.context;
    const router = routerContract(run);
    const shown = this.#shown.get(run.runId) ?? { seq: 0, documents: new Map() };
    if (run.lastSeq < shown.seq) return; // N2
    shown.seq = run.lastSeq;
    this.#remember(run.runId, shown);
    const put = (bucket: Kv, key: string, doc: object): Promise<void> => putChanged(shown, bucket, key, doc);
    try {
      await Promise.all([
        put(this.#runs, run.runId, runView(records)),
        router === null ? null : put(this.#contracts, keys.routerContract(run.runId), router),
        ...run.tasks.map((task) =>
          put(
            this.#contracts,
            keys.taskContract(run.runId, task.planned.task.task_id),
            taskContract(run, task),
          ),
        ),
      ]);
    } catch (error) {
      this.#log.warn({ err: error, run: run.runId }, "projection not written; the journal has it");
    }
    if (run.closed !== null) shown.documents.clear(); // Nothing follows.
  }

  #remember(runId: string, shown: Shown): void {
    this.#shown.delete(runId);
    this.#shown.set(runId, shown);
    const oldest = this.#shown.keys().next();
    if (this.#shown.size > MAX_SHOWN && oldest.done !== true) this.#shown.delete(oldest.value);
  }
}

async function putChanged({ documents }: Shown, bucket: Kv, key: string, doc: object): Promise<void> {
  const text = JSON.stringify(doc); // Made by one function, so its members have one order.
  const before = documents.get(key);
  if (before?.text === text) return;
  const own = await bucket.update(key, doc, before?.revision ?? 0);
  documents.set(key, { text, revision: own ?? (await bucket.put(key, doc)) });
}
