import type { ArchivedBody, ArchivedRun, Cause } from "@antiphon/contracts";
import { AntiphonError, journalStream, limits, parseJournalSubject, subjects } from "@antiphon/contracts";
import { contentsOf, entryOf, purgeable, sizeOf } from "./archive-plan.ts";
import type { Bus } from "./bus.ts";
import { brokenChain } from "./core/run-chain.ts";
import type { Journal } from "./journal.ts";
import { PackShelf } from "./pack-shelf.ts";
import { deleteRecord } from "./record-deletion.ts";
import { latestArchived, recordOf } from "./run-history.ts";
import { journalStreamOf, runMessages } from "./run-messages.ts";

/**
 * RunArchive: moves the records of finished runs out of the journal into packs, in steps that can each be the last.
 *
 *   due -> pack (read, check, store, read back) -> record (`archived`) -> purge
 *
 * A crash before `record` leaves an object nobody refers to; the next sweep packs the same runs, most often into the same
 * object. A crash after it leaves a run that is read from its pack, and whose `closed` is still in the journal, so that
 * it is due again and the purge is finished.
 *
 * Invariants:
 *   X1 Only a run that is closed, whose records all have their digests and shapes and whose chain holds, is packed.
 *   X2 Nothing is purged but what a pack holds that was read back by this process: each record by its own sequence, after
 *      `archived` is stored. What was said later stays where it is.
 *   X3 `intent` goes first and `closed` last, so that a purge cut short is never an open run, and is found again.
 *   X4 Any number of archivers may work at once: `archived` is a register, and to delete twice is to delete once.
 *   X5 A restored run is due again only when its restore is as old as an end has to be.
 */
export interface PackedRun {
  readonly runId: string;
  readonly entry: ArchivedRun;
  readonly epoch: number;
  readonly closed: Cause;
  /** What the pack says of it; null: it was archived before, and only its purge is left. */
  readonly body: ArchivedBody | null;
  /** Its records in the journal, in the order they are to go. */
  readonly live: readonly number[];
}

export interface Packed {
  readonly runs: PackedRun[];
  /** Runs that were left as they are, and why. */
  readonly refused: { runId: string; code: string; detail: string }[];
}

export interface RunArchive {
  /** Runs closed before a time, oldest first; `except` are passed over. */
  due(until: Date, limit: number, except: ReadonlySet<string>): Promise<string[]>;
  /** Packs as many of the runs as one pack takes, and checks what was stored (X1). */
  pack(runIds: readonly string[], until: Date): Promise<Packed>;
  /** Says for each run where its records are; gives back those that may be purged. */
  record(packed: Packed): Promise<PackedRun[]>;
  /** Returns how many records went (X2, X3). */
  purge(runs: readonly PackedRun[]): Promise<number>;
}

/** Runs read, or purged, at the same time. More would only stand in line on the server. */
const AT_ONCE = 8;
const PAGE = 256;
/** What is wrong with one run, and stays with it; anything else stops the sweep. */
const OF_THE_RUN: ReadonlySet<string> = new Set([
  "ANT_ARCHIVE_CORRUPT",
  "ANT_JOURNAL_CORRUPT",
  "ANT_JOURNAL_GAP",
]);

export function openRunArchive(bus: Bus, journal: Journal): RunArchive {
  return new JetStreamRunArchive(bus, journal);
}

type Look = { kind: "pack" | "purge"; run: PackedRun } | { kind: "leave" };

class JetStreamRunArchive implements RunArchive {
  private readonly bus: Bus;
  private readonly journal: Journal;
  private readonly shelf: PackShelf;

  constructor(bus: Bus, journal: Journal) {
    this.bus = bus;
    this.journal = journal;
    this.shelf = new PackShelf(bus);
  }

  async due(until: Date, limit: number, except: ReadonlySet<string>): Promise<string[]> {
    const found: string[] = [];
    for (let partition = 0; partition < this.bus.partitions && found.length < limit; partition += 1) {
      const filter = subjects.partitionType(partition, "closed");
      for (let seq = 1, more = true; more && found.length < limit;) {
        const batch = Math.min(PAGE, limit + except.size - found.length);
        const page = await this.bus.reader.next(journalStream(partition), { filter, seq, batch });
        const old = page.messages.filter(({ at }) => at < until);
        const ids = old.flatMap(({ subject }) => parseJournalSubject(subject)?.runId ?? []);
        found.push(...ids.filter((runId) => !except.has(runId)).slice(0, limit - found.length));
        seq = (page.messages.at(-1)?.seq ?? 0) + 1;
        more = page.pending > 0 && old.length === page.messages.length;
      }
    }
    return found;
  }

