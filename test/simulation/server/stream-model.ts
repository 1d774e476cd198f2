/**
 * StreamModel: one stream of the server. It keeps records in order and a bounded number per subject, and refuses a record
 * when an expectation does not hold or the stream is full.
 *
 * The answers follow the real server; the differential suite compares them.
 */
import { isWild, matcher, type Matches } from "./subject-filter.ts";
import { SubjectIndex } from "./subject-index.ts";
import { headerBytes, type Frame, type HeaderBlock } from "./wire.ts";

export interface StreamSettings {
  name: string;
  subjects: readonly string[];
  /** -1: no bound. */
  maxBytes: number;
  maxMessageBytes: number;
  maxPerSubject: number;
  discard: "new" | "old";
  allowAtomic: boolean;
  allowSchedules: boolean;
  duplicateWindowMs: number;
}

export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly headers: HeaderBlock;
  readonly data: Uint8Array;
  /** Wall clock of the server. */
  readonly atMs: number;
  readonly bytes: number;
}

export interface ApiError {
  code: number;
  err_code: number;
  description: string;
}

export type Accepted = { seq: number; duplicate?: true };
export type Offered = { kind: "stored"; ack: Accepted } | { kind: "refused"; error: ApiError };

export const EXPECTED = "Nats-Expected-Last-Subject-Sequence";
const EXPECTED_FILTER = "Nats-Expected-Last-Subject-Sequence-Subject";
const MESSAGE_ID = "Nats-Msg-Id";

export class StreamModel {
  readonly settings: StreamSettings;
  readonly messages = new Map<number, StoredMessage>();
  lastSeq = 0;
  bytes = 0;
  private first = 1;
  private readonly bySubject = new Map<string, number[]>();
  private readonly index = new SubjectIndex();
  private readonly ids = new Map<string, { seq: number; atMs: number }>();
  private readonly accepts: readonly Matches[];

  constructor(settings: StreamSettings) {
    this.settings = settings;
    this.accepts = settings.subjects.map(matcher);
  }

  takes(subject: string): boolean {
    return this.accepts.some((matches) => matches(subject));
  }

  /** Sequence of the oldest record; without records, of the next one. */
  get firstSeq(): number {
    while (this.first <= this.lastSeq && !this.messages.has(this.first)) this.first += 1;
    return this.first;
  }

  /** A failed expectation is refused even if the id is known, because the server checks expectations first. */
  offer(frame: Frame, nowMs: number): Offered {
    const wrong = this.wrongSequence(frame, null);
    if (wrong !== null) return { kind: "refused", error: wrong };
    const id = frame.headers.get(MESSAGE_ID);
    if (id !== "") {
      const known = this.ids.get(id);
      if (known !== undefined && nowMs - known.atMs < this.settings.duplicateWindowMs) {
        return { kind: "stored", ack: { seq: known.seq, duplicate: true } };
      }
    }
    const error = this.refusal(frame);
    if (error !== null) return { kind: "refused", error };
    return { kind: "stored", ack: { seq: this.store(frame, nowMs).seq } };
  }

  /** Whether a message with this id is remembered. */
  knowsId(id: string, nowMs: number): boolean {
    const known = this.ids.get(id);
    return known !== undefined && nowMs - known.atMs < this.settings.duplicateWindowMs;
  }

  /** `staged`: the last sequences per subject that an atomic batch is about to write. */
  refusal(frame: Frame, staged: ReadonlyMap<string, number> | null = null, stagedBytes = 0): ApiError | null {
    const wanted = frame.headers.get("Nats-Expected-Stream");
    if (wanted !== "" && wanted !== this.settings.name) {
      return { code: 400, err_code: 10060, description: "expected stream does not match" };
    }
    const wrong = this.wrongSequence(frame, staged);
    if (wrong !== null) return wrong;
    const size = frame.data.length + headerBytes(frame.headers);
    const { maxMessageBytes, maxBytes, discard } = this.settings;
    if (maxMessageBytes >= 0 && size > maxMessageBytes) {
      return { code: 400, err_code: 10054, description: "message size exceeds maximum allowed" };
    }
    if (discard === "new" && maxBytes > 0 && this.bytes + stagedBytes + storedBytes(frame) > maxBytes) {
      return { code: 503, err_code: 10077, description: "maximum bytes exceeded" };
    }
    return null;
  }

