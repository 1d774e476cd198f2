/**
 * The documents of a run that nobody needs once it is archived, and that are removed then: its view in `ANT_RUNS` and its
 * contracts in `ANT_CONTRACTS`, which a reader rebuilds from the records, and in `ANT_BUDGETS` the lists of its attempts' model calls
 * and their checkpoints, from which only another attempt of an open run goes on. The run's account there stays.
 */
import { AntiphonError, BUCKETS } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

/** The keys of one run's documents, and of those of all runs. */
const PLACES = [
  { bucket: BUCKETS.runs, of: (runId: string) => runId, all: ">" },
  { bucket: BUCKETS.contracts, of: (runId: string) => `${runId}.>`, all: ">" },
  { bucket: BUCKETS.budgets, of: (runId: string) => `${runId}.*.*`, all: "*.*.*" },
] as const;

/** Returns how many were removed. A KV bucket forbids deleting one message but allows a purge by subject. */
export async function removeDocuments(bus: Bus, runId: string): Promise<number> {
  try {
    const purged = await Promise.all(
      PLACES.map(({ bucket, of }) =>
        bus.jsm.streams.purge(`KV_${bucket}`, { filter: `$KV.${bucket}.${of(runId)}` }),
      ),
    );
    return purged.reduce((sum, one) => sum + one.purged, 0);
  } catch (error) {
    throw AntiphonError.from(error, "ANT_NATS_UNREACHABLE");
  }
}

/** Ids of the runs that have documents. Lists subjects only. */
export async function documentedRunIds(bus: Bus): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const { bucket, all } of PLACES) {
    const prefix = `$KV.${bucket}.`;
    const { state } = await bus.jsm.streams.info(`KV_${bucket}`, { subjects_filter: `${prefix}${all}` });
    for (const subject of Object.keys(state.subjects ?? {}))
      ids.add(subject.slice(prefix.length).split(".")[0] ?? "");
  }
  return ids;
}
