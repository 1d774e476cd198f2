/**
 * Writes what people look at: the run's view and its contracts as JSON in KV. Best effort by design: these
 * are projections, rebuilt from the journal at will, so a lost or late write loses nothing.
 */
import { canonicalJson, runView } from "@antiphon/contracts";
import type { Kv, Logger } from "@antiphon/runtime";
import { routerContract, taskContract } from "./core/projection.ts";
import type { CachedRun } from "./run-cache.ts";

export class Projector {
  readonly #runs: Kv;
  readonly #contracts: Kv;
  readonly #log: Logger;
  readonly #written = new Map<string, string>();

  constructor(buckets: { runs: Kv; contracts: Kv }, log: Logger) {
    this.#runs = buckets.runs;
    this.#contracts = buckets.contracts;
    this.#log = log;
  }

  async project({ records, snapshot }: CachedRun): Promise<void> {
    const run = snapshot.context;
    const router = routerContract(run);
    try {
      await Promise.all([
        this.#put(this.#runs, run.runId, runView(records)),
        router === null ? null : this.#put(this.#contracts, `${run.runId}.router`, router),
        ...run.tasks.map((task) =>
          this.#put(this.#contracts, `${run.runId}.${task.planned.task.task_id}`, taskContract(run, task)),
        ),
      ]);
    } catch (error) {
      this.#log.warn({ err: error, run: run.runId }, "projection not written; the journal has it");
    }
    if (run.closed !== null) this.#forget(run.runId);
  }

  async #put(bucket: Kv, key: string, doc: object): Promise<void> {
    const text = canonicalJson(doc);
    if (this.#written.get(key) === text) return;
    await bucket.put(key, doc);
    this.#written.set(key, text);
  }

  #forget(runId: string): void {
    for (const key of this.#written.keys()) {
      if (key === runId || key.startsWith(`${runId}.`)) this.#written.delete(key);
    }
  }
}
