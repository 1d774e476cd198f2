/** The journal over JetStream: appends (appends.ts), and reads of runs that are archived or not. */
import type { JournalType, NewRecord, StoredRecord } from "@antiphon/contracts";
import { journalStream, parseJournalSubject, partitionOf, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { TooManyResults, UnreadableMessage } from "../nats/direct-reader.ts";
import type { Logger } from "../process/logger.ts";
import type { SigningKey } from "../process/signing-key.ts";
import { Appends } from "./appends.ts";
import { ClosedRuns } from "./closed-runs.ts";
import { believedLast, believedOf } from "./forged.ts";
import { tail } from "./journal-tail.ts";
import type { AppendIfUnmovedResult, AppendOptions, AppendResult, Journal, TailOptions } from "./journal.ts";
import { RunHistory } from "./run-history.ts";
import { notHandedOut } from "./run-messages.ts";

export interface JournalOptions {
  log?: Logger;
  /** Signs the records of SIGNED_TYPES. Only Directors have a key. */
  key?: SigningKey;
  /** Signs the results of its own attempts. Only Associates have one. */
  reporter?: SigningKey;
}

export function openJournal(bus: Bus, options: JournalOptions = {}): Journal {
  return new JetStreamJournal(bus, options);
}

class JetStreamJournal implements Journal {
  private readonly bus: Bus;
  private readonly history: RunHistory;
  private readonly over: ClosedRuns;
  private readonly appends: Appends;

  constructor(bus: Bus, { log, key, reporter }: JournalOptions) {
    this.bus = bus;
    this.history = new RunHistory(bus);
    this.over = new ClosedRuns(bus);
    const signing = { key: key ?? null, reporter: reporter ?? null };
    const { history, over } = this;
    this.appends = new Appends({ bus, log: log ?? null, ...signing, history, over });
  }

  append(record: NewRecord, options: AppendOptions = {}): Promise<AppendResult> {
    return this.appends.append(record, options);
  }

  appendIfUnmoved(
    record: NewRecord,
    after: number,
    options: AppendOptions = {},
  ): Promise<AppendIfUnmovedResult> {
    return this.appends.appendIfUnmoved(record, after, options);
  }

  async read(runId: string, types?: readonly JournalType[]): Promise<StoredRecord[]> {
    if (types === undefined) return this.history.records(runId);
    const wanted: readonly JournalType[] = [...types, "archived"];
    const filters = wanted.map((type) => subjects.runTypeInPartition(runId, type, this.bus.partitions));
    try {
      const stream = this.streamOf(runId);
      const messages = await believedOf(this.bus, stream, await this.bus.reader.multiLast(stream, filters));
      const records = messages.map((message) => this.bus.records.read(message)); // runtime/J3
      if (records.every(({ type }) => type !== "archived")) return records;
    } catch (error) {
      if (error instanceof UnreadableMessage) throw notHandedOut(runId);
      if (!(error instanceof TooManyResults)) throw error;
    }
    return (await this.history.records(runId)).filter(({ type }) => types.includes(type));
  }

  async next(runId: string, fromSeq: number): Promise<readonly StoredRecord[]> {
    return (await this.history.next(runId, fromSeq, false)).records;
  }

  async *parts(runId: string): AsyncGenerator<readonly StoredRecord[]> {
    for (let [from, isLong] = [0, false]; ;) {
      const { records, goesOn } = await this.history.next(runId, from, isLong);
      const last = records.at(-1);
      if (last !== undefined) yield records;
      if (last === undefined || !goesOn) return;
      [from, isLong] = [last.seq + 1, true];
    }
  }

  async find(
    type: JournalType,
    runId: string,
    taskId: string | null,
    epoch: number,
  ): Promise<StoredRecord | null> {
    const subject = subjects.journal({ type, runId, taskId, epoch }, this.bus.partitions);
    const found = await this.readBack(this.streamOf(runId), subject);
    return found ?? this.history.archivedRegister(runId, subject);
  }

  tail(runId: string, options: TailOptions): AsyncIterable<StoredRecord> {
    let isLong = false;
    const tailed = {
      subject: subjects.run(runId),
      readFrom: async (fromSeq: number) => {
        const { records, goesOn } = await this.history.next(runId, fromSeq, isLong);
        isLong = goesOn;
        return records;
      },
      sequenceOf: ({ seq }: StoredRecord) => seq,
    };
    return tail(this.bus, tailed, options);
  }

  async runIds(): Promise<string[]> {
    const [opened, over] = await Promise.all([this.idsOf("intent"), this.idsOf("closed")]);
    for (const runId of over) opened.add(runId);
    return [...opened];
  }

  async openRunIds(): Promise<string[]> {
    const opened = await this.idsOf("intent");
    if (opened.size === 0) return [];
    const named = await this.idsOf("closed");
    const over = await this.over.among([...named].filter((runId) => opened.has(runId)));
    return [...opened].filter((runId) => !over.has(runId));
  }

  private async idsOf(type: JournalType): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let partition = 0; partition < this.bus.partitions; partition += 1) {
      const filter = subjects.partitionType(partition, type);
      const info = await this.bus.jsm.streams.info(journalStream(partition), { subjects_filter: filter });
      for (const subject of Object.keys(info.state.subjects ?? {})) {
        const address = parseJournalSubject(subject);
        if (address !== null) ids.add(address.runId);
      }
    }
    return ids;
  }

  private async readBack(stream: string, subject: string): Promise<StoredRecord | null> {
    const message = await believedLast(this.bus, stream, subject);
    return message === null ? null : this.bus.records.read(message);
  }

  private streamOf(runId: string): string {
    return journalStream(partitionOf(runId, this.bus.partitions));
  }
}
