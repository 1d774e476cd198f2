/**
 * A memory of the runs under way: records and the state folded from them. Only a cache; a miss, another
 * process or a restart rebuilds an entry from the journal.
 *
 * An entry grows by what it hears: records that are delivered, and records this process appended itself. That
 * needs no read. What it cannot know of by hearing (another Director's word, a word from outside that was
 * delivered elsewhere) it asks for before anything is decided that could not be taken back.
 *
 * Invariants:
 *   M1 A record is folded without a read only when the record that led to it is in the fold, and it comes after
 *      all of them. Anything else makes the entry read the run.
 *   M2 The fold is in stream order, whatever order records are heard in.
 *   M3 A confirmed run misses no record that was stored before the confirmation and could change what is
 *      decided. Where one task follows another, causes name everything but words from outside, so only those
 *      are asked for; a run whose tasks overlap is read as a whole.
 *   M4 Nothing that is decided depends on `at` of a record this process appended: that is its own clock's.
 *   M5 A register holds one record: one that is read under another sequence than the one remembered means that the
 *      journal lost that and has it again. What is remembered then gives way; else the seal would count it twice.
 *   M6 A fold is gapless when each record says that the server stored it directly behind the one before it: then nothing
 *      that was stored before its last record is missing, however it came to be heard.
 */
import type { Journal } from "@antiphon/runtime";
import { WORDS_FROM_OUTSIDE, type StoredRecord } from "@antiphon/contracts";
import { openRun, replay, type RunSnapshot } from "@antiphon/run";
import type { RunPolicy, RunState } from "@antiphon/run";

/** Runs kept in memory; the least recently used goes first. An entry is some 10 KB. */
const MAX_RUNS = 5_000;

export interface CachedRun {
  records: readonly StoredRecord[];
  snapshot: RunSnapshot;
}

export class RunCache {
  readonly #journal: Journal;
  readonly #defaults: RunPolicy;
  readonly #runs = new Map<string, CachedRun>();

  constructor(journal: Journal, defaults: RunPolicy) {
    this.#journal = journal;
    this.#defaults = defaults;
  }

  /** The run as it is now. `record`: one that is known to be stored, wherever the answer comes from. */
  async load(runId: string, record?: StoredRecord): Promise<CachedRun> {
    const read = await this.#journal.read(runId);
    const all = record === undefined ? read : [...read, record];
    return this.#remembersLost(runId, read) ? this.retold(runId, all) : this.#merge(runId, all);
  }

  /** The run with `record` folded into it, if that can be done without a read (M1). */
  heard(record: StoredRecord): CachedRun | null {
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

  /** The run with nothing missing that could change a decision (M3). */
  async confirm(run: CachedRun): Promise<CachedRun> {
    const { context } = run.snapshot;
    const types = isChain(context) ? WORDS_FROM_OUTSIDE : undefined;
    const found = await this.#journal.read(context.runId, types);
    const now = this.#runs.get(context.runId) ?? run;
    if (found.every((record) => holds(now, record))) return now;
    return types === undefined ? this.#merge(context.runId, found) : this.load(context.runId);
  }

  /** The run as the server has just told it: the times of all its records are the server's then (M4). */
  retold(runId: string, records: readonly StoredRecord[]): CachedRun {
    const last = records.at(-1)?.seq ?? 0;
    const later = this.#runs.get(runId)?.records.filter(({ seq }) => seq > last) ?? [];
    this.#runs.delete(runId);
    return this.#merge(runId, [...records, ...later]);
  }

  forget(runId: string): void {
    this.#runs.delete(runId);
  }

  /** M5 */
  #remembersLost(runId: string, read: readonly StoredRecord[]): boolean {
    const known = this.#runs.get(runId);
    if (known === undefined) return false;
    const places = new Map(known.records.map(({ subject, seq }) => [subject, seq]));
    return read.some(({ subject, seq }) => (places.get(subject) ?? seq) !== seq);
  }

  /** Adds records to what is known of the run by now, which may be more than the caller knew. */
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
    const all = inOrder([...(known?.records ?? []), ...fresh]); // M2: something was heard late.
    return this.#keep(runId, { records: all, snapshot: replay(openRun(runId, this.#policyOf(all)), all) });
  }

  #policyOf(records: readonly StoredRecord[]): RunPolicy {
    const intent = records.find((record) => record.type === "intent");
    return intent?.type === "intent"
      ? { ...this.#defaults, maxAttempts: intent.body.options.max_attempts }
      : this.#defaults;
  }

  #keep(runId: string, run: CachedRun): CachedRun {
    this.#runs.delete(runId);
    if (run.snapshot.status === "active") this.#runs.set(runId, run);
    const oldest = this.#runs.keys().next();
    if (this.#runs.size > MAX_RUNS && oldest.done !== true) this.#runs.delete(oldest.value);
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

/** M6 */
export function isGapless({ records }: CachedRun): boolean {
  return records.every((record, i) => {
    const before = records[i - 1];
    return before === undefined ? record.type === "intent" : record.after === before.seq;
  });
}

/** Each task waits for the one before it, so there is one line of causes through the whole run. */
export function isChain({ tasks }: RunState): boolean {
  return tasks.every((task, i) => {
    const before = tasks[i - 1]?.planned.task.task_id;
    return before === undefined || task.planned.deps.includes(before);
  });
}
