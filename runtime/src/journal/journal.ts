import type { JournalType, NewRecord, StoredRecord } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  journalStream,
  parseJournalSubject,
  partitionOf,
  subjects,
} from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { Clock } from "../process/clock.ts";
import { ClosedRuns } from "./closed-runs.ts";
import { systemClock } from "../process/clock.ts";
import { TooManyResults, UnreadableMessage } from "../nats/direct-reader.ts";
import { believedLast, believedOf, forgedUpTo } from "./forged.ts";
import { tail } from "./journal-tail.ts";
import type { Logger } from "../process/logger.ts";
import type { Outgoing } from "../publishing/publisher.ts";
import { logRecord } from "./record-line.ts";
import { messageOf, type RecordMessage } from "./record-message.ts";
import { RunHistory } from "./run-history.ts";
import { notHandedOut } from "./run-messages.ts";
import { headerLines, joined, noHeaders } from "../nats/wire-headers.ts";
import type { SigningKey } from "../process/signing-key.ts";

/**
 * Journal: the log that is the truth about every run.
 *
 * Each subject is a register that is written once. `append` publishes with "expected last subject sequence 0". If the
 * server refuses, the stored record is read and compared by digest. An `intent` is refused while its run has any
 * record, so it cannot open an archived run again.
 *
 * `appendIfUnmoved` also expects that the run has no record its writer does not know. In a cluster the leader decides this
 * from what it has stored, while another record of the run may still be on its way to the replicas; there no record
 * claims to follow directly (`after`), and a writer that has to know reads the run. A forged decision (forged.ts) does
 * not occupy a register: the genuine one is appended behind it.
 *
 * Promises:
 *   runtime/J1 Because a writer may repeat itself or race another one, each subject keeps its first record: a second
 *     append returns `duplicate` if the digest is the same, and otherwise `conflict` with the record that stands.
 */
export type AppendResult =
  { kind: "appended" | "duplicate"; record: StoredRecord } | { kind: "conflict"; existing: StoredRecord };

/** `moved`: the run holds a newer record than the expected one, so nothing was stored. */
export type AppendIfUnmovedResult = AppendResult | { kind: "moved" };

export interface AppendOptions {
  signal?: AbortSignal;
  /** W3C trace context of a new run. Further records of the run get the context of their stage by themselves. */
  traceparent?: string;
  /**
   * Hint: probable last sequence of the run. If it is right, the record says that it follows directly (`after`), which
   * proves to readers that no record is missing between the two; otherwise the record is stored without that header.
   */
  probablyAfter?: number;
}

export interface TailOptions {
  /** First sequence to yield; 0 or absent: from the run's beginning. */
  fromSeq?: number;
  signal: AbortSignal;
}

export interface Journal {
  /**
   * Appends while the record's own register is empty, whatever else the run holds. `at` of an appended record is this
   * process's clock; read the record back for JetStream's time.
   */
  append(record: NewRecord, options?: AppendOptions): Promise<AppendResult>;
  /**
   * Appends only while the record at sequence `after` is also the run's last one. A restored run has new sequences and
   * always answers `moved`; the caller then reads the run and uses `append`.
   */
  appendIfUnmoved(record: NewRecord, after: number, options?: AppendOptions): Promise<AppendIfUnmovedResult>;
  /** All records of a run, archived or not, or those of some types, in stream order. One request per 1,024 records. */
  read(runId: string, types?: readonly JournalType[]): Promise<StoredRecord[]>;
  /** The next records of a run from a sequence on, archived or not: all, or of a long run some. Empty: there are none. */
  next(runId: string, fromSeq: number): Promise<readonly StoredRecord[]>;
  /** All records of a run that are there now, in order; of a long run part by part, so that each part can have a deadline. */
  parts(runId: string): AsyncIterable<readonly StoredRecord[]>;
  find(type: JournalType, runId: string, taskId: string | null, epoch: number): Promise<StoredRecord | null>;
  /** Past records, then new ones as they are stored, until the signal aborts. */
  tail(runId: string, options: TailOptions): AsyncIterable<StoredRecord>;
  /** Ids of the runs with records in the journal, including partly purged ones, in no particular order. */
  runIds(): Promise<string[]>;
  /** Ids of the runs without a genuine `closed`. Lists subjects, and reads each `closed` once per process. */
  openRunIds(): Promise<string[]>;
}

