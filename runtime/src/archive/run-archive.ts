import type { ArchivedBody, ArchivedRun, BlobRef, Cause } from "@antiphon/contracts";
import { AntiphonError, journalStream, limits, parseJournalSubject, subjects } from "@antiphon/contracts";
import { contentsOf, entryOf, purgeable, sizeOf } from "./archive-plan.ts";
import { ArchiveTidy, OF_THE_RUN, type Tidied } from "./archive-tidy.ts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";
import { brokenChain } from "../journal/run-chain.ts";
import type { Journal } from "../journal/journal.ts";
import { PackIndex } from "./pack-index.ts";
import { PackStore, type ArchivedRecord } from "./pack-store.ts";
import { serverTime } from "../work/progress.ts";
import { deleteRecord } from "../journal/record-deletion.ts";
import { removeDocuments } from "./run-documents.ts";
import { isWhole, latestArchived, recordOf } from "../journal/run-history.ts";
import { journalStreamOf, runMessages } from "../journal/run-messages.ts";

/**
 * RunArchive: moves the records of finished runs from the journal into packs.
 *
 * Lifecycle: due -> pack (read, check, store, read back) -> record (`archived`) -> purge (pack renewed, documents,
 * records). Each step may be the last. A crash before `record` leaves an unused pack; the next sweep packs the same
 * runs, usually into the same object, and `tidy` removes the other one. After a crash later on, the run's `closed` is
 * still in the journal, so the run is due again and its purge is finished.
 *
 * Several archivers may work at once: `archived` is a register, and deleting twice is harmless. Only a closed run whose
 * records and chain of causes are intact is packed; forged decisions are neither packed nor purged. A restored run is
 * due again once its restore has reached the archiving age.
 *
 * A record is deleted only when `archived` is stored and the pack renewed as well; `closed` goes last, so an interrupted purge never
 * leaves an open run.
 *
 * Promises:
 *   runtime/J10 Because a purged record exists only in its pack, it is deleted only after the pack was read back with
 *     the same bytes, the `intent` first and `closed` last, so that a run reads the same before, during and after it is
 *     archived, and an interrupted purge is found again.
 */
export interface PackedRun {
  readonly runId: string;
  readonly entry: ArchivedRun;
  /** The pack that holds it. */
  readonly pack: BlobRef;
  readonly epoch: number;
  readonly closed: Cause;
  /** Body of its `archived` record; null: it is archived already, and only its purge is left. */
  readonly body: ArchivedBody | null;
  /** Sequences of its records in the journal, in the order of deletion. */
  readonly live: readonly number[];
}

export interface Packed {
  readonly runs: PackedRun[];
  /** Runs that were not packed, and why. */
  readonly refused: { runId: string; code: string; detail: string }[];
}

export interface RunArchive {
  /** Runs closed before a time, oldest first, without those in `except`. */
  due(until: Date, limit: number, except: ReadonlySet<string>): Promise<string[]>;
  /** Packs as many of the runs as fit one pack, and checks the stored pack. */
  pack(runIds: readonly string[], until: Date): Promise<Packed>;
  /** Stores for each run where its records are; returns the runs that may be purged. */
  record(packed: Packed): Promise<PackedRun[]>;
  /** Returns how many records were deleted. */
  purge(runs: readonly PackedRun[]): Promise<number>;
  /** Removes some of what crashes and late writes left behind before a time; the rest is left for the next call. */
  tidy(until: Date): Promise<Tidied>;
  /** The server's clock, which measures the age of records. */
  now(): Promise<Date>;
}

/** Runs read or purged at the same time. More would only queue on the server. */
const AT_ONCE = 8;
const PAGE = 256;
export function openRunArchive(bus: Bus, journal: Journal): RunArchive {
  return new JetStreamRunArchive(bus, journal);
}

type Look =
  { kind: "pack"; run: Omit<PackedRun, "pack"> } | { kind: "purge"; run: PackedRun } | { kind: "leave" };

class JetStreamRunArchive implements RunArchive {
  private readonly bus: Bus;
  private readonly journal: Journal;
  private readonly packs: PackStore;
  private readonly index: PackIndex;
  private readonly tidying: ArchiveTidy;

  constructor(bus: Bus, journal: Journal) {
    this.bus = bus;
    this.journal = journal;
    this.packs = new PackStore(bus);
    this.index = new PackIndex(bus);
    this.tidying = new ArchiveTidy(bus, journal, this.packs, this.index);
  }

  now(): Promise<Date> {
    return serverTime(this.bus);
  }

