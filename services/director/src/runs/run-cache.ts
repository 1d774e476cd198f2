/**
 * A memory of open runs: records and the state folded from them. It is only a cache; a miss, another process or a
 * restart rebuilds an entry from the journal.
 *
 * An entry grows by records that are delivered, and by records this process appended itself. A record is folded without
 * a read only if it comes after all folded ones and the record that led to it is among them; else the run is read. The
 * fold is always in stream order.
 *
 * `confirm` reads what could be missing before a decision that cannot be taken back. In a chain of tasks each record
 * names its cause, except the words from outside, so only these are read; a run whose tasks overlap is read as a whole.
 * A fold is gapless if the server stored each record directly behind the one before it; then no earlier record is
 * missing.
 *
 * No decision depends on `at` of a record this process appended: that time is its own clock's.
 */
import { LRUCache } from "lru-cache";
import type { Journal } from "@antiphon/runtime";
import { WORDS_FROM_OUTSIDE, type StoredRecord } from "@antiphon/contracts";
import { openRun, replay, type RunPolicy } from "@antiphon/run";
import { isChain, type CachedRun } from "./cached-run.ts";

/** Runs kept in memory; the least recently used goes first. An entry is some 10 KB. */
const MAX_RUNS = 5_000;

export class RunCache {
  readonly #journal: Journal;
  readonly #defaults: RunPolicy;
  readonly #runs = new LRUCache<string, CachedRun>({ max: MAX_RUNS });

  constructor(journal: Journal, defaults: RunPolicy) {
    this.#journal = journal;
    this.#defaults = defaults;
  }

  /** Reads the run. `record` is known to be stored and is added if the answer lacks it. */
  async load(runId: string, record?: StoredRecord): Promise<CachedRun> {
    const read = await this.#journal.read(runId);
    const all = record === undefined ? read : [...read, record];
    return this.#remembersLost(runId, read) ? this.retold(runId, all) : this.#merge(runId, all);
  }

  /** The run with `record` folded into it; null if that needs a read. */
  fold(record: StoredRecord): CachedRun | null {
    const run = this.#runs.get(record.runId);
    if (run === undefined) return record.type === "intent" ? this.#merge(record.runId, [record]) : null;
    if (holds(run, record)) return run;
    const { cause } = record;
    const follows =
      cause !== null &&
      record.seq > run.snapshot.context.lastSeq &&
      run.records.some(({ digest }) => digest === cause.digest);
    return follows ? this.#merge(record.runId, [record]) : null;
  }

  /** director/D3: the run with every stored record that could change a decision. */
  async confirm(run: CachedRun): Promise<CachedRun> {
    const { context } = run.snapshot;
    const types = isChain(context) ? WORDS_FROM_OUTSIDE : undefined;
    const found = await this.#journal.read(context.runId, types);
    const now = this.#runs.get(context.runId) ?? run;
    if (found.every((record) => holds(now, record))) return now;
    return types === undefined ? this.#merge(context.runId, found) : this.load(context.runId);
  }

  /** Replaces the entry by what the server returned, so that the times of all its records are the server's. */
  retold(runId: string, records: readonly StoredRecord[]): CachedRun {
    const last = records.at(-1)?.seq ?? 0;
    const later = this.#runs.get(runId)?.records.filter(({ seq }) => seq > last) ?? [];
    this.#runs.delete(runId);
    return this.#merge(runId, [...records, ...later]);
  }

  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  /**
   * Whether a record stands at another sequence than the remembered one: the journal lost it and has it again. The
   * entry gives way then, because the seal would count the record twice.
   */
  #remembersLost(runId: string, read: readonly StoredRecord[]): boolean {
    const known = this.#runs.get(runId);
    if (known === undefined) return false;
    const places = new Map(known.records.map(({ subject, seq }) => [subject, seq]));
    return read.some(({ subject, seq }) => (places.get(subject) ?? seq) !== seq);
  }

  /** Adds records to the entry, which may hold more than the caller knows. */
  #merge(runId: string, records: readonly StoredRecord[]): CachedRun {
    const known = this.#runs.get(runId);
    const fresh = records.filter((record) => known === undefined || !holds(known, record));
    if (known !== undefined && fresh.length === 0) return this.#keep(runId, known);
    const last = known?.snapshot.context.lastSeq ?? 0;
    if (known !== undefined && fresh.every(({ seq }) => seq > last)) {
      const added = fresh.length > 1 ? inOrder(fresh) : fresh;
      return this.#keep(runId, {
        records: [...known.records, ...added],
        snapshot: replay(known.snapshot, added),
      });
    }
    const all = inOrder([...(known?.records ?? []), ...fresh]); // A record came late: fold anew in stream order.
    return this.#keep(runId, { records: all, snapshot: replay(openRun(runId, this.#policyOf(all)), all) });
  }

  #policyOf(records: readonly StoredRecord[]): RunPolicy {
    const intent = records.find((record) => record.type === "intent");
    return intent?.type === "intent"
      ? { ...this.#defaults, maxAttempts: intent.body.options.max_attempts }
      : this.#defaults;
  }

  #keep(runId: string, run: CachedRun): CachedRun {
    if (run.snapshot.status === "active") this.#runs.set(runId, run);
    else this.#runs.delete(runId);
    return run;
  }
}

function holds({ records }: CachedRun, { seq }: StoredRecord): boolean {
  for (let i = records.length - 1; i >= 0; i -= 1) {
    const held = records[i]?.seq ?? 0;
    if (held <= seq) return held === seq;
  }
  return false;
}

function inOrder(records: readonly StoredRecord[]): StoredRecord[] {
  const bySeq = new Map(records.map((record) => [record.seq, record]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
