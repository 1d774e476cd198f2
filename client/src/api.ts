/* oxlint-disable max-lines -- it is read by the compiler, not by people */
// Made by `npm run generate` from the gateway's OpenAPI document. Changes by hand are lost.
import type { ContractType } from "@antiphon/contracts";
import type { RunRecord } from "./run-record.ts";
import type { RunMaterial } from "@antiphon/contracts";

export type { RunRecord, RunMaterial };

/** A parameter of a path or of a query. */
export type UrlValue = string | number | undefined;
type Nothing = Record<never, never>;

/** A definition of work to be done (seed 001). */
export type TaskContract = ContractType<"TaskContract">;
/** The work of an attempt or a clean room, with the location of its proof (seed 001). */
export type EvidenceManifest = ContractType<"EvidenceManifest">;
/** A user's request (seed 002). */
export type Intent = ContractType<"Intent">;
/** The view of a run for people (seed 002). */
export type RunViewModel = ContractType<"RunViewModel">;
/** A user's message to a run, over HTTP. */
export type RunEvent = ContractType<"RunEvent">;
/** Request of the OpenCode adapter (seed 002). */
export type OCCompileInput = ContractType<"OCCompileInput">;
/** Response of the OpenCode adapter (seed 002). */
export type OCCompileOutput = ContractType<"OCCompileOutput">;
/** The envelope of a command: its name, id, correlation and record. */
export type Command = ContractType<"Command">;
/** One element of a session's ordered event stream, for UI and replay. */
export type SessionEvent = ContractType<"SessionEvent">;
/** A task graph; a single node is also a plan (seed 004). */
export type TaskPlan = ContractType<"TaskPlan">;
/** Permissions of a session, a run or an agent, enforced before dispatch (seed 004). */
export type PolicyProfile = ContractType<"PolicyProfile">;
export type RateLimits = ContractType<"RateLimits">;
export type SessionConfig = ContractType<"SessionConfig">;
/** Decides a request for approval. A request whose workspace has changed since is stale. */
export type SessionDecision = ContractType<"SessionDecision">;
/** Opens a session for commands. The deployment sets the policy, never the caller. */
export type SessionRequest = ContractType<"SessionRequest">;
/** Public half of a Director's signing key, as a JSON Web Key (RFC 8037). */
export type DirectorKey = ContractType<"DirectorKey">;
/** Run a repository's checks in a clean room, on a commit with a change or without one. */
export type CheckRequest = ContractType<"CheckRequest">;
/** What the checks did in the clean room. */
export type CheckReport = ContractType<"CheckReport">;
/** Carry out an attempt of a run once more, with the recorded answers of its model calls. */
export type ReplayRequest = ContractType<"ReplayRequest">;
/** How a replay compares with its record. */
export type ReplayReport = ContractType<"ReplayReport">;
/** A decision about a verified change, sent to `POST /hooks/:id/decisions`. */
export type HookDecision = ContractType<"HookDecision">;
/** Judges past runs by a policy. Absent `policy`: the one that the deployment has stored. */
export type PolicySimulation = ContractType<"PolicySimulation">;
/** List the allowed sandbox images, allow one, or revoke one. */
export type ImagesRequest = ContractType<"ImagesRequest">;
/** List the model hosts, or ask one for the models that it offers, which costs nothing. */
export type ModelsRequest = ContractType<"ModelsRequest">;
/** A coded failure. Further members depend on the code */
export type Problem = {
  /** `urn:antiphon:error:<code>` */
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  remedy: string;
  /** The same, as older clients read it */
  error: {
    code: string;
    message: string;
    remedy: string;
    path?: string;
  };
  path?: string;
  profile?: string;
  rule?: string;
  /** What a policy refused, besides profile and rule */
  value?: unknown;
};
/** `config`: of a session that was opened with a repository. `version`: the release of the gateway */
export type OpenedSession = {
  sessionId: string;
  token: string;
  /** ISO 8601 */
  expiresAt: string;
  keys: DirectorKey[];
  config?: SessionConfig;
  version?: string;
};
export type SessionView = {
  config: SessionConfig;
  status: string;
  /** Of the last event */
  sequence: number;
  plan: TaskPlan | null;
  commands: SessionCommand[];
  artifacts: SessionArtifact[];
  reason?: string;
};
export type SessionLine = {
  sessionId: string;
  repo: string;
  /** ISO 8601 */
  openedAt: string;
  status: string;
  commands: number;
  /** Requests for approval that wait for a person */
  waiting: number;
};
export type SessionPage = {
  sessions: SessionLine[];
  /** `cursor` of the next page; null: the last one */
  next: string | null;
};
export type SessionCommand = {
  commandId: string;
  state: "accepted" | "rejected" | "succeeded" | "failed";
  message?: string;
  code?: string;
  remedy?: string;
};
export type SessionArtifact = {
  kind: string;
  downloadUri?: string;
  commandId?: string;
};
export type SessionEvents = {
  events: SessionEvent[];
};
export type SessionEventPage = {
  events: SessionEvent[];
  /** `cursor` of the next page; null: the last one */
  next: string | null;
};
/** A `RequestApproval` that waits for a person */
export type WaitingApproval = {
  commandId: string;
  /** Of the event that told the request */
  sequence: number;
  reason: string;
  requiredActions: string[];
  requestedBy: string | null;
  /** Names the workspace and the policy; a decision has to name it, too */
  digest: string;
  branch: string | null;
  head: string | null;
  /** The session has changed its workspace since */
  stale: boolean;
};
export type WaitingApprovals = {
  approvals: WaitingApproval[];
  /** `cursor` of the next page; null: the last one */
  next: string | null;
};
/** The first rule of a profile that forbids it */
export type PolicyRefusal = {
  profile: string;
  rule: string;
  value: string | number;
  reason: string;
};
export type HeldProfile = {
  name: string;
  place: string;
  rule: number | null;
};
export type PolicyExplanation = {
  repo: string;
  principal: string;
  holds: HeldProfile[];
  profiles: PolicyProfile[];
  globalLimits: RateLimits;
};
export type PolicyAnswer = {
  allowed: boolean;
  holds: HeldProfile[];
  refusal: PolicyRefusal | null;
};
export type SimulatedRun = {
  runId: string;
  repo: string;
  principal: string;
  profiles: string[];
  refusal: PolicyRefusal | null;
};
export type SimulatedRuns = {
  runs: SimulatedRun[];
};
export type StoredIntent = {
  intentId: string;
};
export type IntentDocument = {
  intentId: string;
  intent: Intent;
};
export type StartedRun = {
  runId: string;
  intentId: string;
  status: "queued";
  narrowed?: {
    budget: string;
    was: number;
    is: number;
  }[];
};
export type RetriedRun = {
  runId: string;
  retryOf: string;
  status: "queued";
  replayed: boolean;
  narrowed?: {
    budget: string;
    was: number;
    is: number;
  }[];
};
export type RunLine = {
  runId: string;
  intentId: string;
  goal: string;
  repo: string;
  status: "queued" | "running" | "waiting_input" | "succeeded" | "failed" | "canceled" | "corrupt";
  paused: boolean;
  code: string | null;
  startedAt: string | null;
  endedAt: string | null;
  seq: number;
  /** Why the records of a `corrupt` run cannot be read */
  detail?: string;
  /** The race that it is part of; absent: it runs alone */
  race?: string;
};
export type RunPage = {
  runs: RunLine[];
  /** `cursor` of the next page; null: the last one */
  next: string | null;
};
export type RunRecords = {
  records: RunRecord[];
  /** `cursor` of the next page; null: the last one */
  next: string | null;
};
/** `already`: nothing was written, because it was so before; `paused`: nothing comes of it before the run is resumed */
export type AcceptedEvent = {
  runId: string;
  event: string;
  accepted: true;
  taskId?: string;
  epoch?: number;
  verdict?: string;
  already?: boolean;
  paused?: boolean;
};
export type ControlledRun = {
  runId: string;
  event: "pause" | "resume";
  accepted: true;
  already: boolean;
};
export type ControlReason = {
  reason?: string;
};
export type RestoredRun = {
  runId: string;
  records: number;
  restored: number;
};
export type RebuiltRun = {
  runId: string;
  written: string[];
  restored: string[];
  goesOn: boolean;
};
export type JournalPartition = {
  stream: string;
  messages: number;
  firstSeq: number;
  lastSeq: number;
  lostBytes: number;
};
export type JournalOverview = {
  partitions: JournalPartition[];
  runs: string[];
  onlyViewed: string[];
};
export type RawRecord = {
  subject: string;
  seq: number;
  storedSeq: number | null;
  /** ISO 8601 */
  at: string;
  headers: Record<string, string>;
  /** Base64 */
  payload: string;
};
export type DeadLetterLine = {
  id: string;
  seq: number;
  /** ISO 8601 */
  at: string;
  consumer: string;
  code: string;
  detail: string;
  deliveries: number;
  type: string | null;
  runId: string | null;
  taskId: string | null;
  epoch: number | null;
};
export type DeadLetterDetail = {
  id: string;
  seq: number;
  /** ISO 8601 */
  at: string;
  consumer: string;
  code: string;
  detail: string;
  deliveries: number;
  type: string | null;
  runId: string | null;
  taskId: string | null;
  epoch: number | null;
  payload: string;
  origin: {
    subject: string;
    seq: number;
  };
};
export type DeadLetters = {
  letters: DeadLetterLine[];
  more: number;
  /** `cursor` of the next page; null: the last one */
  next: string | null;
};
export type RequeuedLetter = {
  id: string;
  runId: string;
  n: number;
  accepted: true;
};
export type EvidenceBundle = {
  taskId: string;
  epoch: number;
  kind: "attempt" | "verdict";
  key: string;
  digest: string;
  manifest: EvidenceManifest;
};
export type RunEvidence = {
  bundles: EvidenceBundle[];
  contracts: TaskContract[];
  /** `RouterContract.v0`; null: the run has none yet */
  router: unknown;
  /** `RouterContract.v0` as the Router opened it; null: the run has none yet */
  opened: unknown;
  /** `cursor` of the next page; null: the last one */
  next: string | null;
};
export type StoredRecording = {
  replayKey: string;
};
export type DirectorKeys = {
  keys: DirectorKey[];
};
export type ModelsListed = {
  ok: true;
  node: string;
  /** Its configuration file, on its machine. */
  file: string | null;
  hosts: {
    host: string;
    shape: "openai" | "anthropic" | "gemini";
    /** Where its calls go instead; null: to the host. */
    upstream: string | null;
    origin: "shipped" | "configuration";
    /** `none`: no key is sent. */
    key: "set" | "missing" | "none";
    /** Why the key is missing. */
    reason: string | null;
    prices: Record<
      string,
      {
        /** Micro-dollars per million tokens. */
        input: number;
        /** Micro-dollars per million tokens. */
        output: number;
        /** Default: the input price. */
        cache_read?: number;
        /** Default: twice the input price for `anthropic`, else the input price. */
        cache_write?: number;
        /** Maximum tokens of one answer. */
        max_output: number;
        /** The prices of a whole call with more input than `above`. */
        long?: {
          /** Tokens of input. */
          above: number;
          /** Micro-dollars per million tokens. */
          input: number;
          /** Micro-dollars per million tokens. */
          output: number;
          /** Default: the input price. */
          cache_read?: number;
          /** Default: twice the input price for `anthropic`, else the input price. */
          cache_write?: number;
        };
      }
    >;
  }[];
  /** Entries of the configuration that are left out. */
  unusable: {
    entry: string;
    reason: string;
  }[];
  /** The answer of a model host to the question which models it has. */
  trial?: {
    host: string;
    works: boolean;
    /** What happened, in words. */
    said: string;
    /** Names of the models that it offers. */
    models: string[];
    /** Milliseconds to the answer. */
    ms: number;
  };
};
export type ImagesListed = {
  ok: true;
  node: string;
  images: {
    /** Its name when it was allowed. */
    ref: string;
    /** What decides: the digest of an image of an engine, otherwise the provider's name for it. null: the name is unknown. */
    id: string | null;
    allowed_by: "setup" | "configuration" | "allowlist";
    allowed_at: string | null;
    /** null if the engine does not have it. */
    bytes: number | null;
    /** Whether a verdict can be reached in it; null if not tried yet. */
    sealed: boolean | null;
    /** Programs of toolchains that it has; absent if nobody has looked. */
    programs?: string[];
  }[];
  /** Programs of checks that the image of `look_into` lacks; absent: nobody could look. */
  lacks?: string[];
};
export type PresentService = {
  name: string;
  id: string;
  version: string;
  natsUser: string;
  /** Why JetStream refuses what the process stores */
  noSpace?: string;
};
/** The store is too full, for new work or for any */
export type StorageProblem = {
  code: string;
  message: string;
  remedy: string;
};
export type PresentServices = {
  services: PresentService[];
  storage: StorageProblem | null;
};
export type ConsumerLine = {
  name: string;
  waiting: number;
  inFlight: number;
  redelivered: number;
};
/** Attempts that a Director holds back, so that tenants take turns */
export type HeldLine = {
  tenant: string;
  priority: "interactive" | "batch";
  attempts: number;
};
export type Queues = {
  consumers: ConsumerLine[];
  openRuns: number;
  deadLetters: number;
  held: HeldLine[];
  /** That told what they hold back */
  directors: number;
};
export type AgentModel = {
  name: string;
  host: string;
};
export type AgentLine = {
  name: string;
  description: string;
  packages: string[];
  model: AgentModel | null;
  state: "ready" | "no key" | "no prices" | "unknown" | "unreadable";
  reason: string | null;
};
export type NamedAgent = {
  agent: Record<string, unknown>;
};
export type Agents = {
  agents: AgentLine[];
};
export type Alive = {
  status: "ok";
};
export type Ready = {
  status: "ready";
  storage?: StorageProblem;
};