  private wrongSequence(frame: Frame, staged: ReadonlyMap<string, number> | null): ApiError | null {
    const { headers, subject } = frame;
    const last = headers.get("Nats-Expected-Last-Sequence");
    if (last !== "" && Number(last) !== this.lastSeq) return wrongSequence(this.lastSeq);
    const expected = headers.get(EXPECTED);
    if (expected === "") return null;
    const filter = headers.get(EXPECTED_FILTER);
    const about = filter === "" ? subject : filter; // The server searches a batch for this exact text, not for matching subjects.
    if (staged?.has(about) === true)
      return { code: 400, err_code: 10164, description: "wrong last sequence" };
    const actual = this.lastSeqOf(about);
    return actual === Number(expected) ? null : wrongSequence(actual);
  }

  store(frame: Frame, nowMs: number): StoredMessage {
    this.lastSeq += 1;
    const { subject, headers, data } = frame;
    const message = { seq: this.lastSeq, subject, headers, data, atMs: nowMs, bytes: storedBytes(frame) };
    this.messages.set(message.seq, message);
    this.bytes += message.bytes;
    const id = headers.get(MESSAGE_ID);
    if (id !== "") this.ids.set(id, { seq: message.seq, atMs: nowMs });
    const seqs = this.bySubject.get(subject);
    if (seqs === undefined) {
      this.bySubject.set(subject, [message.seq]);
      this.index.add(subject);
    } else seqs.push(message.seq);
    const { maxPerSubject, discard, maxBytes } = this.settings;
    if (maxPerSubject > 0 && seqs !== undefined && seqs.length > maxPerSubject) this.remove(seqs[0] ?? 0);
    if (discard === "old" && maxBytes > 0) while (this.bytes > maxBytes) this.remove(this.firstSeq);
    return message;
  }

  remove(seq: number): boolean {
    const message = this.messages.get(seq);
    if (message === undefined) return false;
    this.messages.delete(seq);
    this.bytes -= message.bytes;
    const seqs = this.bySubject.get(message.subject);
    if (seqs !== undefined) {
      seqs.splice(seqs.indexOf(seq), 1);
      if (seqs.length === 0) {
        this.bySubject.delete(message.subject);
        this.index.delete(message.subject);
      }
    }
    return true;
  }

  /** Removes messages that match `filter` (absent: all) below `seq` (absent: all), except the newest `keep`. */
  purge(filter: string | undefined, seq: number | undefined, keep: number | undefined): number {
    const matches = filter === undefined ? null : matcher(filter);
    let doomed = [...this.messages.values()].filter((one) => matches?.(one.subject) ?? true);
    if (seq !== undefined && seq > 0) doomed = doomed.filter((one) => one.seq < seq);
    if (keep !== undefined && keep > 0) doomed = doomed.slice(0, Math.max(0, doomed.length - keep));
    for (const one of doomed) this.remove(one.seq);
    return doomed.length;
  }

  lastOf(subject: string): StoredMessage | null {
    const seq = this.bySubject.get(subject)?.at(-1);
    return seq === undefined ? null : (this.messages.get(seq) ?? null);
  }

  lastSeqOf(filter: string): number {
    if (!isWild(filter)) return this.bySubject.get(filter)?.at(-1) ?? 0;
    let last = 0;
    for (const subject of this.matching(filter))
      last = Math.max(last, this.bySubject.get(subject)?.at(-1) ?? 0);
    return last;
  }

  /** Last message of each subject that matches one of the filters, in stream order. */
  lastOfEach(filters: readonly string[], upToSeq = Number.POSITIVE_INFINITY): StoredMessage[] {
    const found: StoredMessage[] = [];
    for (const subject of new Set(filters.flatMap((filter) => this.matching(filter)))) {
      const seq = this.bySubject.get(subject)?.findLast((one) => one <= upToSeq);
      const message = seq === undefined ? undefined : this.messages.get(seq);
      if (message !== undefined) found.push(message);
    }
    return found.sort((a, b) => a.seq - b.seq);
  }

  /** Messages per subject that matches. */
  subjectCounts(filter: string): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const subject of this.matching(filter)) counts[subject] = this.bySubject.get(subject)?.length ?? 0;
    return counts;
  }

  /** Subjects with a record that match, in the order they came. */
  private matching(filter: string): string[] {
    if (!isWild(filter)) return this.bySubject.has(filter) ? [filter] : [];
    const matches = matcher(filter);
    return [...this.index.candidates(filter)].filter(matches);
  }

  get subjectCount(): number {
    return this.bySubject.size;
  }
}

/** The bytes that one message takes in the file store. */
export function storedBytes(frame: Pick<Frame, "subject" | "headers" | "data">): number {
  const head = headerBytes(frame.headers);
  return 22 + frame.subject.length + (head === 0 ? 0 : 4 + head) + frame.data.length + 8;
}

export function wrongSequence(actual: number): ApiError {
  return { code: 400, err_code: 10071, description: `wrong last sequence: ${actual}` };
}
