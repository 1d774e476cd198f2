// Serves the journal's raw messages, so that a checker can compute the digests without trusting the gateway.
import { AntiphonError, rawRecord } from "@antiphon/contracts";
import type { JournalOverview, RawRecord, RunMaterial } from "@antiphon/contracts";
import type { Backend } from "../ports.ts";

/** Maximum payload bytes of one answer; the next page begins after its last record. */
const PAGE_BYTES = 4 * 1024 * 1024;

export interface JournalController {
  overview(): Promise<JournalOverview>;
  run(runId: string, after: number): Promise<RunMaterial>;
}

export function journalController(backend: Backend): JournalController {
  return {
    async overview() {
      const [partitions, viewed] = await Promise.all([backend.audit.partitions(), backend.viewedRuns()]);
      // Listed after the partitions, so a run that starts meanwhile is listed with sequences beyond the reported last one.
      const runs = await backend.audit.runIds();
      const known = new Set(runs);
      return { partitions, runs, onlyViewed: viewed.filter((runId) => !known.has(runId)) };
    },
    async run(runId, after) {
      const [{ messages, unreadable, archiveProblem }, view] = await Promise.all([
        backend.audit.run(runId),
        storedView(backend, runId),
      ]);
      if (messages.length + unreadable.length === 0 && view === null)
        throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
      const rest = { runId, unreadable, archiveProblem, view };
      const records: RawRecord[] = [];
      let bytes = 0;
      for (const message of messages) {
        if (message.seq <= after) continue;
        const next = records.at(-1)?.seq ?? null;
        bytes += message.data.length;
        if (bytes > PAGE_BYTES && next !== null) return { ...rest, records, next };
        records.push(rawRecord(message, message.storedSeq));
      }
      return { ...rest, records, next: null };
    },
  };
}

/** A view that is not JSON is sent as an empty object, which a checker recognizes as unreadable. */
async function storedView(backend: Backend, runId: string): Promise<RunMaterial["view"]> {
  try {
    return (await backend.storedView(runId)) as RunMaterial["view"];
  } catch (error) {
    if (AntiphonError.from(error).code !== "ANT_STATE_CORRUPT") throw error;
    return {} as unknown as RunMaterial["view"];
  }
}
