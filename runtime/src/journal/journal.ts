import type { JournalType, NewRecord, StoredRecord } from "@antiphon/contracts";

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
 *   runtime/J1 Because a writer may repeat itself or race another one, the subject of a record is a function of its
 *     type, run, task and epoch alone, and keeps its first record: a second append returns `duplicate` if the digest is
 *     the same, and otherwise `conflict` with the record that stands.
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
