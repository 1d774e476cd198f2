/**
 * Writes what people look at: the run's view and its contracts as JSON in KV. Best effort by design: these
 * are projections, rebuilt from the journal at will, so a lost or late write loses nothing.
 *
 * Lifecycle: idle -> writing -> resting -> idle. A run that changes while something is written waits for the next
 * round and is then written once, as it stands. A rest is several times as long as the round before it, so that
 * projections take a small share of a busy server; the more runs wait, the shorter it is, so that they keep up with any
 * load the server can take, and the load feels it little by little.
 *
 * Invariants:
 *   N1 Nobody waits for a projection, except when `MAX_WAITING` runs wait to be shown, and then for one round.
 *   N2 What is shown last is what the run came to: the rounds of a run are one after the other, each with its
 *      newest state.
 *   N3 No older state is put over a newer one, whichever Director wrote that: every write is a compare-and-set. Whoever
 *      is overtaken rewrites the run: what is stored is read first, then the journal.
 *   N4 A run's view is shown after its contracts: whoever sees what a run came to finds them as they were then, or newer.
 */
import { isDeepStrictEqual } from "node:util";
import { AntiphonError, keys } from "@antiphon/contracts";
import { runView, routerContract, taskContract } from "@antiphon/run";
import { systemClock, type Clock, type Kv, type KvEntry, type Logger } from "@antiphon/runtime";
import type { CachedRun } from "../runs/run-cache.ts";

/** At the bound whoever has more to show waits for the next round. */
const MAX_WAITING = 5_000;
/** Runs of one round. */
const ROUND = 256;
/** A rest is this many times as long as the round before it while little waits: a tenth of the time is for views. */
const REST = 9;
/** From this part of the bound on there are no rests. */
const BUSY = 0.5;
const MAX_REST_MS = 2_000;

/** Runs whose documents are remembered; a forgotten one is rewritten. */
const MAX_SHOWN = 10_000;

/** A rewrite that others overtake that often leaves the run to them: they show it. */
const MAX_LOOKS = 8;

/** One of the things people look at. */
interface Shape {
  readonly bucket: Kv;
  readonly key: string;
  readonly doc: object;
}

interface Shown {
  /** The last record that is told of. */
  seq: number;
  readonly documents: Map<string, { readonly text: string; readonly revision: number }>;
}

export class Projector {
  readonly #runs: Kv;
  readonly #contracts: Kv;
  readonly #load: (runId: string) => Promise<CachedRun>;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #shown = new Map<string, Shown>();
  readonly #waiting = new Map<string, CachedRun>();
  #writing: Promise<void> | null = null;
  #round: Promise<unknown> = Promise.resolve();
  readonly #stop = new AbortController();

  /** `load` reads a run from the journal. */
  constructor(
    buckets: { runs: Kv; contracts: Kv },
    load: (runId: string) => Promise<CachedRun>,
    log: Logger,
    clock: Clock = systemClock,
  ) {
    this.#runs = buckets.runs;
    this.#contracts = buckets.contracts;
    this.#load = load;
    this.#log = log;
    this.#clock = clock;
  }

