// Schemas of the answers that are no contracts of their own, for the OpenAPI document. Pure. The tests hold every
// answer of the gateway against them, with no field left over, and the typed client is generated from them.
//
// The objects are open in the document, so that a later gateway may add fields.
import { jsonSchemaOf, type SchemaName } from "@antiphon/contracts";

export type Json = Record<string, unknown>;

export const TEXT: Json = { type: "string" };
const COUNT: Json = { type: "integer", minimum: 0 };
const FLAG: Json = { type: "boolean" };
const TIME: Json = { type: "string", description: "ISO 8601" };

/** Optional fields are the ones in `maybe`. */
function object(always: Json, maybe: Json = {}, description?: string): Json {
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    required: Object.keys(always),
    properties: { ...always, ...maybe },
  };
}
const list = (items: Json): Json => ({ type: "array", items });
const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: "null" }] });
const oneOf = (...values: readonly string[]): Json => ({ type: "string", enum: values });
const just = (value: string | boolean): Json => ({ const: value });

/** A component of the document: a contract or another answer. */
export const named = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const contract = (name: SchemaName): Json => named(name);

/** The part of a list that all lists have in common. */
const NEXT: Json = {
  next: { type: ["string", "null"], description: "`cursor` of the next page; null: the last one" },
};

/** Budgets of a run that is retried or forked, of which the policy allows less by now. */
const NARROWED: Json = { narrowed: list(object({ budget: TEXT, was: COUNT, is: COUNT })) };

/** The first alternative of a reply between services: over HTTP the other one is a refusal. */
function granted(name: "ModelsReply" | "ImagesReply"): Json {
  const { anyOf } = jsonSchemaOf(name) as { anyOf: readonly Json[] };
  return { ...anyOf[0] };
}

const SESSION_VIEW: Json = {
  config: contract("SessionConfig"),
  status: TEXT,
  sequence: { ...COUNT, description: "Of the last event" },
  plan: orNull(contract("TaskPlan")),
  commands: list(named("SessionCommand")),
  artifacts: list(named("SessionArtifact")),
};
const LETTER: Json = {
  id: TEXT,
  seq: COUNT,
  at: TIME,
  consumer: TEXT,
  code: TEXT,
  detail: TEXT,
  deliveries: COUNT,
  type: orNull(TEXT),
  runId: orNull(TEXT),
  taskId: orNull(TEXT),
  epoch: orNull(COUNT),
};

const SESSIONS = {
  OpenedSession: object(
    { sessionId: TEXT, token: TEXT, expiresAt: TIME, keys: list(contract("DirectorKey")) },
    { config: contract("SessionConfig"), version: TEXT },
    "`config`: of a session that was opened with a repository. `version`: the release of the gateway",
  ),
  SessionView: object(SESSION_VIEW, { reason: TEXT }),
  SessionLine: object({
    sessionId: TEXT,
    repo: TEXT,
    openedAt: TIME,
    status: TEXT,
    commands: COUNT,
    waiting: { ...COUNT, description: "Requests for approval that wait for a person" },
  }),
  SessionPage: object({ sessions: list(named("SessionLine")), ...NEXT }),
  SessionCommand: object(
    { commandId: TEXT, state: oneOf("accepted", "rejected", "succeeded", "failed") },
    { message: TEXT, code: TEXT, remedy: TEXT },
  ),
  SessionArtifact: object({ kind: TEXT }, { downloadUri: TEXT, commandId: TEXT }),
  SessionEvents: object({ events: list(contract("SessionEvent")) }),
  SessionEventPage: object({ events: list(contract("SessionEvent")), ...NEXT }),
  WaitingApproval: object(
    {
      commandId: TEXT,
      sequence: { ...COUNT, description: "Of the event that told the request" },
      reason: TEXT,
      requiredActions: list(TEXT),
      requestedBy: orNull(TEXT),
      digest: { ...TEXT, description: "Names the workspace and the policy; a decision has to name it, too" },
      branch: orNull(TEXT),
      head: orNull(TEXT),
      stale: { ...FLAG, description: "The session has changed its workspace since" },
    },
    {},
    "A `RequestApproval` that waits for a person",
  ),
  WaitingApprovals: object({ approvals: list(named("WaitingApproval")), ...NEXT }),
};

