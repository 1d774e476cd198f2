import { AntiphonError, STORAGE_TYPES, subjects, type StoredRecord } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { digestFromMeta } from "../stores/object-layout.ts";
import type { Journal } from "../journal/journal.ts";
import type { PackIndex, SeenPack } from "./pack-index.ts";
import type { ArchivedRecord, PackShelf } from "./pack-shelf.ts";
import { documentedRunIds, removeDocuments } from "./run-documents.ts";
import { latestArchived } from "../journal/run-history.ts";
import { journalStreamOf, runMessages } from "../journal/run-messages.ts";

/**
 * ArchiveTidy: removes what archivers that crashed left behind: packs without a record, documents of archived runs.
 *
 * Invariants:
 *   X10 `tidy` removes a pack only when no run points to it and each of its runs is whole in the journal or in another
 *      pack. One that holds what is nowhere else stays, and is named: the record that pointed to it was lost.
 */
export interface Tidied {
  /** Names of packs that went. */
  readonly packs: string[];
  /** Packs with runs that are nowhere else, or that cannot be read; each is told of once. */
  readonly kept: { pack: string; detail: string }[];
  /** Documents that went. */
  readonly documents: number;
  /** There may be more. */
  readonly more: boolean;
}

/** Packs one `tidy` reads, and runs whose documents it removes. */
const TIDY_PACKS = 16;
const TIDY_RUNS = 256;
/** What is wrong with one run, and stays with it; anything else stops the sweep. */
export const OF_THE_RUN: ReadonlySet<string> = new Set([
  "ANT_ARCHIVE_CORRUPT",
  "ANT_JOURNAL_CORRUPT",
  "ANT_JOURNAL_GAP",
  "ANT_SIGNATURE_INVALID",
]);

/** What is to become of a pack: somebody needs it, nobody does, or nobody points to it and it must not go. */
type Finding = { kind: "needed" | "stray" } | { kind: "only-copy"; detail: string };
export class ArchiveTidy {
  private readonly bus: Bus;
  private readonly journal: Journal;
  private readonly shelf: PackShelf;
  private readonly index: PackIndex;
  /** Packs this process has looked at: somebody points to them, or they were named as kept. */
  private readonly settled = new Set<string>();

  constructor(bus: Bus, journal: Journal, shelf: PackShelf, index: PackIndex) {
    this.bus = bus;
    this.journal = journal;
    this.shelf = shelf;
    this.index = index;
  }

  /** Looks at some of what is older than `until`. */
  async run(until: Date): Promise<Tidied> {
    const packs: string[] = [];
    const kept: Tidied["kept"] = [];
    let read = 0;
    for (const name of await this.index.names()) {
      if (this.settled.has(name)) continue;
      const seen = await this.index.look(name); // E7: before anybody who may point to it is looked for
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

  /** X10 */
  private async finding(seen: SeenPack): Promise<Finding> {
    try {
      const contents = await this.shelf.contents(seen.name, digestFromMeta(seen.digest));
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
    if (archived.length > 0) return { kind: "stray" }; // It is in another pack.
    const own = live.filter(({ type }) => !STORAGE_TYPES.includes(type));
    const isThere = own.some(({ type }) => type === "intent") && own.length >= records;
    return isThere ? { kind: "stray" } : { kind: "only-copy", detail: `it alone holds all of ${runId}` };
  }

  /** X11 */
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
