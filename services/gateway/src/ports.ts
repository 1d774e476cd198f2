// The gateway's interface to the outside. Tests of the service use the real adapters.
import type { AntiphonError } from "@antiphon/contracts";
import type {
  AttemptReplayRequest,
  BlobRef,
  DirectorKey,
  EvidenceManifest,
  HeldAttempts,
  ImagesReply,
  ImagesRequest,
  ModelsReply,
  ModelsRequest,
  NewRecord,
  RebuiltRun,
  RepoChecked,
  RepoCheckRequest,
  ConnectorsFound,
  ConnectorsRequest,
  RepoInspectReply,
  RepoInspectRequest,
  ReplayReport,
  SessionDeedDone,
  SessionDeedRequest,
  StoredRecord,
  TaskContract,
} from "@antiphon/contracts";
import type {
  AppendIfUnmovedResult,
  AppendResult,
  ConsumerCounts,
  JournalAudit,
  KeptLetter,
  RestoredRun,
  RunCursor,
  RunPage,
} from "@antiphon/runtime";

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
  /** The principal of its NATS user, or `shared`. */
  readonly natsUser: string;
  /** Why JetStream refuses what it stores; absent: it does not. */
  readonly noSpace?: string;
}

/** A place among the open runs. Only the first call of either method has an effect. */
export interface Place {
  /** The journal has the run, or may have it. */
  stored(): void;
  /** The run was not stored. */
  release(): void;
}

/** An inspected repository. `image_note`: why its image is not used. `chosen_image`: one with the programs it needs. */
export type Inspected = Extract<RepoInspectReply, { ok: true }> & {
  image_note?: string;
  chosen_image?: string;
};

/** Everything that touches NATS. Each call ends within the gateway's deadline with ANT_NATS_UNREACHABLE. */
export interface Backend {
  readonly connected: boolean;
  /** Throws ANT_NATS_NO_SPACE if the store is too full for new work. */
  admit(): Promise<void>;
  /** Why the store is too full, for new work or for any; null: it is not. */
  storageProblem(): Promise<AntiphonError | null>;
  /** Takes a place among the open runs; throws ANT_GATEWAY_BUSY if there is none left. */
  admitRun(): Promise<Place>;
  /** False: the key exists. */
  createIntent(intentId: string, document: unknown): Promise<boolean>;
  intent(intentId: string): Promise<unknown>;
  /** `traceparent`: W3C trace context of a new run. */
  append(record: NewRecord, traceparent?: string): Promise<AppendResult>;
  /** Appends only while the record at sequence `after` is the run's last one. */
  appendIfUnmoved(record: NewRecord, after: number): Promise<AppendIfUnmovedResult>;
  read(runId: string): Promise<StoredRecord[]>;
  /** The next records of a run from a sequence on; of a long run some of them. Empty: there are none. */
  next(runId: string, fromSeq: number): Promise<readonly StoredRecord[]>;
  intentRecord(runId: string): Promise<StoredRecord | null>;
  tail(runId: string, fromSeq: number, signal: AbortSignal): AsyncIterable<StoredRecord>;
  /** A page of the list of runs. */
  runPage(limit: number, cursor: RunCursor | null): Promise<RunPage>;
  readonly partitions: number;
  /** Puts an archived run's records back into the journal; repeating it is harmless. */
  restore(runId: string, principal: string): Promise<RestoredRun>;
  /** Makes a Director rebuild the run's documents. Throws ANT_DIRECTOR_UNAVAILABLE if none answers. */
  rebuild(runId: string): Promise<RebuiltRun>;
  /** The journal as the server stores it, including damaged records. */
  readonly audit: JournalAudit;
  /** Runs that have a view. */
  viewedRuns(): Promise<string[]>;
  /** The stored view, unvalidated; null: none. */
  storedView(runId: string): Promise<unknown>;
  inspect(request: RepoInspectRequest): Promise<Inspected>;
  /** Which connectors there are, and with `read` what they answer. Throws ANT_DIRECTOR_UNAVAILABLE if none answers. */
  connectors(request: ConnectorsRequest): Promise<ConnectorsFound>;
  /** Minutes. `signal`: the caller has gone away. Throws ANT_DIRECTOR_UNAVAILABLE if no Director answers any more. */
  check(request: RepoCheckRequest, signal: AbortSignal): Promise<RepoChecked>;
  /** Up to minutes. `signal`: this gateway stops. Throws ANT_DIRECTOR_UNAVAILABLE if no Director answers any more. */
  deed(request: SessionDeedRequest, signal: AbortSignal): Promise<SessionDeedDone>;
  /** Minutes. `signal`: the caller has gone away. Throws ANT_ASSOCIATE_UNAVAILABLE if no Associate answers any more. */
  replay(request: AttemptReplayRequest, signal: AbortSignal): Promise<ReplayReport>;
  hintCancel(runId: string): void;
  hintMessage(runId: string): void;
  onOutput(runId: string, hear: (output: LiveOutput) => void): () => void;
  manifest(key: string): Promise<EvidenceManifest | null>;
  taskContract(runId: string, taskId: string): Promise<TaskContract | null>;
  routerContract(runId: string): Promise<unknown>;
  /** A contract derived from the run's records, for a run without stored contracts; `taskId` null: the Router's. */
  madeContract(runId: string, taskId: string | null): Promise<unknown>;
  file(blob: BlobRef): Promise<Buffer>;
  /** Public keys of the Directors the deployment trusts; if it trusts all of them, every published key. */
  directorKeys(): Promise<DirectorKey[]>;
  storeRecording(name: string, document: unknown): Promise<void>;
  /** Throws ANT_SANDBOX_RUNNER_LOST if no sandbox-runner answers. */
  images(request: ImagesRequest): Promise<Extract<ImagesReply, { ok: true }>>;
  /** Throws ANT_EGRESS_UNAVAILABLE when no egress gateway answers. */
  models(request: ModelsRequest): Promise<Extract<ModelsReply, { ok: true }>>;
  deadLetters(after: number, limit: number): Promise<{ letters: KeptLetter[]; more: number }>;
  deadLetter(id: string): Promise<KeptLetter | null>;
  removeDeadLetter(letter: KeptLetter): Promise<void>;
  queueCounts(): Promise<{ consumers: ConsumerCounts[]; openRuns: number; deadLetters: number }>;
  /** What each Director that answers holds back. */
  admissions(): Promise<HeldAttempts[][]>;
  rollCall(expect: number): Promise<PresentService[]>;
}