const POLICY = {
  PolicyRefusal: object(
    { profile: TEXT, rule: TEXT, value: { type: ["string", "number"] }, reason: TEXT },
    {},
    "The first rule of a profile that forbids it",
  ),
  HeldProfile: object({ name: TEXT, place: TEXT, rule: orNull(COUNT) }),
  PolicyExplanation: object({
    repo: TEXT,
    principal: TEXT,
    holds: list(named("HeldProfile")),
    profiles: list(contract("PolicyProfile")),
    globalLimits: contract("RateLimits"),
  }),
  PolicyAnswer: object({
    allowed: FLAG,
    holds: list(named("HeldProfile")),
    refusal: orNull(named("PolicyRefusal")),
  }),
  SimulatedRun: object({
    runId: TEXT,
    repo: TEXT,
    principal: TEXT,
    profiles: list(TEXT),
    refusal: orNull(named("PolicyRefusal")),
  }),
  SimulatedRuns: object({ runs: list(named("SimulatedRun")) }),
};

const RUNS = {
  StoredIntent: object({ intentId: TEXT }),
  IntentDocument: object({ intentId: TEXT, intent: contract("Intent") }),
  StartedRun: object({ runId: TEXT, intentId: TEXT, status: just("queued") }, NARROWED),
  RetriedRun: object({ runId: TEXT, retryOf: TEXT, status: just("queued"), replayed: FLAG }, NARROWED),
  RunLine: object(
    {
      runId: TEXT,
      intentId: TEXT,
      goal: TEXT,
      repo: TEXT,
      status: oneOf("queued", "running", "waiting_input", "succeeded", "failed", "canceled", "corrupt"),
      paused: FLAG,
      code: orNull(TEXT),
      startedAt: orNull(TIME),
      endedAt: orNull(TIME),
      seq: COUNT,
    },
    {
      detail: { ...TEXT, description: "Why the records of a `corrupt` run cannot be read" },
      race: { ...TEXT, description: "The race that it is part of; absent: it runs alone" },
    },
  ),
  RunPage: object({ runs: list(named("RunLine")), ...NEXT }),
  RunRecord: object(
    {
      ...(jsonSchemaOf("JournalEnvelope") as { properties: Json }).properties,
      seq: COUNT,
      at: TIME,
      digest: TEXT,
    },
    { signature: TEXT, traceparent: TEXT },
    "A record of the journal. Its body is that of the contract `journal.<type>.v1`",
  ),
  RunRecords: object({ records: list(named("RunRecord")), ...NEXT }),
  AcceptedEvent: object(
    { runId: TEXT, event: TEXT, accepted: just(true) },
    { taskId: TEXT, epoch: COUNT, verdict: TEXT, already: FLAG, paused: FLAG },
    "`already`: nothing was written, because it was so before; `paused`: nothing comes of it before the run is resumed",
  ),
  ControlledRun: object({
    runId: TEXT,
    event: oneOf("pause", "resume"),
    accepted: just(true),
    already: FLAG,
  }),
  ControlReason: { ...object({}, { reason: { ...TEXT, maxLength: 2048 } }), additionalProperties: false },
  RestoredRun: object({ runId: TEXT, records: COUNT, restored: COUNT }),
  RebuiltRun: object({ runId: TEXT, written: list(TEXT), restored: list(TEXT), goesOn: FLAG }),
};

const JOURNAL = {
  JournalPartition: object({
    stream: TEXT,
    messages: COUNT,
    firstSeq: COUNT,
    lastSeq: COUNT,
    lostBytes: COUNT,
  }),
  JournalOverview: object({
    partitions: list(named("JournalPartition")),
    runs: list(TEXT),
    onlyViewed: list(TEXT),
  }),
  RawRecord: object({
    subject: TEXT,
    seq: COUNT,
    storedSeq: orNull(COUNT),
    at: TIME,
    headers: { type: "object", additionalProperties: TEXT },
    payload: { ...TEXT, description: "Base64" },
  }),
  RunMaterial: object({
    runId: TEXT,
    records: list(named("RawRecord")),
    unreadable: list(TEXT),
    archiveProblem: orNull(TEXT),
    view: { type: ["object", "null"], description: "As it is stored, unchecked" },
    next: orNull(COUNT),
  }),
  DeadLetterLine: object(LETTER),
  DeadLetterDetail: object({ ...LETTER, payload: TEXT, origin: object({ subject: TEXT, seq: COUNT }) }),
  DeadLetters: object({
    letters: list(named("DeadLetterLine")),
    more: COUNT,
    ...NEXT,
  }),
  RequeuedLetter: object({ id: TEXT, runId: TEXT, n: COUNT, accepted: just(true) }),
};