/** A record's message and where it goes. */
type RecordOut = RecordMessage & {
  readonly stream: string;
  readonly subject: string;
  readonly traceparent: string | undefined;
};

/** How often a refused append looks for the record that caused the refusal before it gives up. */
const refusedReads = 5;

type Expectation = Pick<Outgoing, "expectedSubject" | "expectLastSubjectSequence">;

export interface JournalOptions {
  log?: Logger;
  clock?: Clock;
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
  private readonly log: Logger | null;
  private readonly clock: Clock;
  private readonly key: SigningKey | null;
  private readonly reporter: SigningKey | null;
  private readonly history: RunHistory;
  private readonly over: ClosedRuns;

  constructor(bus: Bus, { log, clock, key, reporter }: JournalOptions) {
    this.bus = bus;
    this.log = log ?? null;
    this.clock = clock ?? systemClock;
    this.key = key ?? null;
    this.reporter = reporter ?? null;
    this.history = new RunHistory(bus);
    this.over = new ClosedRuns(bus);
  }

  async append(record: NewRecord, options: AppendOptions = {}): Promise<AppendResult> {
    const out = this.messageOf(record, options);
    if (options.probablyAfter !== undefined && !this.bus.isCluster) {
      const done = await this.publishAfter(out, options.probablyAfter, options);
      if (done !== null) return done;
    }
    const filter = record.type === "intent" ? { expectedSubject: this.filterOf(record.runId) } : {};
    for (let attempt = 0, expectLastSubjectSequence = 0; ; attempt += 1) {
      const done = await this.publish(out, { ...filter, expectLastSubjectSequence }, options); // runtime/J1
      if (done !== null) return done;
      const last = record.type === "intent" ? await this.find("closed", record.runId, null, 0) : null;
      if (last !== null) return { kind: "conflict", existing: last }; // runtime/J1
      // Refused, but the register is empty: it was purged meanwhile, or another append is being decided. Try again.
      if (attempt >= refusedReads) {
        throw new AntiphonError("ANT_JOURNAL_CONFLICT", `${out.subject} refuses a record but is empty`);
      }
      expectLastSubjectSequence = await forgedUpTo(
        this.bus,
        out.stream,
        filter.expectedSubject ?? out.subject,
      ); // runtime/J14
      if (expectLastSubjectSequence === 0) await this.clock.sleep(20 * 2 ** attempt, options.signal);
    }
  }

  async appendIfUnmoved(
    record: NewRecord,
    after: number,
    options: AppendOptions = {},
  ): Promise<AppendIfUnmovedResult> {
    const out = this.messageOf(record, options);
    for (let attempt = 0, last = after; attempt <= refusedReads; attempt += 1) {
      const done = await this.publishAfter(out, after, options, last);
      if (done !== null) return done;
      last = await forgedUpTo(this.bus, out.stream, this.filterOf(record.runId), after); // runtime/J14
      if (last === 0) break;
    }
    return { kind: "moved" };
  }

  private messageOf(record: NewRecord, { traceparent: given }: AppendOptions): RecordOut {
    const { traces } = this.bus.records;
    if (given !== undefined) traces.learn(record.runId, given);
    const traceparent = given ?? traces.headerOf(record);
    const subject = subjects.journal(record, this.bus.partitions);
    const stream = this.streamOf(record.runId);
    const { key, reporter } = this;
    return { ...messageOf(record, { key, reporter, traceparent }), subject, stream, traceparent };
  }

