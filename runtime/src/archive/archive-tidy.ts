import { AntiphonError, STORAGE_TYPES, subjects, type StoredRecord } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { digestFromMeta } from "../stores/object-layout.ts";
import type { Journal } from "../journal/journal.ts";
import type { PackIndex, SeenPack } from "./pack-index.ts";
import type { ArchivedRecord, PackStore } from "./pack-store.ts";
import { documentedRunIds, removeDocuments } from "./run-documents.ts";
import { latestArchived } from "../journal/run-history.ts";
import { journalStreamOf, runMessages } from "../journal/run-messages.ts";

/**
 * ArchiveTidy: removes what crashed archivers left behind: packs without a record, and documents of archived runs.
 *
 * It removes a pack only if no run points to it and the journal or another pack holds each of its runs completely. If a
 * pack holds the only copy of a run, the record that pointed to it was lost; such a pack is kept and reported.
 */
export interface Tidied {
  /** Names of the removed packs. */
  readonly packs: string[];
  /** Packs that hold the only copy of a run, or that cannot be read; each is reported once. */
  readonly kept: { pack: string; detail: string }[];
  /** Number of removed documents. */
  readonly documents: number;
  /** There may be more. */
  readonly more: boolean;
}

/** Packs that one `tidy` reads, and runs whose documents it removes. */
const TIDY_PACKS = 16;
const TIDY_RUNS = 256;
/** Errors that concern one run only; any other error stops the sweep. */
export const OF_THE_RUN: ReadonlySet<string> = new Set([
  "ANT_ARCHIVE_CORRUPT",
  "ANT_JOURNAL_CORRUPT",
  "ANT_JOURNAL_GAP",
  "ANT_SIGNATURE_INVALID",
]);

/** A pack is in use, or unused, or unused but the only copy of a run. */
type Finding = { kind: "needed" | "stray" } | { kind: "only-copy"; detail: string };
export class ArchiveTidy {
  private readonly bus: Bus;
  private readonly journal: Journal;
  private readonly packs: PackStore;
  private readonly index: PackIndex;
  /** Packs that this process has examined and found in use, or reported. */
  private readonly settled = new Set<string>();

  constructor(bus: Bus, journal: Journal, packs: PackStore, index: PackIndex) {
    this.bus = bus;
    this.journal = journal;
    this.packs = packs;
    this.index = index;
  }

  /** Examines some of the packs older than `until`. */
  async run(until: Date): Promise<Tidied> {
    const packs: string[] = [];
    const kept: Tidied["kept"] = [];
    let read = 0;
    for (const name of await this.index.names()) {
      if (this.settled.has(name)) continue;
      const seen = await this.index.look(name); // Before the runs that may point to it, see pack-index.ts.
      if (seen === null || seen.at >= until) continue;
      if ((read += 1) > TIDY_PACKS) break;
      const finding = await this.finding(seen);
      if (finding.kind === "stray" && (await this.index.remove(seen))) packs.push(name);
      if (finding.kind === "only-copy") kept.push({ pack: name, detail: finding.detail });
      if (finding.kind !== "stray") this.settled.add(name);
    }
    const documents = await this.tidyDocuments();
    return { packs, kept, documents: documents.gone, more: read > TIDY_PACKS || documents.more };
  }

  /** Removes nothing that holds the only copy of a run. */
  private async finding(seen: SeenPack): Promise<Finding> {
    try {
      const contents = await this.packs.contents(seen.name, digestFromMeta(seen.digest));
      for (const [runId, records] of contents) {
        const finding = await this.findingOf(runId, records, seen.name);
        if (finding.kind !== "stray") return finding;
      }
      return { kind: "stray" };
    } catch (error) {
      const { code, detail } = AntiphonError.from(error);
      if (!OF_THE_RUN.has(code)) throw error;
      return { kind: "only-copy", detail: `${code}: ${detail}` };
    }
  }

  private async findingOf(runId: string, records: number, pack: string): Promise<Finding> {
    const messages = await runMessages(this.bus, runId);
    const live = messages.map((message) => this.bus.records.read(message));
    const archived = live.filter((record): record is ArchivedRecord => record.type === "archived");
    if (archived.some(({ body }) => body.pack.name === pack)) return { kind: "needed" };
    if (archived.length > 0) return { kind: "stray" }; // Another pack holds it.
    const own = live.filter(({ type }) => !STORAGE_TYPES.includes(type));
    const isThere = own.some(({ type }) => type === "intent") && own.length >= records;
    return isThere
      ? { kind: "stray" }
      : { kind: "only-copy", detail: `it holds the only complete copy of ${runId}` };
  }

  /** Removes documents that were written after their run was archived. */
  private async tidyDocuments(): Promise<{ gone: number; more: boolean }> {
    const documented = await documentedRunIds(this.bus);
    for (const runId of await this.journal.runIds()) documented.delete(runId);
    let [gone, runs] = [0, 0];
    for (const runId of documented) {
      if (runs >= TIDY_RUNS) return { gone, more: true };
      const records = await this.storageOf(runId);
      const latest = latestArchived(records);
      const isBack = records.some(({ type, epoch }) => type === "restored" && epoch === latest?.epoch);
      if (latest === null || isBack) continue;
      gone += await removeDocuments(this.bus, runId);
      runs += 1;
    }
    return { gone, more: false };
  }

  private async storageOf(runId: string): Promise<StoredRecord[]> {
    const filters = STORAGE_TYPES.map((type) =>
      subjects.runTypeInPartition(runId, type, this.bus.partitions),
    );
    const messages = await this.bus.reader.multiLast(journalStreamOf(this.bus, runId), filters);
    return messages.map((message) => this.bus.records.read(message));
  }
}