const EVIDENCE = {
  EvidenceBundle: object({
    taskId: TEXT,
    epoch: COUNT,
    kind: oneOf("attempt", "verdict"),
    key: TEXT,
    digest: TEXT,
    manifest: contract("EvidenceManifest"),
  }),
  RunEvidence: object({
    bundles: list(named("EvidenceBundle")),
    contracts: list(contract("TaskContract")),
    router: { description: "`RouterContract.v0`; null: the run has none yet" },
    opened: { description: "`RouterContract.v0` as the Router opened it; null: the run has none yet" },
    ...NEXT,
  }),
  StoredRecording: object({ replayKey: TEXT }),
};

const DEPLOYMENT = {
  DirectorKeys: object({ keys: list(contract("DirectorKey")) }),
  ModelsListed: granted("ModelsReply"),
  ImagesListed: granted("ImagesReply"),
  PresentService: object(
    { name: TEXT, id: TEXT, version: TEXT, natsUser: TEXT },
    { noSpace: { ...TEXT, description: "Why JetStream refuses what the process stores" } },
  ),
  StorageProblem: object(
    { code: TEXT, message: TEXT, remedy: TEXT },
    {},
    "The store is too full, for new work or for any",
  ),
  PresentServices: object({
    services: list(named("PresentService")),
    storage: orNull(named("StorageProblem")),
  }),
  ConsumerLine: object({ name: TEXT, waiting: COUNT, inFlight: COUNT, redelivered: COUNT }),
  HeldLine: object(
    { tenant: TEXT, priority: oneOf("interactive", "batch"), attempts: COUNT },
    {},
    "Attempts that a Director holds back, so that tenants take turns",
  ),
  Queues: object({
    consumers: list(named("ConsumerLine")),
    openRuns: COUNT,
    deadLetters: COUNT,
    held: list(named("HeldLine")),
    directors: { ...COUNT, description: "That told what they hold back" },
  }),
  AgentModel: object({ name: TEXT, host: TEXT }),
  AgentLine: object({
    name: TEXT,
    description: TEXT,
    packages: list(TEXT),
    model: orNull(named("AgentModel")),
    state: oneOf("ready", "no key", "no prices", "unknown", "unreadable"),
    reason: orNull(TEXT),
  }),
  NamedAgent: object({ agent: { type: "object", additionalProperties: true } }),
  Agents: object({ agents: list(named("AgentLine")) }),
  Alive: object({ status: just("ok") }),
  Ready: object({ status: just("ready") }, { storage: named("StorageProblem") }),
};

/** RFC 9457, made in error-reply.ts. */
const PROBLEM: Json = {
  ...object(
    {
      type: { ...TEXT, description: "`urn:antiphon:error:<code>`" },
      title: TEXT,
      status: { type: "integer", minimum: 400, maximum: 599 },
      detail: TEXT,
      code: TEXT,
      remedy: TEXT,
      error: {
        ...object({ code: TEXT, message: TEXT, remedy: TEXT }, { path: TEXT }),
        description: "The same, as older clients read it",
        additionalProperties: true,
      },
    },
    {
      ...{ path: TEXT, profile: TEXT, rule: TEXT },
      value: { description: "What a policy refused, besides profile and rule" },
    },
  ),
  additionalProperties: true,
  description: "A coded failure. Further members depend on the code",
};

export const ANSWERS = {
  Problem: PROBLEM,
  ...SESSIONS,
  ...POLICY,
  ...RUNS,
  ...JOURNAL,
  ...EVIDENCE,
  ...DEPLOYMENT,
};

export type AnswerName = keyof typeof ANSWERS;
