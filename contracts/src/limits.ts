/**
 * All limits, each with its unit, its reason and the behaviour at the limit. A name ends in its unit.
 * docs/reference/limits.md is generated from this table.
 */
type Limit = readonly [value: number, unit: string, reason: string, atTheBound: string];

const KiB = 1024;
const MiB = 1024 * KiB;

const TABLE = {
  messageBytes: [
    64 * KiB,
    "bytes",
    "keeps an event small enough to fan out and store",
    "refused; large content goes to the object store",
  ],
  recordBytes: [
    128 * KiB,
    "bytes",
    "one journal record with its headers: a whole plan, an attempt with its feedback, a verdict",
    "for a plan ANT_PLAN_INVALID; quotes in a verdict, a dispatch or an ending are shortened; otherwise ANT_NATS_REJECTED",
  ],
  recordEnvelopeBytes: [
    2 * KiB,
    "bytes",
    "everything in a record except its body (ids, cause, signature, trace, append expectations): twice the largest case",
    "n/a",
  ],
  messageDepth: [
    64,
    "levels",
    "no contract nests deeper, and a reader's stack stays safe",
    "ANT_CONTRACT_LIMIT",
  ],
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
    "an antiphon.yaml, which is read while other runs wait",
    "ANT_REPO_CONFIG_INVALID",
  ],
  sandboxFiles: [2000, "files", "bounds what one job may carry or change", "ANT_SANDBOX_OUTPUT"],
  sandboxFileBytes: [64 * MiB, "bytes", "the workspace is memory-backed", "ANT_SANDBOX_OUTPUT"],
  outputKeptBytes: [
    4 * MiB,
    "bytes",
    "kept per stream, as head and tail",
    "the middle is dropped and its bytes are counted",
  ],
  outputTailBytes: [2 * KiB, "bytes", "quoted from a log in a verdict", "only the end is quoted"],
  sandboxProcesses: [256, "processes", "a fork bomb ends in the sandbox", "fork fails inside"],
  sandboxMemoryBytes: [4096 * MiB, "bytes", "a compiler and its tests fit", "killed, ANT_SANDBOX_OOM"],
  sandboxMemoryMostBytes: [
    16_384 * MiB,
    "bytes",
    "what a run may ask for (`memory_mib`), so that one run cannot take the machine",
    "ANT_SANDBOX_REFUSED",
  ],
  sandboxCpus: [2, "cores", "one job cannot starve the host", "throttled"],
  sandboxWorkspaceBytes: [2048 * MiB, "bytes", "tmpfs of /workspace", "write fails inside"],
  sandboxWarmTreeBytes: [
    64 * MiB,
    "bytes",
    "a base tree that an idle sandbox holds in memory",
    "the tree is loaded when a job asks for it",
  ],
  layerTarBytes: [
    8192 * MiB,
    "bytes",
    "one read-only layer, as a tar: a tree of 4 GiB, or what a setup made",
    "ANT_LAYER_INVALID",
  ],
  layerEntries: [
    1_000_000,
    "files and directories",
    "of one layer, by the least size of a tar entry",
    "ANT_LAYER_INVALID",
  ],
  layerFillMs: [600_000, "milliseconds", "unpacking one layer on the engine's disk", "ANT_SANDBOX_FAILED"],
  layerStoreBytes: [
    24_576 * MiB,
    "bytes",
    "all layers of a deployment on one engine",
    "those unused for longest are removed, except layers in use",
  ],
  layerIdleMs: [7 * 86_400_000, "milliseconds", "a layer that no sandbox was mounted over", "removed"],
  layeredTreeFiles: [
    2_000,
    "files",
    "a tree up to this size is streamed as fast as it is mounted",
    "a larger tree is a layer",
  ],
  layeredTreeBytes: [32 * MiB, "bytes", "likewise", "a larger tree is a layer"],
  sandboxTmpBytes: [512 * MiB, "bytes", "tmpfs of /tmp", "write fails inside"],
  sandboxSlots: [4, "sandboxes", "per runner process", "busy, with a delay before asking again"],
  environmentBytes: [
    2048 * MiB,
    "bytes",
    "what setup makes, which each sandbox that needs it has to hold",
    "ANT_ENVIRONMENT_FAILED",
  ],
  environmentFiles: [300_000, "files", "of one environment", "ANT_ENVIRONMENT_FAILED"],
  environmentBudgetMs: [
    1_200_000,
    "milliseconds",
    "all setup commands together; a large install takes a few minutes",
    "killed, ANT_ENVIRONMENT_FAILED",
  ],
  environmentKeepS: [
    14 * 86_400,
    "seconds",
    "an environment that no job asked for",
    "removed; prepared again when a job asks",
  ],
  environmentStoreBytes: [
    16 * 1024 * MiB,
    "bytes",
    "all environments in the object store",
    "the ones that were not asked for longest are removed",
  ],
  writtenPaths: [
    5_000,
    "paths",
    "reported of what checks changed, and of what they made, so that the report fits a message",
    "the report says that it is not complete",
  ],
  verifyTrials: [
    16,
    "trials",
    "a check that fails every other time passes all of them once in 65,536",
    "the last trial",
  ],
  verifyTrialsMs: [
    150,
    "milliseconds",
    "trials of a check go on for this long after the second one, so a short check gets more of them",
    "no further trial",
  ],
  verifyTimingMs: [
    2_000,
    "milliseconds",
    "the same, where the check or the change draws on clocks, waiting, threads or sockets",
    "no further trial",
  ],
  verifyRandomMs: [
    10_000,
    "milliseconds",
    "the same, where they draw on random numbers, or were flaky in an earlier attempt: all trials, also on a busy machine",
    "no further trial",
  ],
  sandboxForgeries: [
    20,
    "answers",
    "forged answers to one job, which is asked again after each: a queue group hands out requests at random",
    "ANT_SANDBOX_FORGED",
  ],
  verifyBaseGraceMs: [
    5_000,
    "milliseconds",
    "the checks on the base, where nothing demands them, may take this longer than twice the time of those on the change",
    "they are stopped, and the verdict says `regression`",
  ],
  egressLeases: [256, "sandboxes", "listeners of one egress gateway", "ANT_EGRESS_BUSY"],
  egressConnections: [64, "connections", "open at once from one sandbox", "the next one waits"],
  egressRequests: [5000, "requests", "of one sandbox; a full install is about 1,500", "ANT_EGRESS_QUOTA"],
  egressUpBytes: [64 * MiB, "bytes", "sent by one sandbox; caps exfiltration", "ANT_EGRESS_QUOTA"],
  egressDownBytes: [2048 * MiB, "bytes", "received by one sandbox", "ANT_EGRESS_QUOTA"],
  egressHeaderBytes: [16 * KiB, "bytes", "header of one request", "ANT_EGRESS_MALFORMED"],
  egressHandshakeMs: [10_000, "milliseconds", "token, request header or TLS hello of a connection", "closed"],
  egressIdleMs: [120_000, "milliseconds", "a connection without traffic", "ANT_EGRESS_TIMEOUT"],
  egressRequestMs: [900_000, "milliseconds", "one request, answer included", "ANT_EGRESS_TIMEOUT"],
  modelBodyBytes: [
    8 * MiB,
    "bytes",
    "body of one model call; it is read before it is sent",
    "ANT_EGRESS_MODEL",
  ],
  modelAnswerBytes: [32 * MiB, "bytes", "answer of one model call", "cut off, charged in full"],
  taskTimeBudgetS: [300, "seconds", "default of DirectorTask.time_budget_s", "killed, ANT_TASK_TIME_BUDGET"],
  taskTimeBudgetMaxS: [86_400, "seconds", "a day", "refused"],
  maxAttempts: [3, "attempts", "default of RunOptions.max_attempts", "failed with the last attempt's code"],
  maxLapses: [
    5,
    "epochs",
    "lost attempts of one task: the lease expired, or the attempt was abandoned although a sandbox was available",
    "ANT_TASK_POISON",
  ],
  maxOutages: [
    100,
    "epochs",
    "attempts of one task without an available sandbox: about two to three hours",
    "failed with the last attempt's code",
  ],
  tasksPerRun: [256, "tasks", "the graph of one run, whose plan must fit recordBytes", "ANT_PLAN_INVALID"],
  patchFiles: [200, "files", "a change people can review", "ANT_PATCH_TOO_LARGE"],
  patchBytes: [8 * MiB, "bytes", "a change people can review", "ANT_PATCH_TOO_LARGE"],
  globAlternatives: [64, "alternatives", "the braces of one glob, written out", "ANT_INTENT_OPTIONS"],
  globCharacters: [
    16 * KiB,
    "characters",
    "the globs with wildcards of one list, with alternatives written out",
    "ANT_INTENT_OPTIONS",
  ],
  treeFiles: [200_000, "files", "a base tree", "ANT_REPO_UNREADABLE"],
  treeBytes: [2048 * MiB, "bytes", "a base tree", "ANT_REPO_UNREADABLE"],
  linkedBytes: [
    256 * MiB,
    "bytes",
    "files of submodules and of Git LFS in a sandbox, whose workspace is memory-backed",
    "the rest stay empty directories and pointers; the run says which",
  ],
  historyCommits: [1000, "commits", "a run may ask for in its sandboxes", "ANT_INTENT_OPTIONS"],
  historyBytes: [
    64 * MiB,
    "bytes",
    "stored objects of the history in a sandbox, whose workspace is memory-backed",
    "8 commits, then 1; if that does not fit either, the sandbox has no repository",
  ],
  openChecks: [
    8,
    "checks",
    "checks without a run that one Director has open at a time, each with a sandbox and a patch in memory",
    "ANT_SANDBOX_BUSY",
  ],
  requestBodyBytes: [1 * MiB, "bytes", "an HTTP request to the gateway", "413"],
  archiveAfterS: [86_400, "seconds", "a finished run stays in the journal for a day", "archived"],
  archiveTidyS: [
    3_600,
    "seconds",
    "interval of the search for packs without a record and documents of archived runs, and the minimum age of such a pack",
    "removed",
  ],
  archivePackRuns: [256, "runs", "one pack: many runs share the cost of an object", "another pack"],
  archivePackBytes: [
    8 * MiB,
    "bytes",
    "one pack before compression, because it is read as a whole for one run",
    "another pack; a larger run gets its own",
  ],
  openRuns: [10_000, "runs", "accepted runs that are not closed", "429, ANT_GATEWAY_BUSY"],
  sessionEvents: [1_000, "events", "a session is always read as a whole", "ANT_CONTRACT_LIMIT"],
  sessionKeepS: [7 * 86_400, "seconds", "people look at sessions for days", "dropped"],
  sessionTokenS: [900, "seconds", "a leaked token soon expires", "401, ANT_SESSION_EXPIRED"],
  rateWindows: [
    4_096,
    "windows",
    "callers that one gateway counts at a time, by principal and profile",
    "the caller with the oldest call is dropped",
  ],
  tokenMinChars: [
    16,
    "characters",
    "the deployment's token must be hard to guess",
    "ANT_GATEWAY_TOKEN_WEAK; the gateway does not start",
  ],
  sseClients: [256, "clients", "open event streams of one gateway", "429, ANT_GATEWAY_BUSY"],
  sseClientsPerPrincipal: [
    192,
    "clients",
    "of these, for one principal, so that others find room",
    "429, ANT_GATEWAY_BUSY",
  ],
  sseClientsPerAddress: [
    64,
    "clients",
    "of these, for one remote address, so that one machine cannot take them all",
    "429, ANT_GATEWAY_BUSY",
  ],
  storageAdmissionPercent: [80, "percent", "a full disk shuts JetStream down", "503, ANT_NATS_NO_SPACE"],
  claimHeartbeatMs: [2000, "milliseconds", "heartbeat interval of a holder", "n/a"],
  dispatchAhead: [
    8,
    "attempts",
    "queued attempts are admitted while fewer than this, or fewer than are being worked on, are ready",
    "batch runs and named tenants wait for their turn in the admission queue",
  ],
  dispatchTurnMs: [
    1000,
    "milliseconds",
    "one queued attempt is admitted in this time, however long the queue",
    "n/a",
  ],
  claimGraceS: [
    90,
    "seconds",
    "time after its budget in which an attempt may end by itself",
    "the Director records `lapsed`, even if the holder still sends heartbeats",
  ],
  lapseRestMs: [
    1000,
    "milliseconds",
    "backoff of a task after its second loss or its first attempt without a sandbox; doubled each time",
    "dispatched again when it is over",
  ],
  lapseRestMaxMs: [60_000, "milliseconds", "the longest such backoff", "dispatched again when it is over"],
  questionTimeoutS: [
    604_800,
    "seconds",
    "default of RunOptions.question_timeout_s: a week",
    "ANT_TASK_UNANSWERED",
  ],
  timerArmMs: [2000, "milliseconds", "only runs open for longer store timers on the server", "n/a"],
  refLockMs: [
    60_000,
    "milliseconds",
    "an older lock of a run's branch is left over from a power cut or a kill, and is removed",
    "ANT_LANDING_REF_LOCKED until then",
  ],
  routerAckWaitMs: [
    2_000,
    "milliseconds",
    "a record is redelivered if its Router is silent for longer",
    "redelivery",
  ],
  directorAckWaitMs: [
    2_500,
    "milliseconds",
    "a record is redelivered if its Director is silent for longer",
    "redelivery",
  ],
  associateAckWaitMs: [
    5_000,
    "milliseconds",
    "a dispatch is redelivered if its Associate is silent for longer",
    "redelivery, lease expiry",
  ],
  rpcTimeoutMs: [10_000, "milliseconds", "a request to another service", "ANT_RPC_TIMEOUT"],
  sandboxBeatMs: [
    2000,
    "milliseconds",
    "interval of the runner's beat and the requester's alive message",
    "n/a",
  ],
  sandboxSilenceMs: [
    8_000,
    "milliseconds",
    "no beat, or no alive message",
    "ANT_SANDBOX_RUNNER_LOST; the container is killed",
  ],
  sessionWindowBytes: [
    1 * MiB,
    "bytes",
    "output of a session's command that its holder has not read yet",
    "the command waits",
  ],
  sessionQueue: [16, "commands", "waiting for their turn in one session", "ANT_SANDBOX_BUSY"],
  drainMs: [
    30_000,
    "milliseconds",
    "time for a service to finish its current work",
    "the service ends; the work is redelivered",
  ],
  cancelMs: [5000, "milliseconds", "from cancel to a stopped container", "a fault; a test checks it"],
  blobDeadlineMs: [60_000, "milliseconds", "one read or write of an object", "ANT_BLOB_DEADLINE"],
  logMaxAgeS: [3600, "seconds", "live output is for watching and is not a record", "dropped"],
  journalPartitions: [64, "streams", "each has its own directory, lock and consumers", "refused"],
  logMaxBytes: [64 * MiB, "bytes", "live output is for watching and is not a record", "oldest dropped"],
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof TABLE;

/** The values by name. */
export const limits: { readonly [L in LimitName]: number } = Object.fromEntries(
  Object.entries(TABLE).map(([name, row]) => [name, row[0]]),
) as { [L in LimitName]: number };

export type LimitEntry = { name: LimitName; value: number; unit: string; reason: string; atTheBound: string };

/** The table with its texts, for the reference page. */
export const LIMITS: readonly LimitEntry[] = (Object.keys(TABLE) as LimitName[]).map((name) => {
  const [value, unit, reason, atTheBound] = TABLE[name];
  return { name, value, unit, reason, atTheBound };
});
