// Checks the journal from outside. It reads the stored messages from the gateway and does not trust the gateway's
// statements about them: digests, causes, seals and signatures are computed here, from the bytes. If the gateway
// withholds a record, the records that name it reveal the gap. A sequence below the journal's last one that belongs to
// no run is reported too.
import type { JournalPartition, RunMaterial } from "@antiphon/contracts";
import { journalFault, type JournalFault } from "@antiphon/run/audit/journal-fault";
import { proveRun, type RunProof, type Trust } from "@antiphon/run/audit/run-proof";
import { trustIn } from "@antiphon/contracts/stored/signature";
import { partitionOf } from "@antiphon/contracts/topology/subjects";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { SequenceSet } from "./sequence-set.ts";

export interface JournalReport {
  readonly ok: boolean;
  readonly runs: number;
  readonly records: number;
  /** Open runs: no seal covers their last record yet. */
  readonly open: number;
  readonly unsigned: number;
  readonly faults: readonly JournalFault[];
  readonly notes: readonly string[];
}

/** The part of the gateway's client that the check needs. */
type Source = Pick<GatewayClient, "get">;

/** Runs read at the same time. */
const AT_ONCE = 8;

export interface CheckRequest {
  /** Null: the whole journal. */
  readonly runId: string | null;
  /** Thumbprints. Empty: the keys the gateway publishes. */
  readonly trusted: readonly string[];
  progress(done: number, of: number, faults: number): void;
}

export interface CheckedJournal {
  readonly report: JournalReport;
  /** The runs that were checked. */
  readonly runIds: readonly string[];
}

export async function checkJournal(gateway: Source, request: CheckRequest): Promise<CheckedJournal> {
  const overview = await gateway.get("/journal");
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
  return `the view of ${runId} in ANT_RUNS cannot be read; its records are not affected (--rebuild writes the view again)`;
}

async function trustOf(gateway: Source, trusted: readonly string[], partitions: number): Promise<Trust> {
  const { keys } = await gateway.get("/keys");
  const believed = trusted.length === 0 ? keys : keys.filter(({ kid }) => trusted.includes(kid));
  return { doubt: trustIn(believed), partitions };
}

/** All pages of a run. */
async function material(gateway: Source, runId: string): Promise<RunMaterial> {
  let all = await gateway.get("/runs/{id}/journal", { id: runId });
  while (all.next !== null) {
    const more = await gateway.get("/runs/{id}/journal", { id: runId, after: all.next });
    all = { ...more, records: [...all.records, ...more.records] };
  }
  return all;
}

function lost({ stream, lostBytes, lastSeq }: JournalPartition): JournalFault[] {
  if (lostBytes === 0) return [];
  const found = `${stream} ends at ${lastSeq}, and ${lostBytes} bytes of it were dropped when the server started`;
  return [streamFault(null, { expected: "every block that was written", found })];
}

/** Sequences are assigned once and in order, so one that belongs to no run held a record that is gone. */
function unaccounted(
  { stream, lastSeq }: JournalPartition,
  seen: SequenceSet | undefined,
  faults: readonly JournalFault[],
  purgedAgain: number,
): JournalFault[] {
  const gaps = seen?.gapsUpTo(lastSeq) ?? [];
  // A record reported missing without a sequence may be the one that left the gap.
  const nowhere = faults.filter(({ seq, kind }) => seq === null && kind !== "lost").length;
  const missing = gaps.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (missing > 0 && (missing === nowhere || missing <= purgedAgain)) return [];
  return gaps.map(([from, to]) =>
    streamFault(from, {
      expected: from === to ? `a record at ${stream} ${from}` : `records at ${stream} ${from} to ${to}`,
      found: "nothing, and no run explains the gap",
    }),
  );
}

function streamFault(seq: number | null, told: { expected: string; found: string }): JournalFault {
  return journalFault("lost", { runId: null, subject: null, seq }, told);
}
