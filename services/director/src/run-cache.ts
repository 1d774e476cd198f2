/**
 * A memory of the runs under way: records and the state folded from them. Only a cache; a miss, another
 * process or a restart rebuilds an entry from the journal (DESIGN J1).
 */
import type { Journal } from "@antiphon/runtime";
import type { StoredRecord } from "@antiphon/contracts";
import { openRun, replay, type RunSnapshot } from "./core/run-machine.ts";
import type { RunPolicy } from "./core/run-state.ts";

/** Runs kept in memory; the least recently used goes first. An entry is some 10 KB. */
const MAX_RUNS = 2_000;

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

  /** The run folded at least up to stream sequence `seq`; absent: all there is now. */
  async load(runId: string, seq = Number.POSITIVE_INFINITY): Promise<CachedRun> {
    const known = this.#runs.get(runId);
    if (known !== undefined && (known.records.at(-1)?.seq ?? 0) >= seq) return this.#keep(runId, known);
    const records = await this.#journal.read(runId);
    const snapshot = replay(known?.snapshot ?? openRun(runId, this.#policyOf(records)), records);
    return this.#keep(runId, { records, snapshot });
  }

  forget(runId: string): void {
    this.#runs.delete(runId);
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
