// Lists runs, page by page, the newest first; the archived ones follow. Only the runs of the page are read. A closed run
// never changes, so its line is cached; the cache is bounded and drops the oldest line. A run that cannot be read is
// listed with its error code and does not affect the others.
import { LRUCache } from "lru-cache";
import { AntiphonError, limits } from "@antiphon/contracts";
import { corruptSummary, runSummary } from "./run-summary.ts";
import type { RunSummary } from "./run-summary.ts";
import type { StoredRecord } from "@antiphon/contracts";
import type { RunCursor } from "@antiphon/runtime";
import type { Backend } from "../ports.ts";

const READ_AT_ONCE = 16;

export interface ListedRuns {
  readonly runs: readonly RunSummary[];
  readonly next: RunCursor | null;
}

export class RunList {
  readonly #backend: Backend;
  readonly #over = new LRUCache<string, RunSummary>({ max: limits.openRuns });

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  async page(limit: number, cursor: RunCursor | null): Promise<ListedRuns> {
    const { runIds, next } = await this.#backend.runPage(limit, cursor);
    return { runs: await this.#summaries(runIds), next };
  }

  async #summaries(ids: readonly string[]): Promise<RunSummary[]> {
    const all: RunSummary[] = [];
    for (let i = 0; i < ids.length; i += READ_AT_ONCE) {
      const page = await Promise.all(ids.slice(i, i + READ_AT_ONCE).map((id) => this.#summary(id)));
      all.push(...page.filter((summary) => summary !== null));
    }
    return all;
  }

  async #summary(runId: string): Promise<RunSummary | null> {
    const known = this.#over.get(runId);
    if (known !== undefined) return known;
    const records = await this.#read(runId);
    if (records instanceof AntiphonError) return corruptSummary(runId, records);
    const summary = runSummary(records);
    if (summary !== null && summary.endedAt !== null) this.#over.set(runId, summary);
    return summary;
  }

  async #read(runId: string): Promise<StoredRecord[] | AntiphonError> {
    try {
      return await this.#backend.read(runId);
    } catch (thrown) {
      const error = AntiphonError.from(thrown);
      if (error.code !== "ANT_JOURNAL_CORRUPT") throw thrown;
      return error;
    }
  }
}