  async pack(runIds: readonly string[], until: Date): Promise<Packed> {
    const packed: Packed = { runs: [], refused: [] };
    const fresh: PackedRun[] = [];
    let bytes = 0;
    for (let from = 0; from < runIds.length && bytes < limits.archivePackBytes; from += AT_ONCE) {
      const ids = runIds.slice(from, from + AT_ONCE);
      const looks = await Promise.allSettled(ids.map((runId) => this.look(runId, until)));
      for (const [i, look] of looks.entries()) {
        if (look.status === "rejected") packed.refused.push(refusal(ids[i] ?? "", look.reason));
        else if (look.value.kind === "purge") packed.runs.push(look.value.run);
        else if (look.value.kind === "pack") {
          fresh.push(look.value.run);
          bytes += sizeOf(look.value.run.entry);
        }
      }
    }
    if (fresh.length === 0) return packed;
    const contents = fresh.map((run) => ({ run, contents: contentsOf(run.entry) }));
    const digests = new Map(contents.map(({ run, contents: { digest } }) => [run.runId, digest]));
    const entries = fresh.map(({ entry }) => entry);
    const pack = await this.shelf.store(entries, digests); // X2
    for (const { run, contents: body } of contents) packed.runs.push({ ...run, body: { pack, ...body } });
    return packed;
  }

  async record({ runs }: Packed): Promise<PackedRun[]> {
    const said = await Promise.all(
      runs.map(async ({ runId, epoch, closed, body }) => {
        if (body === null) return true;
        const result = await this.journal.append({
          type: "archived",
          ...{ runId, taskId: null, epoch, cause: closed, body },
        });
        return result.kind !== "conflict"; // X4: another archiver's pack holds it, and it purges.
      }),
    );
    return runs.filter((_, i) => said[i] === true);
  }

  async purge(runs: readonly PackedRun[]): Promise<number> {
    let gone = 0;
    for (let from = 0; from < runs.length; from += AT_ONCE) {
      const some = runs.slice(from, from + AT_ONCE);
      const counts = await Promise.all(some.map((run) => this.purgeRun(run)));
      gone += counts.reduce((sum, count) => sum + count, 0);
    }
    return gone;
  }

  private async purgeRun({ runId, live }: PackedRun): Promise<number> {
    const stream = journalStreamOf(this.bus, runId);
    for (const seq of live) await deleteRecord(this.bus, stream, seq); // X3
    return live.length;
  }

  /** What is to be done with a run, from what the journal holds of it. */
  private async look(runId: string, until: Date): Promise<Look> {
    const messages = await runMessages(this.bus, runId);
    const records = messages.map((message) => this.bus.records.read(message));
    const storedAt = new Map(messages.map(({ subject, at }) => [subject, at]));
    const latest = latestArchived(records);
    const restored = records.find(({ type, epoch }) => type === "restored" && epoch === latest?.epoch);
    if (restored !== undefined && (storedAt.get(restored.subject) ?? until) >= until)
      return { kind: "leave" }; // X5
    const closed = records.find(({ type }) => type === "closed");
    if (closed === undefined) return { kind: "leave" }; // Another archiver was faster.
    const cause = { seq: closed.seq, digest: closed.digest };
    if (latest !== null && restored === undefined) {
      const entry = await this.shelf.entry(latest);
      const run = { runId, entry, epoch: latest.epoch, closed: cause, body: null };
      return { kind: "purge", run: { ...run, live: purgeable(messages, entry, latest.epoch) } };
    }
    const before = latest === null ? null : await this.shelf.entry(latest);
    const entry = entryOf(runId, messages, before);
    const history = before === null ? records : entry.records.map((message) => recordOf(this.bus, message));
    const broken = brokenChain(history);
    if (broken !== null) throw new AntiphonError("ANT_JOURNAL_GAP", `${runId}: ${broken}`); // X1
    const epoch = (latest?.epoch ?? 0) + 1;
    const run = { runId, entry, epoch, closed: cause, body: null };
    return { kind: "pack", run: { ...run, live: purgeable(messages, entry, epoch) } };
  }
}

function refusal(runId: string, reason: unknown): Packed["refused"][number] {
  const error = AntiphonError.from(reason);
  if (!OF_THE_RUN.has(error.code)) throw error;
  return { runId, code: error.code, detail: error.detail };
}