  /** Null: the run has newer records. `last`: the last sequence if only forged messages follow `after`. */
  private async publishAfter(
    out: RecordOut,
    after: number,
    options: AppendOptions,
    last = after,
  ): Promise<AppendResult | null> {
    const says = !this.bus.isCluster;
    const follows = says ? headerLines({ [HEADERS.after]: String(after) }) : noHeaders;
    const expectation = {
      expectedSubject: this.filterOf(out.envelope.runId),
      expectLastSubjectSequence: last,
    };
    const done = await this.publish({ ...out, headers: joined(out.headers, follows) }, expectation, options);
    return says && done?.kind === "appended" ? { ...done, record: { ...done.record, after } } : done;
  }

  /** Null: the server refused, and the record's own register is empty. */
  private async publish(
    out: RecordOut,
    expectation: Expectation,
    { signal }: AppendOptions,
  ): Promise<AppendResult | null> {
    const { stream, subject, payload, headers, digest, envelope } = out;
    const result = await this.bus.publish(
      { stream, subject, payload, headers, group: true, scope: envelope.runId, ...expectation },
      signal,
    );
    if (result.kind === "ok") {
      this.bus.records.remember(digest, envelope.type === "result" ? null : out.signature);
      if (envelope.type === "closed") this.over.add(envelope.runId);
      const signature = out.signature === null ? {} : { signature: out.signature };
      const stored = { ...envelope, seq: result.seq, digest, at: new Date(this.clock.now()), subject };
      const traced = out.traceparent === undefined ? {} : { traceparent: out.traceparent };
      const record = { ...stored, ...signature, ...traced } as StoredRecord;
      if (this.log !== null) logRecord(this.log, record);
      return { kind: "appended", record };
    }
    if (result.kind === "unknown") throw notKnown(subject, result.reason);
    if (result.refusal !== "expectation") throw rejected(subject, result);
    const existing =
      (await this.readRefuser(stream, subject, signal)) ??
      (envelope.type === "intent" ? await this.history.archivedRegister(envelope.runId, subject) : null);
    if (existing === null) return null;
    if (existing.digest === digest) return { kind: "duplicate", record: existing }; // runtime/J1
    this.log?.info({ subject, existing: existing.digest, ours: digest }, "journal register already taken");
    return { kind: "conflict", existing }; // runtime/J1
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

  private streamOf(runId: string): string {
    return journalStream(partitionOf(runId, this.bus.partitions));
  }

  private filterOf(runId: string): string {
    return subjects.runInPartition(runId, this.bus.partitions);
  }

  /** The record that caused a refusal. An outage longer than a read leaves the answer unknown, so keep asking. */
  private async readRefuser(
    stream: string,
    subject: string,
    signal?: AbortSignal,
  ): Promise<StoredRecord | null> {
    for (;;) {
      try {
        return await this.readBack(stream, subject); // runtime/J2
      } catch (error) {
        const outage = error instanceof AntiphonError && error.code === "ANT_NATS_UNREACHABLE";
        if (!outage || this.bus.nc.isClosed() || signal?.aborted === true) throw error;
      }
    }
  }

  private async readBack(stream: string, subject: string): Promise<StoredRecord | null> {
    const message = await believedLast(this.bus, stream, subject);
    return message === null ? null : this.bus.records.read(message);
  }
}

function notKnown(subject: string, reason: string): AntiphonError {
  return new AntiphonError("ANT_NATS_UNREACHABLE", `unknown whether ${subject} is stored: ${reason}`);
}

function rejected(
  subject: string,
  result: { code: number; description: string; refusal: string },
): AntiphonError {
  const code = result.refusal === "full" ? "ANT_NATS_NO_SPACE" : "ANT_NATS_REJECTED";
  return new AntiphonError(code, `${subject}: ${result.description} (${result.code})`, {
    data: { subject, natsCode: result.code },
  });
}