export interface GetRoutes {
  /** The sessions of repositories, the newest first */
  "/sessions": {
    readonly params: { readonly limit?: UrlValue; readonly cursor?: UrlValue };
    readonly answer: SessionPage;
  };
  /** A session as its events tell it: status, plan, commands, artifacts */
  "/sessions/{id}": {
    readonly params: { readonly id: string | number };
    readonly answer: SessionView;
  };
  /** The events that answer a session's commands, in order; as a stream with `Accept: text/event-stream` */
  "/sessions/{id}/events": {
    readonly params: {
      readonly id: string | number;
      readonly after?: UrlValue;
      readonly agent?: UrlValue;
      readonly limit?: UrlValue;
      readonly cursor?: UrlValue;
    };
    readonly answer: SessionEventPage;
  };
  /** Requests for approval that wait for a person */
  "/sessions/{id}/approvals": {
    readonly params: { readonly id: string | number; readonly limit?: UrlValue; readonly cursor?: UrlValue };
    readonly answer: WaitingApprovals;
  };
  /** The bytes of a session's artifact */
  "/sessions/{id}/artifacts/{name}": {
    readonly params: { readonly id: string | number; readonly name: string | number };
    readonly answer: string;
  };
  /** An intent */
  "/intents/{id}": {
    readonly params: { readonly id: string | number };
    readonly answer: IntentDocument;
  };
  /** The policy profiles that apply to a repository; `repo` is its path or URL */
  "/policy": {
    readonly params: { readonly repo: string | number };
    readonly answer: PolicyExplanation;
  };
  /** The runs, the newest first */
  "/runs": {
    readonly params: { readonly limit?: UrlValue; readonly cursor?: UrlValue };
    readonly answer: RunPage;
  };
  /** The state of a run */
  "/runs/{id}": {
    readonly params: { readonly id: string | number };
    readonly answer: RunViewModel;
  };
  /** A run's journal; as it grows with `Accept: text/event-stream` */
  "/runs/{id}/events": {
    readonly params: {
      readonly id: string | number;
      readonly logs?: UrlValue;
      readonly limit?: UrlValue;
      readonly cursor?: UrlValue;
    };
    readonly answer: RunRecords;
  };
  /** A run's stored messages unchanged, including damaged ones */
  "/runs/{id}/journal": {
    readonly params: { readonly id: string | number; readonly after?: UrlValue };
    readonly answer: RunMaterial;
  };
  /** The journal's streams, and every run that has a record */
  "/journal": {
    readonly params: Nothing;
    readonly answer: JournalOverview;
  };
  /** A run's evidence */
  "/runs/{id}/evidence": {
    readonly params: { readonly id: string | number; readonly limit?: UrlValue; readonly cursor?: UrlValue };
    readonly answer: RunEvidence;
  };
  /** One evidence bundle */
  "/runs/{id}/evidence/{task}/{epoch}": {
    readonly params: {
      readonly id: string | number;
      readonly task: string | number;
      readonly epoch: string | number;
      readonly kind?: UrlValue;
    };
    readonly answer: EvidenceBundle;
  };
  /** One file of a bundle */
  "/runs/{id}/evidence/{task}/{epoch}/files/{path}": {
    readonly params: {
      readonly id: string | number;
      readonly task: string | number;
      readonly epoch: string | number;
      readonly path: string | number;
      readonly kind?: UrlValue;
    };
    readonly answer: string;
  };
  /** Dead letters, oldest first */
  "/dead-letters": {
    readonly params: { readonly after?: UrlValue; readonly limit?: UrlValue; readonly cursor?: UrlValue };
    readonly answer: DeadLetters;
  };
  /** One dead letter with its payload */
  "/dead-letters/{id}": {
    readonly params: { readonly id: string | number };
    readonly answer: DeadLetterDetail;
  };
  /** Public keys of the Directors, as a JWK set */
  "/keys": {
    readonly params: Nothing;
    readonly answer: DirectorKeys;
  };
  /** The model hosts of the deployment, with prices */
  "/models": {
    readonly params: Nothing;
    readonly answer: ModelsListed;
  };
  /** The images that sandboxes may use */
  "/images": {
    readonly params: Nothing;
    readonly answer: ImagesListed;
  };
  /** The services that answer now; waits until `expect` have */
  "/services": {
    readonly params: { readonly expect?: UrlValue };
    readonly answer: PresentServices;
  };
  /** The work that waits and is under way, and the attempts that are held back */
  "/queues": {
    readonly params: Nothing;
    readonly answer: Queues;
  };
  /** The agent packs of the deployment, and whether their models can be called */
  "/agents": {
    readonly params: Nothing;
    readonly answer: Agents;
  };
  /** An agent pack as `inputs.agent` of an intent */
  "/agents/{name}": {
    readonly params: { readonly name: string | number; readonly model?: UrlValue };
    readonly answer: NamedAgent;
  };
  /** The process is alive */
  "/healthz": {
    readonly params: Nothing;
    readonly answer: Alive;
  };
  /** NATS is connected */
  "/readyz": {
    readonly params: Nothing;
    readonly answer: Ready;
  };
  /** Prometheus */
  "/metrics": {
    readonly params: Nothing;
    readonly answer: string;
  };
  /** This document */
  "/openapi.json": {
    readonly params: Nothing;
    readonly answer: unknown;
  };
}