  /** Will show the run as it is now, or as it is by then. */
  async project(run: CachedRun): Promise<void> {
    const { runId, lastSeq } = run.snapshot.context;
    const waiting = this.#waiting.get(runId);
    if (waiting === undefined || waiting.snapshot.context.lastSeq < lastSeq) this.#waiting.set(runId, run);
    this.#writing ??= this.#write();
    if (this.#waiting.size > MAX_WAITING) await this.#round; // N1
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
      this.#round = Promise.all(round.map((run) => this.#show(run))); // N2
      await this.#round;
      const ease = Math.max(0, 1 - this.#waiting.size / (BUSY * MAX_WAITING));
      const restMs = Math.min(MAX_REST_MS, REST * ease * (this.#clock.now() - startedAt));
      if (restMs > 0) await this.#clock.sleep(restMs, this.#stop.signal);
    }
    this.#writing = null;
  }

  /**
   * Writes what is missing, stale or different of a run, whatever is remembered of it; gives `<bucket>/<key>` of what
   * it wrote.
   */
  async rewrite(runId: string, load = this.#load): Promise<string[]> {
    const written = new Set<string>();
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      const there = await this.#stored(runId); // N3: before the journal is read
      const run = await load(runId);
      const wrong = this.#shapes(run).filter(({ bucket, key, doc }) => {
        const entry = there.get(nameOf(bucket, key));
        return entry === undefined || !isDeepStrictEqual(entry.value, JSON.parse(JSON.stringify(doc)));
      });
      const write = async ({ bucket, key, doc }: Shape): Promise<boolean> => {
        const name = nameOf(bucket, key);
        const own = await writeOver(bucket, key, doc, there.get(name)); // N3
        if (own) written.add(name);
        return own;
      };
      const isView = ({ bucket }: Shape): boolean => bucket === this.#runs;
      const contracts = await Promise.all(wrong.filter((shape) => !isView(shape)).map(write));
      const views = contracts.includes(false) ? [] : await Promise.all(wrong.filter(isView).map(write)); // N4
      if (![...contracts, ...views].includes(false)) break;
    }
    return [...written].sort();
  }

  /** What the buckets hold of a run. What cannot be read is removed: nobody can go on from it. */
  async #stored(runId: string): Promise<Map<string, KvEntry>> {
    const found = new Map<string, KvEntry>();
    const look = async (bucket: Kv, key: string): Promise<void> => {
      const entry = await readable(bucket, key);
      if (entry !== null) found.set(nameOf(bucket, key), entry);
    };
    const contracts = await this.#contracts.keys(runId);
    await Promise.all([look(this.#runs, runId), ...contracts.map((key) => look(this.#contracts, key))]);
    return found;
  }

  #shapes({ records, snapshot }: CachedRun): [view: Shape, ...contracts: Shape[]] {
    const run = snapshot.context;
    const { runId } = run;
    const router = routerContract(run);
    const bucket = this.#contracts;
    return [
      { bucket: this.#runs, key: runId, doc: runView(records) },
      ...(router === null ? [] : [{ bucket, key: keys.routerContract(runId), doc: router }]),
      ...run.tasks.map((task) => {
        const key = keys.taskContract(runId, task.planned.task.task_id);
        return { bucket, key, doc: taskContract(run, task) };
      }),
    ];
  }

  async #show(now: CachedRun): Promise<void> {
    const run = now.snapshot.context;
    const shown = this.#shown.get(run.runId) ?? { seq: 0, documents: new Map() };
    if (run.lastSeq < shown.seq) return; // N2
    shown.seq = run.lastSeq;
    this.#remember(run.runId, shown);
    try {
      const [view, ...contracts] = this.#shapes(now);
      const stood = await Promise.all(contracts.map((shape) => putChanged(shown, shape)));
      const isOwn = !stood.includes(false) && (await putChanged(shown, view)); // N4
      if (!isOwn) {
        shown.documents.clear();
        await this.rewrite(run.runId); // N3
      }
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

const nameOf = ({ bucket }: Kv, key: string): string => `${bucket}/${key}`;

async function readable(bucket: Kv, key: string): Promise<KvEntry | null> {
  try {
    return await bucket.get(key);
  } catch (error) {
    if (AntiphonError.from(error).code !== "ANT_STATE_CORRUPT") throw error;
    await bucket.delete(key);
    return null;
  }
}

/** False: somebody else wrote it meanwhile. */
async function writeOver(bucket: Kv, key: string, doc: object, entry: KvEntry | undefined): Promise<boolean> {
  if (entry === undefined) return bucket.create(key, doc);
  return (await bucket.update(key, doc, entry.revision)) !== null;
}

/** False: it is not as this process left it. */
async function putChanged({ documents }: Shown, { bucket, key, doc }: Shape): Promise<boolean> {
  const text = JSON.stringify(doc); // Made by one function, so its members have one order.
  const before = documents.get(key);
  if (before?.text === text) return true;
  const revision = await bucket.update(key, doc, before?.revision ?? 0);
  if (revision !== null) documents.set(key, { text, revision });
  return revision !== null;
}
