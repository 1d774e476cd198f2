/**
 * Writes the run's view and its contracts as JSON into KV, for people and the gateway. Best effort by design: these are
 * projections, rebuilt from the journal at will, so a lost or late write loses nothing.
 *
 * Lifecycle: idle -> writing -> pausing -> idle. A run that changes during a batch waits for the next one and is then
 * written once, in its newest state. A pause lasts several times as long as the batch before it, so that projections
 * take a small share of a busy server; it shrinks as more runs wait, so that projections keep up with any load the
 * server can take. A run's view is written after its contracts, so a reader of the view finds contracts as new as it or
 * newer.
 *
 * Promises:
 *   director/D7 Because each write is a compare-and-set, and a Director that was overtaken rewrites the run from the
 *     journal, no older state replaces a newer one; and a delivery waits for projections only while `MAX_WAITING` runs
 *     are queued, and then for one batch.
 */
import { LRUCache } from "lru-cache";
import { isDeepStrictEqual } from "node:util";
import { AntiphonError, digestOf, keys } from "@antiphon/contracts";
import { runView, routerContract, taskContract } from "@antiphon/run";
import { systemClock, type Kv, type KvEntry, type Logger } from "@antiphon/runtime";
import type { CachedRun } from "../runs/cached-run.ts";

/** Runs queued for projection. Beyond that `project()` waits for one batch. */
const MAX_WAITING = 5_000;
/** Runs of one batch. */
const BATCH = 256;
/** While few runs wait, a pause lasts so many times the batch before it: a tenth of the time is for projections. */
const PAUSE_FACTOR = 9;
/** With this share of MAX_WAITING queued there are no pauses. */
const BUSY = 0.5;
const MAX_PAUSE_MS = 2_000;

/** Runs whose documents are remembered; a forgotten one is rewritten. */
const MAX_SHOWN = 10_000;

/** A rewrite that was overtaken so often leaves the run to the Directors that overtook it. */
const MAX_TRIES = 8;

/** A view or a contract. */
interface Shape {
  readonly bucket: Kv;
  readonly key: string;
  readonly doc: object;
}

interface Shown {
  /** The last record that the documents include. */
  seq: number;
  /** By their digests: the texts would be a sixth of what an open run takes. */
  readonly documents: Map<string, { readonly digest: string; readonly revision: number }>;
}

export class Projector {
  readonly #runs: Kv;
  readonly #contracts: Kv;
  readonly #load: (runId: string) => Promise<CachedRun>;
  readonly #log: Logger;
  readonly #shown = new LRUCache<string, Shown>({ max: MAX_SHOWN });
  readonly #waiting = new Map<string, CachedRun>();
  #writing: Promise<void> | null = null;
  #batch: Promise<unknown> = Promise.resolve();
  readonly #stop = new AbortController();

  /** `load` reads a run from the journal. */
  constructor(
    buckets: { runs: Kv; contracts: Kv },
    load: (runId: string) => Promise<CachedRun>,
    log: Logger,
  ) {
    this.#runs = buckets.runs;
    this.#contracts = buckets.contracts;
    this.#load = load;
    this.#log = log;
  }

  /** Queues the run, to be written in its newest state. Blocks only when the queue is full. */
  async project(run: CachedRun): Promise<void> {
    const { runId, lastSeq } = run.snapshot.context;
    const waiting = this.#waiting.get(runId);
    if (waiting === undefined || waiting.snapshot.context.lastSeq < lastSeq) this.#waiting.set(runId, run);
    this.#writing ??= this.#write();
    if (this.#waiting.size > MAX_WAITING) await this.#batch; // director/D7
  }

  /** Writes everything that is queued, without another pause. */
  async drain(): Promise<void> {
    this.#stop.abort();
    await this.#writing;
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // Runs queued in the same tick share a batch.
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.values()].slice(0, BATCH);
      for (const { snapshot } of batch) this.#waiting.delete(snapshot.context.runId);
      const startedAt = systemClock.now();
      this.#batch = Promise.all(batch.map((run) => this.#show(run)));
      await this.#batch;
      const ease = Math.max(0, 1 - this.#waiting.size / (BUSY * MAX_WAITING));
      const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * ease * (systemClock.now() - startedAt));
      if (pauseMs > 0) await systemClock.sleep(pauseMs, this.#stop.signal);
    }
    this.#writing = null;
  }

  /**
   * Compares the stored documents of a run with its journal and writes those that are missing or differ. Returns
   * `<bucket>/<key>` of each document it wrote.
   */
  async rewrite(runId: string, load = this.#load): Promise<string[]> {
    const written = new Set<string>();
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const there = await this.#stored(runId); // director/D7: before the journal is read
      const run = await load(runId);
      const wrong = this.#shapes(run).filter(({ bucket, key, doc }) => {
        const entry = there.get(nameOf(bucket, key));
        return entry === undefined || !isDeepStrictEqual(entry.value, JSON.parse(JSON.stringify(doc)));
      });
      const write = async ({ bucket, key, doc }: Shape): Promise<boolean> => {
        const name = nameOf(bucket, key);
        const own = await writeOver(bucket, key, doc, there.get(name)); // director/D7
        if (own) written.add(name);
        return own;
      };
      const isView = ({ bucket }: Shape): boolean => bucket === this.#runs;
      const contracts = await Promise.all(wrong.filter((shape) => !isView(shape)).map(write));
      const views = contracts.includes(false) ? [] : await Promise.all(wrong.filter(isView).map(write));
      if (![...contracts, ...views].includes(false)) break;
    }
    return [...written].sort();
  }

  /** The stored documents of a run. An unreadable one is deleted, because no compare-and-set can start from it. */
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

  #shapes({ snapshot }: CachedRun): [view: Shape, ...contracts: Shape[]] {
    const run = snapshot.context;
    const { runId } = run;
    const router = routerContract(run);
    const bucket = this.#contracts;
    return [
      { bucket: this.#runs, key: runId, doc: runView(run.facts) },
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
    if (run.lastSeq < shown.seq) return;
    shown.seq = run.lastSeq;
    this.#shown.set(run.runId, shown);
    try {
      const [view, ...contracts] = this.#shapes(now);
      const stood = await Promise.all(contracts.map((shape) => putChanged(shown, shape)));
      const isOwn = !stood.includes(false) && (await putChanged(shown, view));
      if (!isOwn) {
        shown.documents.clear();
        await this.rewrite(run.runId); // director/D7
      }
    } catch (error) {
      this.#log.warn({ err: error, run: run.runId }, "projection not written; the journal has it");
    }
    if (run.closed !== null) shown.documents.clear(); // A closed run changes no more.
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

/** False if another Director wrote it meanwhile. */
async function writeOver(bucket: Kv, key: string, doc: object, entry: KvEntry | undefined): Promise<boolean> {
  if (entry === undefined) return bucket.create(key, doc);
  return (await bucket.update(key, doc, entry.revision)) !== null;
}

/** False if the document is not as this process left it. */
async function putChanged({ documents }: Shown, { bucket, key, doc }: Shape): Promise<boolean> {
  const digest = digestOf(JSON.stringify(doc)); // One function makes it, so its members have a fixed order.
  const before = documents.get(key);
  if (before?.digest === digest) return true;
  const revision = await bucket.update(key, doc, before?.revision ?? 0);
  if (revision !== null) documents.set(key, { digest, revision });
  return revision !== null;
}
