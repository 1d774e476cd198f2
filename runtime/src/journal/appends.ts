/** The writing half of the journal: one record at a time into its register, with what the caller expects of the run. */
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import { AntiphonError, HEADERS, journalStream, partitionOf, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { headerLines, joined, noHeaders } from "../nats/wire-headers.ts";
import { systemClock } from "../process/clock.ts";
import type { Logger } from "../process/logger.ts";
import type { SigningKey } from "../process/signing-key.ts";
import type { Outgoing } from "../publishing/publisher.ts";
import type { ClosedRuns } from "./closed-runs.ts";
import { believedLast, forgedUpTo } from "./forged.ts";
import type { AppendIfUnmovedResult, AppendOptions, AppendResult } from "./journal.ts";
import { logRecord } from "./record-line.ts";
import { messageOf, type RecordMessage } from "./record-message.ts";
import type { RunHistory } from "./run-history.ts";

/** A record's message and where it goes. */
type RecordOut = RecordMessage & {
  readonly stream: string;
  readonly subject: string;
  readonly traceparent: string | undefined;
};

/** How often a refused append looks for the record that caused the refusal before it gives up. */
const refusedReads = 5;

type Expectation = Pick<Outgoing, "expectedSubject" | "expectLastSubjectSequence">;

export interface AppendsParts {
  readonly bus: Bus;
  readonly log: Logger | null;
  /** Signs the records of SIGNED_TYPES. Only Directors have a key. */
  readonly key: SigningKey | null;
  /** Signs the results of its own attempts. Only Associates have one. */
  readonly reporter: SigningKey | null;
  readonly history: RunHistory;
  /** Learns of each run that this process closes. */
  readonly over: ClosedRuns;
}

export class Appends {
  readonly #parts: AppendsParts;

  constructor(parts: AppendsParts) {
    this.#parts = parts;
  }

  async append(record: NewRecord, options: AppendOptions = {}): Promise<AppendResult> {
    const out = this.#messageOf(record, options);
    if (options.probablyAfter !== undefined && !this.#parts.bus.isCluster) {
      const done = await this.#publishAfter(out, options.probablyAfter, options);
      if (done !== null) return done;
    }
    const filter = record.type === "intent" ? { expectedSubject: this.#filterOf(record.runId) } : {};
    for (let attempt = 0, expectLastSubjectSequence = 0; ; attempt += 1) {
      const done = await this.#publish(out, { ...filter, expectLastSubjectSequence }, options); // runtime/J1
      if (done !== null) return done;
      const last = record.type === "intent" ? await this.#closedOf(record.runId) : null;
      if (last !== null) return { kind: "conflict", existing: last }; // runtime/J1
      // Refused, but the register is empty: it was purged meanwhile, or another append is being decided. Try again.
      if (attempt >= refusedReads) {
        throw new AntiphonError("ANT_JOURNAL_CONFLICT", `${out.subject} refuses a record but is empty`);
      }
      expectLastSubjectSequence = await forgedUpTo(
        this.#parts.bus,
        out.stream,
        filter.expectedSubject ?? out.subject,
      ); // runtime/J14
      if (expectLastSubjectSequence === 0) await systemClock.sleep(20 * 2 ** attempt, options.signal);
    }
  }

  async appendIfUnmoved(
    record: NewRecord,
    after: number,
    options: AppendOptions = {},
  ): Promise<AppendIfUnmovedResult> {
    const out = this.#messageOf(record, options);
    for (let attempt = 0, last = after; attempt <= refusedReads; attempt += 1) {
      const done = await this.#publishAfter(out, after, options, last);
      if (done !== null) return done;
      last = await forgedUpTo(this.#parts.bus, out.stream, this.#filterOf(record.runId), after); // runtime/J14
      if (last === 0) break;
    }
    return { kind: "moved" };
  }

  #messageOf(record: NewRecord, { traceparent: given }: AppendOptions): RecordOut {
    const { traces } = this.#parts.bus.records;
    if (given !== undefined) traces.learn(record.runId, given);
    const traceparent = given ?? traces.headerOf(record);
    const subject = subjects.journal(record, this.#parts.bus.partitions);
    const stream = this.#streamOf(record.runId);
    const { key, reporter } = this.#parts;
    return { ...messageOf(record, { key, reporter, traceparent }), subject, stream, traceparent };
  }

  /** Null: the run has newer records. `last`: the last sequence if only forged messages follow `after`. */
  async #publishAfter(
    out: RecordOut,
    after: number,
    options: AppendOptions,
    last = after,
  ): Promise<AppendResult | null> {
    const says = !this.#parts.bus.isCluster;
    const follows = says ? headerLines({ [HEADERS.after]: String(after) }) : noHeaders;
    const expectation = {
      expectedSubject: this.#filterOf(out.envelope.runId),
      expectLastSubjectSequence: last,
    };
    const done = await this.#publish({ ...out, headers: joined(out.headers, follows) }, expectation, options);
    return says && done?.kind === "appended" ? { ...done, record: { ...done.record, after } } : done;
  }

  /** Null: the server refused, and the record's own register is empty. */
  async #publish(
    out: RecordOut,
    expectation: Expectation,
    { signal }: AppendOptions,
  ): Promise<AppendResult | null> {
    const { stream, subject, payload, headers, digest, envelope } = out;
    const result = await this.#parts.bus.publish(
      { stream, subject, payload, headers, group: true, scope: envelope.runId, ...expectation },
      signal,
    );
    if (result.kind === "ok") {
      this.#parts.bus.records.remember(digest, envelope.type === "result" ? null : out.signature);
      if (envelope.type === "closed") this.#parts.over.add(envelope.runId);
      const signature = out.signature === null ? {} : { signature: out.signature };
      const stored = { ...envelope, seq: result.seq, digest, at: new Date(systemClock.now()), subject };
      const traced = out.traceparent === undefined ? {} : { traceparent: out.traceparent };
      const record = { ...stored, ...signature, ...traced } as StoredRecord;
      if (this.#parts.log !== null) logRecord(this.#parts.log, record);
      return { kind: "appended", record };
    }
    if (result.kind === "unknown") throw notKnown(subject, result.reason);
    if (result.refusal !== "expectation") throw rejected(subject, result);
    const existing =
      (await this.#readRefuser(stream, subject, signal)) ??
      (envelope.type === "intent"
        ? await this.#parts.history.archivedRegister(envelope.runId, subject)
        : null);
    if (existing === null) return null;
    if (existing.digest === digest) return { kind: "duplicate", record: existing }; // runtime/J1
    this.#parts.log?.info(
      { subject, existing: existing.digest, ours: digest },
      "journal register already taken",
    );
    return { kind: "conflict", existing }; // runtime/J1
  }

  /** Null: the register is empty. */
  async #readBack(stream: string, subject: string): Promise<StoredRecord | null> {
    const { bus } = this.#parts;
    const message = await believedLast(bus, stream, subject);
    return message === null ? null : bus.records.read(message);
  }

  async #closedOf(runId: string): Promise<StoredRecord | null> {
    const subject = subjects.journal(
      { type: "closed", runId, taskId: null, epoch: 0 },
      this.#parts.bus.partitions,
    );
    return (
      (await this.#readBack(this.#streamOf(runId), subject)) ??
      (await this.#parts.history.archivedRegister(runId, subject))
    );
  }

  /** The record that caused a refusal. An outage longer than a read leaves the answer unknown, so keep asking. */
  async #readRefuser(stream: string, subject: string, signal?: AbortSignal): Promise<StoredRecord | null> {
    for (;;) {
      try {
        return await this.#readBack(stream, subject); // runtime/J2
      } catch (error) {
        const outage = error instanceof AntiphonError && error.code === "ANT_NATS_UNREACHABLE";
        if (!outage || this.#parts.bus.nc.isClosed() || signal?.aborted === true) throw error;
      }
    }
  }

  #streamOf(runId: string): string {
    return journalStream(partitionOf(runId, this.#parts.bus.partitions));
  }

  #filterOf(runId: string): string {
    return subjects.runInPartition(runId, this.#parts.bus.partitions);
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
