import type { ArchivedBody, ArchivedRun, BlobRef, Cause } from "@antiphon/contracts";
import { AntiphonError, journalStream, limits, parseJournalSubject, subjects } from "@antiphon/contracts";
import { contentsOf, entryOf, purgeable, sizeOf } from "./archive-plan.ts";
import { ArchiveTidy, OF_THE_RUN, type Tidied } from "./archive-tidy.ts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-reader.ts";
import { brokenChain } from "../journal/run-chain.ts";
import type { Journal } from "../journal/journal.ts";
import { PackIndex } from "./pack-index.ts";
import { PackShelf, type ArchivedRecord } from "./pack-shelf.ts";
import { serverTime } from "../work/progress.ts";
import { deleteRecord } from "../journal/record-deletion.ts";
import { removeDocuments } from "./run-documents.ts";
import { isWhole, latestArchived, recordOf } from "../journal/run-history.ts";
import { journalStreamOf, runMessages } from "../journal/run-messages.ts";

/**
 * RunArchive: moves the records of finished runs out of the journal into packs, in steps that can each be the last.
 *
 *   due -> pack (read, check, store, read back) -> record (`archived`) -> purge (pack renewed, documents, records)
 *
 * A crash before `record` leaves an object nobody refers to; the next sweep packs the same runs, most often into the same
 * object, and `tidy` removes it where it did not. A crash after it leaves a run that is read from the journal or its pack,
 * and whose `closed` is still in the journal, so that it is due again and the purge is finished.
 *
 * Invariants:
 *   X1 Only a run that is closed, whose records all have their digests and shapes and whose chain holds, is packed.
 *      What nobody believes (forged.ts) is neither packed nor purged: it stays in the journal, for whoever looks into it.
 *   X2 Nothing is purged but what a pack holds that was read back by this process: each record by its own sequence, after
 *      `archived` is stored. What was said later stays where it is.
 *   X3 `intent` goes first and `closed` last, so that a purge cut short is never an open run, and is found again.
 *   X4 Any number of archivers may work at once: `archived` is a register, and to delete twice is to delete once.
 *   X5 A restored run is due again only when its restore is as old as an end has to be.
 *   X6 A pack is there when a purge that rests on it begins, and none is removed after that: it is renewed once `archived`
 *      is stored (pack-index.ts). Is it gone, nothing is purged, and the run is packed anew from the journal.
 *   X11 An archived run has no documents: they go before its `closed`, so a purge cut short ends with that too. What was
 *      written of it later goes with the next `tidy` (archive-tidy.ts).
 */
export interface PackedRun {
  readonly runId: string;
  readonly entry: ArchivedRun;
  /** Where it is kept. */
  readonly pack: BlobRef;
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
  /** Removes what crashes and late words left behind before a time: some of it, the rest the next time. */
  tidy(until: Date): Promise<Tidied>;
  /** The server's clock, by which records are old. */
  now(): Promise<Date>;
}

/** Runs read, or purged, at the same time. More would only stand in line on the server. */
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
  private readonly shelf: PackShelf;
  private readonly index: PackIndex;
  private readonly tidying: ArchiveTidy;

  constructor(bus: Bus, journal: Journal) {
    this.bus = bus;
    this.journal = journal;
    this.shelf = new PackShelf(bus);
    this.index = new PackIndex(bus);
    this.tidying = new ArchiveTidy(bus, journal, this.shelf, this.index);
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

  /** What was forged on the subject of an end is no end, and must not take its place either. */
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
    const pack = await this.shelf.store(entries, digests); // X2
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
        return result.kind !== "conflict"; // X4: another archiver's pack holds it, and it purges.
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

  /** X6: those whose pack is there, and stays. */
  private async held(runs: readonly PackedRun[]): Promise<PackedRun[]> {
    const names = [...new Set(runs.map(({ pack }) => pack.name))];
    const isHeld = new Map<string, boolean>();
    for (const name of names) isHeld.set(name, await this.index.renew(name));
    return runs.filter(({ pack }) => isHeld.get(pack.name) === true);
  }

  private async purgeRun({ runId, live }: PackedRun): Promise<number> {
    const stream = journalStreamOf(this.bus, runId);
    await removeDocuments(this.bus, runId); // X11
    for (const seq of live) await deleteRecord(this.bus, stream, seq); // X3
    return live.length;
  }

  /** What its pack holds of a run; null: the pack is gone, and the journal has everything (X6). */
  private async entryOf(archived: ArchivedRecord, isWhole: boolean): Promise<ArchivedRun | null> {
    try {
      return await this.shelf.entry(archived);
    } catch (error) {
      if (isWhole && AntiphonError.from(error).code === "ANT_ARCHIVE_CORRUPT") return null;
      throw error;
    }
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
    const there = latest === null ? null : await this.entryOf(latest, isWhole(latest, records, messages));
    if (latest !== null && restored === undefined && there !== null) {
      const { pack } = latest.body;
      const run = { runId, entry: there, pack, epoch: latest.epoch, closed: cause, body: null };
      return { kind: "purge", run: { ...run, live: purgeable(messages, there, latest.epoch) } };
    }
    const entry = entryOf(runId, messages, there);
    const history = there === null ? records : entry.records.map((message) => recordOf(this.bus, message));
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
