import type { JournalType, NewRecord, StoredRecord } from "@antiphon/contracts";
import { HEADERS, digestOf, encode, subjects } from "@antiphon/contracts";
import type {
  AppendIfUnmovedResult,
  AppendOptions,
  AppendResult,
  Journal,
  TailOptions,
} from "../journal/journal.ts";
import { RecordReader } from "../journal/record-reader.ts";
import { unsafeTrust } from "../journal/trust.ts";

/** The journal in memory, for pure tests of services; conformance.ts holds it to the behaviour of the real one. */
export class MemoryJournal implements Journal {
  private readonly bySubject = new Map<string, StoredRecord>();
  private readonly log: StoredRecord[] = [];
  private readonly reader = new RecordReader(unsafeTrust); // Nothing is signed here.
  private readonly listeners = new Set<() => void>();
  private readonly now: () => number;

  constructor(now: () => number = () => Date.now()) {
    this.now = now;
  }

  /** All records, in stream order. */
  get records(): readonly StoredRecord[] {
    return this.log;
  }

  append(record: NewRecord, { probablyAfter: after }: AppendOptions = {}): Promise<AppendResult> {
    const isNext = after !== undefined && this.lastOf(record.runId) === after;
    const subject = subjects.journal(record);
    const payload = encode({ v: 1, ...record });
    const digest = digestOf(payload);
    const existing = this.bySubject.get(subject);
    if (existing !== undefined) {
      return Promise.resolve(
        existing.digest === digest ? { kind: "duplicate", record: existing } : { kind: "conflict", existing },
      );
    }
    const first = record.type === "intent" ? this.log.find(({ runId }) => runId === record.runId) : undefined;
    if (first !== undefined) return Promise.resolve({ kind: "conflict", existing: first });
    // Through the bytes, as in the real one: a record that cannot be encoded fails, and later changes have no effect.
    const stored = this.reader.read({
      subject,
      seq: this.log.length + 1,
      at: new Date(this.now()),
      data: payload,
      header: (name) =>
        name === HEADERS.digest ? digest : name === HEADERS.after && isNext ? `${after}` : "",
    });
    this.bySubject.set(subject, stored);
    this.log.push(stored);
    for (const listener of [...this.listeners]) listener();
    return Promise.resolve({ kind: "appended", record: stored });
  }

  appendIfUnmoved(record: NewRecord, after: number): Promise<AppendIfUnmovedResult> {
    const isTaken = this.bySubject.has(subjects.journal(record));
    return this.lastOf(record.runId) === after || isTaken
      ? this.append(record, { probablyAfter: after })
      : Promise.resolve({ kind: "moved" });
  }

  private lastOf(runId: string): number {
    return this.log.findLast((record) => record.runId === runId)?.seq ?? 0;
  }

  read(runId: string, types?: readonly JournalType[]): Promise<StoredRecord[]> {
    const wanted = (record: StoredRecord): boolean =>
      record.runId === runId && (types === undefined || types.includes(record.type));
    return Promise.resolve(this.log.filter(wanted));
  }

  async *parts(runId: string): AsyncGenerator<readonly StoredRecord[]> {
    yield await this.read(runId);
  }

  next(runId: string, fromSeq: number): Promise<StoredRecord[]> {
    return Promise.resolve(this.log.filter((record) => record.runId === runId && record.seq >= fromSeq));
  }

  find(
    type: StoredRecord["type"],
    runId: string,
    taskId: string | null,
    epoch: number,
  ): Promise<StoredRecord | null> {
    return Promise.resolve(this.bySubject.get(subjects.journal({ type, runId, taskId, epoch })) ?? null);
  }

  async *tail(runId: string, { fromSeq = 0, signal }: TailOptions): AsyncGenerator<StoredRecord> {
    for (let next = 0; !signal.aborted;) {
      const record = this.log[next];
      if (record === undefined) {
        await this.change(signal);
        continue;
      }
      next += 1;
      if (record.runId === runId && record.seq >= fromSeq) yield record;
    }
  }

  runIds(): Promise<string[]> {
    return Promise.resolve([...new Set([...this.idsOf("intent"), ...this.idsOf("closed")])]);
  }

  openRunIds(): Promise<string[]> {
    const over = this.idsOf("closed");
    return Promise.resolve([...this.idsOf("intent")].filter((runId) => !over.has(runId)));
  }

  private idsOf(type: StoredRecord["type"]): Set<string> {
    return new Set(this.log.filter((record) => record.type === type).map((record) => record.runId));
  }

  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        this.listeners.delete(finish);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      this.listeners.add(finish);
      signal.addEventListener("abort", finish, { once: true });
    });
  }
}