export interface PostRoutes {
  /** Open a session: a short-lived token for prompts, and the Directors' public keys */
  "/sessions": {
    readonly params: Nothing;
    readonly body: SessionRequest | undefined;
    readonly answer: OpenedSession;
  };
  /** Send a command of Contracts v1.3; the policy is checked first */
  "/sessions/{id}/commands": {
    readonly params: { readonly id: string | number };
    readonly body: Command;
    readonly answer: SessionEvents;
  };
  /** Approve or reject one of them */
  "/sessions/{id}/approvals": {
    readonly params: { readonly id: string | number };
    readonly body: SessionDecision;
    readonly answer: SessionView;
  };
  /** Store an intent; the same body again gives the same id and 200 */
  "/intents": {
    readonly params: Nothing;
    readonly body: Intent;
    readonly answer: StoredIntent;
  };
  /** Start a run; with an Idempotency-Key the request can be repeated safely */
  "/intents/{id}/run": {
    readonly params: { readonly id: string | number };
    readonly body: undefined;
    readonly answer: StartedRun;
  };
  /** Run a repository's checks in a clean room, without a run; spaces come before the answer, or events with `Accept: text/event-stream` */
  "/checks": {
    readonly params: Nothing;
    readonly body: CheckRequest;
    readonly answer: CheckReport | Problem;
  };
  /** Check an intent against the policy; nothing is stored */
  "/policy/check": {
    readonly params: Nothing;
    readonly body: Intent;
    readonly answer: PolicyAnswer;
  };
  /** Judge up to 100 runs on record by a policy; nothing is stored */
  "/policy/simulate": {
    readonly params: Nothing;
    readonly body: PolicySimulation;
    readonly answer: SimulatedRuns;
  };
  /** Answer, approve or cancel */
  "/runs/{id}/events": {
    readonly params: { readonly id: string | number };
    readonly body: RunEvent;
    readonly answer: AcceptedEvent;
  };
  /** A person's decision that another system passes on, in a signed request */
  "/hooks/{id}/decisions": {
    readonly params: { readonly id: string | number };
    readonly body: HookDecision;
    readonly answer: AcceptedEvent;
  };
  /** Pause a run: nothing new starts, running attempts may finish and land */
  "/runs/{id}/pause": {
    readonly params: { readonly id: string | number };
    readonly body: ControlReason | undefined;
    readonly answer: ControlledRun;
  };
  /** Resume a paused run */
  "/runs/{id}/resume": {
    readonly params: { readonly id: string | number };
    readonly body: ControlReason | undefined;
    readonly answer: ControlledRun;
  };
  /** Start a failed or canceled run's intent again, as a new run */
  "/runs/{id}/retry": {
    readonly params: { readonly id: string | number };
    readonly body: undefined;
    readonly answer: RetriedRun;
  };
  /** Carry out a recorded attempt once more, with recorded answers; spaces come before the answer */
  "/runs/{id}/replay": {
    readonly params: { readonly id: string | number };
    readonly body: ReplayRequest;
    readonly answer: ReplayReport | Problem;
  };
  /** Put an archived run's records back into the journal */
  "/runs/{id}/restore": {
    readonly params: { readonly id: string | number };
    readonly body: undefined;
    readonly answer: RestoredRun;
  };
  /** Rebuild a run's documents from the journal */
  "/runs/{id}/rebuild": {
    readonly params: { readonly id: string | number };
    readonly body: undefined;
    readonly answer: RebuiltRun;
  };
  /** Requeue a dead letter */
  "/dead-letters/{id}/requeue": {
    readonly params: { readonly id: string | number };
    readonly body: undefined;
    readonly answer: RequeuedLetter;
  };
  /** Store a recorded agent session under its replay key */
  "/recordings": {
    readonly params: Nothing;
    readonly body: {
      input: OCCompileInput;
      output: OCCompileOutput;
    };
    readonly answer: StoredRecording;
  };
  /** Ask a model host which models it has */
  "/models/test": {
    readonly params: Nothing;
    readonly body: ModelsRequest;
    readonly answer: ModelsListed;
  };
  /** Allow or disallow an image */
  "/images": {
    readonly params: Nothing;
    readonly body: ImagesRequest;
    readonly answer: ImagesListed;
  };
}