  async due(until: Date, limit: number, except: ReadonlySet<string>): Promise<string[]> {
    const found: string[] = [];
    for (let partition = 0; partition < this.bus.partitions && found.length < limit; partition += 1) {
      const filter = subjects.partitionType(partition, "closed");
      for (let seq = 1, more = true; more && found.length < limit;) {
        const batch = Math.min(PAGE, limit + except.size - found.length);
        const page = await this.bus.reader.next(journalStream(partition), { filter, seq, batch });
        const old = page.messages.filter(({ at }) => at < until);
        const over = old.filter((message) => this.isBelieved(message, journalStream(partition)));
        const ids = over.flatMap(({ subject }) => parseJournalSubject(subject)?.runId ?? []);
        found.push(...ids.filter((runId) => !except.has(runId)).slice(0, limit - found.length));
        seq = (page.messages.at(-1)?.seq ?? 0) + 1;
        more = page.pending > 0 && old.length === page.messages.length;
      }
    }
    return found;
  }

  /** A forged `closed` ends no run, and must not use up the limit either. */
  private isBelieved(message: StoredMessage, stream: string): boolean {
    const why = this.bus.records.doubt(message);
    if (why !== null) this.bus.forged.alarm(message, why, stream);
    return why === null;
  }

  async pack(runIds: readonly string[], until: Date): Promise<Packed> {
    const packed: Packed = { runs: [], refused: [] };
    const fresh: Omit<PackedRun, "pack">[] = [];
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
    const pack = await this.packs.store(entries, digests); // runtime/J10
    for (const { run, contents: body } of contents)
      packed.runs.push({ ...run, pack, body: { pack, ...body } });
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
        return result.kind !== "conflict"; // On a conflict another archiver's pack holds the run, and it purges.
      }),
    );
    return runs.filter((_, i) => said[i] === true);
  }

  async purge(runs: readonly PackedRun[]): Promise<number> {
    const safe = await this.held(runs);
    let gone = 0;
    for (let from = 0; from < safe.length; from += AT_ONCE) {
      const some = safe.slice(from, from + AT_ONCE);
      const counts = await Promise.all(some.map((run) => this.purgeRun(run)));
      gone += counts.reduce((sum, count) => sum + count, 0);
    }
    return gone;
  }

  tidy(until: Date): Promise<Tidied> {
    return this.tidying.run(until);
  }

  /** The runs whose pack exists and can no longer be removed. */
  private async held(runs: readonly PackedRun[]): Promise<PackedRun[]> {
    const names = [...new Set(runs.map(({ pack }) => pack.name))];
    const isHeld = new Map<string, boolean>();
    for (const name of names) isHeld.set(name, await this.index.renew(name)); // runtime/J10
    return runs.filter(({ pack }) => isHeld.get(pack.name) === true);
  }

  private async purgeRun({ runId, live }: PackedRun): Promise<number> {
    const stream = journalStreamOf(this.bus, runId);
    await removeDocuments(this.bus, runId); // Before `closed`, so that an interrupted purge removes them next time.
    for (const seq of live) await deleteRecord(this.bus, stream, seq); // runtime/J10
    return live.length;
  }

  /** The run's entry in its pack; null: the pack is gone, and the journal still has everything. */
  private async entryOf(archived: ArchivedRecord, isWhole: boolean): Promise<ArchivedRun | null> {
    try {
      return await this.packs.entry(archived);
    } catch (error) {
      if (isWhole && AntiphonError.from(error).code === "ANT_ARCHIVE_CORRUPT") return null;
      throw error;
    }
  }

  /** Decides what to do with a run from its records in the journal. */
  private async look(runId: string, until: Date): Promise<Look> {
    const messages = await runMessages(this.bus, runId);
    const records = messages.map((message) => this.bus.records.read(message));
    const storedAt = new Map(messages.map(({ subject, at }) => [subject, at]));
    const latest = latestArchived(records);
    const restored = records.find(({ type, epoch }) => type === "restored" && epoch === latest?.epoch);
    if (restored !== undefined && (storedAt.get(restored.subject) ?? until) >= until)
      return { kind: "leave" };
    const closed = records.find(({ type }) => type === "closed");
    if (closed === undefined) return { kind: "leave" }; // Another archiver was faster.
    const cause = { seq: closed.seq, digest: closed.digest };
    const there = latest === null ? null : await this.entryOf(latest, isWhole(latest, records, messages));
    if (latest !== null && restored === undefined && there !== null) {
      const { pack } = latest.body;
      const run = { runId, entry: there, pack, epoch: latest.epoch, closed: cause, body: null };
      return { kind: "purge", run: { ...run, live: purgeable(messages, there, latest.epoch) } };
    }
    const entry = entryOf(runId, messages, there);
    const history = there === null ? records : entry.records.map((message) => recordOf(this.bus, message));
    const broken = brokenChain(history);
    if (broken !== null) throw new AntiphonError("ANT_JOURNAL_GAP", `${runId}: ${broken}`);
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
