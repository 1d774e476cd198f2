/**
 * Every bound, with its unit, its reason and what happens at it. A name ends in its unit.
 * docs/reference/limits.md is generated from this table.
 */
type Limit = readonly [value: number, unit: string, reason: string, atTheBound: string];

const KiB = 1024;
const MiB = 1024 * KiB;

const TABLE = {
  messageBytes: [
    64 * KiB,
    "bytes",
    "an event stays small enough to fan out and to keep",
    "refused; large content goes to the object store",
  ],
  recordBytes: [
    128 * KiB,
    "bytes",
    "one record of the journal, headers included: a whole plan, an attempt with its feedback, a verdict",
    "a plan: ANT_PLAN_INVALID; what a verdict, a dispatch or an ending quotes is shortened; else ANT_NATS_REJECTED",
  ],
  recordEnvelopeBytes: [
    2 * KiB,
    "bytes",
    "of a record, for all that is not its body (ids, cause, signature, trace, what its append expects): twice the most there is",
    "n/a",
  ],
  messageDepth: [64, "levels", "no contract nests deeper; a reader's stack is safe", "ANT_CONTRACT_LIMIT"],
  messageNodes: [100_000, "values", "bounds the time to check one message", "ANT_CONTRACT_LIMIT"],
  documentBytes: [
    1 * MiB,
    "bytes",
    "a KV document or HTTP body that people can still read",
    "413, ANT_CONTRACT_LIMIT",
  ],
  manifestBytes: [
    64 * KiB,
    "bytes",
    "an antiphon.yaml: it is read while other runs wait",
    "ANT_REPO_CONFIG_INVALID",
  ],
  sandboxFiles: [2000, "files", "bounds what one job may carry or change", "ANT_SANDBOX_OUTPUT"],
  sandboxFileBytes: [64 * MiB, "bytes", "the workspace is memory-backed", "ANT_SANDBOX_OUTPUT"],
  outputKeptBytes: [
    4 * MiB,
    "bytes",
    "kept per stream: head and tail",
    "the middle is dropped, the bytes are counted",
  ],
  outputTailBytes: [2 * KiB, "bytes", "what a verdict quotes of a log", "only the end is quoted"],
  sandboxProcesses: [256, "processes", "a fork bomb ends in the sandbox", "fork fails inside"],
  sandboxMemoryBytes: [1024 * MiB, "bytes", "two sandboxes fit a laptop", "killed, ANT_SANDBOX_OOM"],
  sandboxCpus: [2, "cores", "one job cannot starve the host", "throttled"],
  sandboxWorkspaceBytes: [512 * MiB, "bytes", "tmpfs of /workspace", "write fails inside"],
  sandboxWarmTreeBytes: [
    64 * MiB,
    "bytes",
    "a base tree that an idle sandbox holds in memory",
    "the tree goes in when a job asks",
  ],
  sandboxTmpBytes: [256 * MiB, "bytes", "tmpfs of /tmp", "write fails inside"],
  sandboxSlots: [4, "sandboxes", "per runner process", "busy, with a delay to ask again"],
  egressLeases: [256, "sandboxes", "listeners of one egress gateway", "ANT_EGRESS_BUSY"],
  egressConnections: [64, "connections", "open at once from one sandbox", "the next one waits"],
  egressRequests: [5000, "requests", "of one sandbox; a full install is about 1,500", "ANT_EGRESS_QUOTA"],
  egressUpBytes: [
    64 * MiB,
    "bytes",
    "sent by one sandbox; also the most that can be carried off",
    "ANT_EGRESS_QUOTA",
  ],
  egressDownBytes: [2048 * MiB, "bytes", "received by one sandbox", "ANT_EGRESS_QUOTA"],
  egressHeaderBytes: [16 * KiB, "bytes", "header of one request", "ANT_EGRESS_MALFORMED"],
  egressHandshakeMs: [10_000, "milliseconds", "token, request header or TLS hello of a connection", "closed"],
  egressIdleMs: [120_000, "milliseconds", "nothing moves on a connection", "ANT_EGRESS_TIMEOUT"],
  egressRequestMs: [900_000, "milliseconds", "one request, answer included", "ANT_EGRESS_TIMEOUT"],
  modelBodyBytes: [
    8 * MiB,
    "bytes",
    "body of one model call; it is read before it leaves",
    "ANT_EGRESS_MODEL",
  ],
  modelAnswerBytes: [32 * MiB, "bytes", "answer of one model call", "cut off, charged in full"],
  taskTimeBudgetS: [300, "seconds", "default of DirectorTask.time_budget_s", "killed, ANT_TASK_TIME_BUDGET"],
  taskTimeBudgetMaxS: [86_400, "seconds", "a day", "refused"],
  maxAttempts: [3, "attempts", "default of RunOptions.max_attempts", "failed with the last attempt's code"],
  maxLapses: [
    5,
    "epochs",
    "attempts of one task that lapsed, or were abandoned after a sandbox was to be had",
    "ANT_TASK_POISON",
  ],
  maxOutages: [
    100,
    "epochs",
    "attempts of one task for which no sandbox was to be had: two to three hours of it",
    "failed with the last attempt's code",
  ],
  tasksPerRun: [256, "tasks", "the graph of one run; its plan has to fit recordBytes", "ANT_PLAN_INVALID"],
  patchFiles: [200, "files", "a change people can review", "ANT_PATCH_TOO_LARGE"],
  patchBytes: [8 * MiB, "bytes", "a change people can review", "ANT_PATCH_TOO_LARGE"],
  globAlternatives: [64, "alternatives", "the braces of one glob, written out", "ANT_INTENT_OPTIONS"],
  globCharacters: [
    16 * KiB,
    "characters",
    "globs with wildcards of one list, alternatives written out: what a path is matched with",
    "ANT_INTENT_OPTIONS",
  ],
  treeFiles: [200_000, "files", "a base tree", "ANT_REPO_UNREADABLE"],
  treeBytes: [2048 * MiB, "bytes", "a base tree", "ANT_REPO_UNREADABLE"],
  requestBodyBytes: [1 * MiB, "bytes", "an HTTP request to the gateway", "413"],
  archiveAfterS: [86_400, "seconds", "a run that is over stays in the journal for a day", "archived"],
  archiveTidyS: [
    3_600,
    "seconds",
    "how often packs without a record and documents of archived runs are looked for, and how old such a pack has to be",
    "removed",
  ],
  archivePackRuns: [
    256,
    "runs",
    "one pack: many runs, so that an object costs each of them little",
    "another pack",
  ],
  archivePackBytes: [
    8 * MiB,
    "bytes",
    "one pack before compression: it is read as a whole for one run",
    "another pack; a larger run has its own",
  ],
  openRuns: [10_000, "runs", "accepted and not yet closed", "429, ANT_GATEWAY_BUSY"],
  sessionEvents: [1_000, "events", "a session is read as a whole", "ANT_CONTRACT_LIMIT"],
  sessionKeepS: [7 * 86_400, "seconds", "sessions are looked at for days", "forgotten"],
  sessionTokenS: [900, "seconds", "a token that leaks is soon worth nothing", "401, ANT_SESSION_EXPIRED"],
  rateWindows: [
    4_096,
    "windows",
    "whose calls one gateway counts at a time, by principal and profile",
    "the one that called longest ago is forgotten",
  ],
  tokenMinChars: [
    16,
    "characters",
    "the deployment's token must not be guessed",
    "ANT_GATEWAY_TOKEN_WEAK, no start",
  ],
  sseClients: [256, "clients", "open event streams of one gateway", "429, ANT_GATEWAY_BUSY"],
  sseClientsPerPrincipal: [
    192,
    "clients",
    "of those, for one principal: others keep places",
    "429, ANT_GATEWAY_BUSY",
  ],
  sseClientsPerAddress: [
    64,
    "clients",
    "of those, for one remote address: a machine that opens all it can leaves the rest",
    "429, ANT_GATEWAY_BUSY",
  ],
  storageAdmissionPercent: [80, "percent", "a full disk shuts JetStream down", "503, ANT_NATS_NO_SPACE"],
  claimHeartbeatMs: [2000, "milliseconds", "how often a holder says that it lives", "n/a"],
  dispatchAhead: [
    8,
    "attempts",
    "held ones are let through while fewer lie ready than this, or than are being worked on",
    "batch runs and named tenants wait for their turn",
  ],
  dispatchTurnMs: [1000, "milliseconds", "however long the queue, one held attempt passes", "n/a"],
  claimGraceS: [
    90,
    "seconds",
    "what an attempt has beyond its budget to come to an end by itself",
    "the Director records `lapsed`, whatever the holder's heart says",
  ],
  lapseRestMs: [
    1000,
    "milliseconds",
    "rest of a task after its second loss, or its first attempt without a sandbox; doubled each further time",
    "handed out again when it is due",
  ],
  lapseRestMaxMs: [60_000, "milliseconds", "the longest such rest", "handed out again when it is due"],
  questionTimeoutS: [
    604_800,
    "seconds",
    "default of RunOptions.question_timeout_s: a week",
    "ANT_TASK_UNANSWERED",
  ],
  timerArmMs: [
    2000,
    "milliseconds",
    "a run open for longer has its timers on the server; shorter ones cost none",
    "n/a",
  ],
  refLockMs: [
    60_000,
    "milliseconds",
    "an older lock of a run's branch was left by a power cut or a kill, and is removed",
    "ANT_LANDING_REF_LOCKED until then",
  ],
  routerAckWaitMs: [5_000, "milliseconds", "a silent Router's record is delivered again", "redelivery"],
  directorAckWaitMs: [6_000, "milliseconds", "a silent Director's record is delivered again", "redelivery"],
  associateAckWaitMs: [
    8_000,
    "milliseconds",
    "a silent Associate's dispatch is delivered again",
    "redelivery, lapse",
  ],
  rpcTimeoutMs: [10_000, "milliseconds", "a question to another service", "ANT_RPC_TIMEOUT"],
  sandboxBeatMs: [2000, "milliseconds", "beat of the runner, alive of the requester", "n/a"],
  sandboxSilenceMs: [
    8_000,
    "milliseconds",
    "no beat, or no alive",
    "ANT_SANDBOX_RUNNER_LOST; the container is killed",
  ],
  sessionWindowBytes: [
    1 * MiB,
    "bytes",
    "output of a session's command that its holder has not taken yet",
    "the command waits",
  ],
  sessionQueue: [16, "commands", "waiting for their turn in one session", "ANT_SANDBOX_BUSY"],
  drainMs: [
    30_000,
    "milliseconds",
    "a service finishes what it holds",
    "it ends; the work is delivered again",
  ],
  cancelMs: [5000, "milliseconds", "from cancel to a stopped container", "a fault; there is a test"],
  blobDeadlineMs: [60_000, "milliseconds", "one read or write of an object", "ANT_BLOB_DEADLINE"],
  logMaxAgeS: [3600, "seconds", "live output is a picture, not a record", "dropped"],
  journalPartitions: [64, "streams", "each is a directory, a lock and consumers of its own", "refused"],
  logMaxBytes: [64 * MiB, "bytes", "live output is a picture, not a record", "oldest dropped"],
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof TABLE;

/** The values by name. */
export const limits: { readonly [L in LimitName]: number } = Object.fromEntries(
  Object.entries(TABLE).map(([name, row]) => [name, row[0]]),
) as { [L in LimitName]: number };

export type LimitEntry = { name: LimitName; value: number; unit: string; reason: string; atTheBound: string };

/** The table with its words, for the reference page. */
export const LIMITS: readonly LimitEntry[] = (Object.keys(TABLE) as LimitName[]).map((name) => {
  const [value, unit, reason, atTheBound] = TABLE[name];
  return { name, value, unit, reason, atTheBound };
});
