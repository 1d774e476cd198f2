// Lists runs, page by page, the newest first; the archived ones follow. Only the runs of the page are read. A closed run
// never changes, so its line is cached. Of an open run the fold of its records is remembered, and only what came since is read,
// because the list is asked for again and again. Both caches are bounded and drop what was not asked for longest. A
// run that cannot be read is listed with its error code and does not affect the others.
import { LRUCache } from "lru-cache";
import { AntiphonError, limits } from "@antiphon/contracts";
import { corruptSummary, runSummary } from "./run-summary.ts";
import type { RunSummary } from "./run-summary.ts";
import { factsOf, foldFacts, type RunFacts } from "@antiphon/run";
import type { RunCursor } from "@antiphon/runtime";
import type { Backend } from "../ports.ts";

const READ_AT_ONCE = 16;

export interface ListedRuns {
  readonly runs: readonly RunSummary[];
  readonly next: RunCursor | null;
}

interface Folded {
  readonly facts: RunFacts;
  /** Sequences of the first and the last record. */
  readonly first: number;
  readonly last: number;
  readonly records: number;
}

export class RunList {
  readonly #backend: Pick<Backend, "runPage" | "read" | "next">;
  readonly #over = new LRUCache<string, RunSummary>({ max: limits.openRuns });

  readonly #open = new LRUCache<string, Folded>({
    maxSize: limits.foldedRecords,
    sizeCalculation: ({ records }) => Math.max(1, records),
  });

  constructor(backend: Pick<Backend, "runPage" | "read" | "next">) {
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
    const folded = await this.#folded(runId);
    if (folded instanceof AntiphonError) return corruptSummary(runId, folded);
    const summary = runSummary(folded.facts, folded.first);
    if (summary?.endedAt == null) this.#open.set(runId, folded);
    else {
      this.#over.set(runId, summary);
      this.#open.delete(runId);
    }
    return summary;
  }

  async #folded(runId: string): Promise<Folded | AntiphonError> {
    const before = this.#open.get(runId);
    try {
      return await (before === undefined ? this.#whole(runId) : this.#further(runId, before));
    } catch (thrown) {
      const error = AntiphonError.from(thrown);
      if (error.code !== "ANT_JOURNAL_CORRUPT") throw thrown;
      this.#open.delete(runId);
      return error;
    }
  }

  async #whole(runId: string): Promise<Folded> {
    const all = await this.#backend.read(runId);
    return {
      ...{ facts: factsOf(all), records: all.length },
      ...{ first: all[0]?.seq ?? 0, last: all.at(-1)?.seq ?? 0 },
    };
  }

  async #further(runId: string, before: Folded): Promise<Folded> {
    let folded = before;
    for (;;) {
      const more = await this.#backend.next(runId, folded.last + 1);
      const last = more.at(-1);
      if (last === undefined) return folded;
      const { facts, records } = folded;
      folded = {
        ...{ ...folded, facts: more.reduce(foldFacts, facts) },
        ...{ last: last.seq, records: records + more.length },
      };
    }
  }
}
