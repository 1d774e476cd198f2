// Checks the journal from outside: asks the gateway for the stored messages and computes every digest here.
//
// Invariants:
//   Y7  What the gateway says about a record is not believed: digests, causes, seals and signatures are computed from
//       the bytes it hands out. A gateway that leaves a record out is found by the records that name it.
//   Y8  A sequence below the journal's last one that no run accounts for is told of, also when no record misses it.
import type { DirectorKey, JournalOverview, JournalPartition, RunMaterial } from "@antiphon/contracts";
import { journalFault, type JournalFault } from "@antiphon/run/audit/journal-fault";
import { proveRun, type RunProof, type Trust } from "@antiphon/run/audit/run-proof";
import { trustIn } from "@antiphon/contracts/stored/signature";
import { partitionOf } from "@antiphon/contracts/topology/subjects";
import { SequenceSet } from "./sequence-set.ts";

export interface JournalReport {
  readonly ok: boolean;
  readonly runs: number;
  readonly records: number;
  /** Runs whose last record nothing covers yet: they are not closed. */
  readonly open: number;
  readonly unsigned: number;
  readonly faults: readonly JournalFault[];
  readonly notes: readonly string[];
}

/** What the check needs of the gateway's client. */
interface Source {
  get<T>(path: string): Promise<T>;
}

/** Runs read at the same time. */
const AT_ONCE = 8;

export interface CheckRequest {
  /** Null: the whole journal. */
  readonly runId: string | null;
  /** Thumbprints; empty: the keys the gateway publishes. */
  readonly trusted: readonly string[];
  progress(done: number, of: number, faults: number): void;
}

export interface CheckedJournal {
  readonly report: JournalReport;
  /** The runs that were looked at. */
  readonly runIds: readonly string[];
}

export async function checkJournal(gateway: Source, request: CheckRequest): Promise<CheckedJournal> {
  const overview = await gateway.get<JournalOverview>("/journal");
  const trust = await trustOf(gateway, request.trusted, overview.partitions.length);
  const runs = request.runId === null ? [...overview.runs, ...overview.onlyViewed] : [request.runId];
  const seen = overview.partitions.map(() => new SequenceSet());
  const proofs: RunProof[] = [];
  const faults: JournalFault[] = [];
  let records = 0;
  for (let from = 0; from < runs.length; from += AT_ONCE) {
    const page = runs.slice(from, from + AT_ONCE);
    for (const proof of await Promise.all(
      page.map(async (id) => proveRun(await material(gateway, id), trust)),
    )) {
      const own = seen[partitionOf(proof.runId, overview.partitions.length)];
      for (const seq of proof.seqs) own?.add(seq);
      faults.push(...proof.faults);
      records += proof.records;
      proofs.push({ ...proof, seqs: [], faults: [] });
    }
    request.progress(Math.min(from + AT_ONCE, runs.length), runs.length, faults.length);
  }
  overview.partitions.forEach((partition, i) => {
    faults.push(...lost(partition));
    if (request.runId !== null) return;
    const again = proofs.reduce((sum, { purgedAgain }) => sum + purgedAgain, 0);
    faults.push(...unaccounted(partition, seen[i], faults, again));
  });
  const report = {
    ok: faults.length === 0,
    runs: runs.length,
    records,
    open: proofs.filter(({ closed }) => !closed).length,
    unsigned: proofs.reduce((sum, { unsigned }) => sum + unsigned, 0),
    faults,
    notes: proofs.filter(({ viewUnreadable }) => viewUnreadable).map(({ runId }) => badView(runId)),
  };
  return { report, runIds: runs };
}

function badView(runId: string): string {
  return `the view of ${runId} in ANT_RUNS cannot be read; its records are what counts (--rebuild writes it again)`;
}

async function trustOf(gateway: Source, trusted: readonly string[], partitions: number): Promise<Trust> {
  const { keys } = await gateway.get<{ keys: DirectorKey[] }>("/keys");
  const believed = trusted.length === 0 ? keys : keys.filter(({ kid }) => trusted.includes(kid));
  return { doubt: trustIn(believed), partitions };
}

/** All pages of a run. */
async function material(gateway: Source, runId: string): Promise<RunMaterial> {
  let all = await gateway.get<RunMaterial>(`/runs/${runId}/journal`);
  while (all.next !== null) {
    const more = await gateway.get<RunMaterial>(`/runs/${runId}/journal?after=${all.next}`);
    all = { ...more, records: [...all.records, ...more.records] };
  }
  return all;
}

function lost({ stream, lostBytes, lastSeq }: JournalPartition): JournalFault[] {
  if (lostBytes === 0) return [];
  const found = `${stream} ends at ${lastSeq}, and ${lostBytes} bytes of it were dropped when the server was started`;
  return [streamFault(null, { expected: "every block that was written", found })];
}

/** Sequences are given once and in order, so one that nothing accounts for held a record (Y8). */
function unaccounted(
  { stream, lastSeq }: JournalPartition,
  seen: SequenceSet | undefined,
  faults: readonly JournalFault[],
  purgedAgain: number,
): JournalFault[] {
  const gaps = seen?.gapsUpTo(lastSeq) ?? [];
  // A record that is missing without a sequence of its own may be the one that a gap stands for.
  const nowhere = faults.filter(({ seq, kind }) => seq === null && kind !== "lost").length;
  const missing = gaps.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (missing > 0 && (missing === nowhere || missing <= purgedAgain)) return [];
  return gaps.map(([from, to]) =>
    streamFault(from, {
      expected: from === to ? `a record at ${stream} ${from}` : `records at ${stream} ${from} to ${to}`,
      found: "nothing, and no run accounts for it",
    }),
  );
}

function streamFault(seq: number | null, told: { expected: string; found: string }): JournalFault {
  return journalFault("lost", { runId: null, subject: null, seq }, told);
}
