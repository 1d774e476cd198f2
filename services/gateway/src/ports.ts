// What the gateway needs from the world. Adapters give it; tests of the service use the real ones.
import type {
  BlobRef,
  DirectorKey,
  EvidenceManifest,
  ImagesReply,
  ImagesRequest,
  NewRecord,
  RebuiltRun,
  RepoInspectReply,
  RepoInspectRequest,
  StoredRecord,
  TaskContract,
} from "@antiphon/contracts";
import type { AppendResult, JournalAudit, KeptLetter, RestoredRun } from "@antiphon/runtime";

export interface LiveOutput {
  readonly taskId: string | null;
  readonly stream: string;
  readonly epoch: number;
  readonly text: string;
}

export interface PresentService {
  readonly name: string;
  readonly id: string;
  readonly version: string;
}

/** A place among the open runs. The first call of either counts, any later one does nothing. */
export interface Place {
  /** The journal has the run, or may have it. */
  stored(): void;
  /** There will be no run. */
  release(): void;
}

/** What a repository looks like; `image_note`: why the image it names is not used. */
export type Inspected = Extract<RepoInspectReply, { ok: true }> & { image_note?: string };

/** Everything that touches NATS. Each call ends within the gateway's deadline with ANT_NATS_UNREACHABLE. */
export interface Backend {
  readonly connected: boolean;
  /** Throws ANT_NATS_NO_SPACE when there is too little room for new work. */
  admit(): Promise<void>;
  /** Takes a place among the open runs; throws ANT_GATEWAY_BUSY when there is none left. */
  admitRun(): Promise<Place>;
  /** False: the key exists. */
  createIntent(intentId: string, document: unknown): Promise<boolean>;
  intent(intentId: string): Promise<unknown>;
  append(record: NewRecord): Promise<AppendResult>;
  read(runId: string): Promise<StoredRecord[]>;
  intentRecord(runId: string): Promise<StoredRecord | null>;
  tail(runId: string, fromSeq: number, signal: AbortSignal): AsyncIterable<StoredRecord>;
  /** Runs whose records are in the journal. */
  runIds(): Promise<string[]>;
  /** Those archived last first. */
  archivedRunIds(limit: number): Promise<string[]>;
  /** Puts an archived run's records back into the journal; again is harmless. */
  restore(runId: string, principal: string): Promise<RestoredRun>;
  /** Has a Director make the run's documents again. Throws ANT_DIRECTOR_UNAVAILABLE when none answers. */
  rebuild(runId: string): Promise<RebuiltRun>;
  /** The journal as the server holds it, damaged records and all. */
  readonly audit: JournalAudit;
  /** Runs that have a view. */
  viewedRuns(): Promise<string[]>;
  /** What the view's bucket holds, whatever that is; null: nothing. */
  storedView(runId: string): Promise<unknown>;
  inspect(request: RepoInspectRequest): Promise<Inspected>;
  hintCancel(runId: string): void;
  onOutput(runId: string, hear: (output: LiveOutput) => void): () => void;
  manifest(key: string): Promise<EvidenceManifest | null>;
  taskContract(runId: string, taskId: string): Promise<TaskContract | null>;
  routerContract(runId: string): Promise<unknown>;
  /** A contract made from the run's records, for a run that keeps none; `taskId` null: the Router's. */
  madeContract(runId: string, taskId: string | null): Promise<unknown>;
  file(blob: BlobRef): Promise<Buffer>;
  /** Public keys of the Directors that the deployment trusts; where it trusts anybody, those that published one. */
  directorKeys(): Promise<DirectorKey[]>;
  storeRecording(name: string, document: unknown): Promise<void>;
  /** Throws ANT_SANDBOX_RUNNER_LOST when no runner answers. */
  images(request: ImagesRequest): Promise<Extract<ImagesReply, { ok: true }>>;
  deadLetters(after: number, limit: number): Promise<{ letters: KeptLetter[]; more: number }>;
  deadLetter(id: string): Promise<KeptLetter | null>;
  removeDeadLetter(letter: KeptLetter): Promise<void>;
  rollCall(expect: number): Promise<PresentService[]>;
}
