/**
 * Streams, consumers and buckets as data. `runtime` makes the server look like this table; a snapshot test lists it.
 *
 * Invariants:
 *  T1 The journal is kept on disk, refuses new records when full, and never drops an old one by itself.
 *  T2 Every journal type is read by a service or named here as a leaf.
 */
import type { JournalType } from "../journal/record.ts";
import { limits } from "../limits.ts";
import { JOURNAL_PARTITIONS, subjects } from "./subjects.ts";
import { timerSubjects } from "./timer.ts";

export type StreamSpec = {
  name: string;
  purpose: string;
  subjects: readonly string[];
  retention: "limits";
  storage: "file" | "memory";
  discard: "new" | "old";
  allowDirect: boolean;
  allowAtomicPublish: boolean;
  /** Messages may say when they are to be delivered, and how long they are kept (ADR-51, ADR-43). */
  allowSchedules?: boolean;
  denyDelete: boolean;
  denyPurge: boolean;
  /** Milliseconds; 0: no bound. */
  maxAgeMs: number;
  /** -1: no bound. */
  maxBytes: number;
  maxMessageBytes: number;
};

export type ConsumerName = "router" | "director" | "associate";

/** Consumers nobody pulls from: how many messages wait for them is the count. */
export type TallyName = "tally-intent" | "tally-closed";

export const TIMER_STREAM = "ANT_TIMERS";
export const TIMER_CONSUMER = "timers";

export type ConsumerSpec = {
  name: ConsumerName | TallyName | typeof TIMER_CONSUMER;
  stream: string;
  purpose: string;
  filterSubjects: readonly string[];
  ackWaitMs: number;
  /** -1: for ever; poison is counted by the service (J7). */
  maxDeliver: number;
  maxAckPending: number;
  /**
   * True: a delivery goes to the same reader as long as that one has a free slot, and to the next one else (NATS priority
   * groups, ADR-42): a reader that remembers what came before need not read it. False: to whoever asked first.
   */
  keepsToOne: boolean;
};

/** The one group of readers of a consumer that keeps to one. */
export const READERS = "readers";

export type BucketSpec = {
  name: string;
  kind: "kv" | "object";
  purpose: string;
  keys: string;
  history: number;
};

/** What each service reads from the journal (T2). */
export const CONSUMER_TYPES: { readonly [C in ConsumerName]: readonly JournalType[] } = {
  router: ["intent", "requeue"],
  // A Director goes on after its own records by itself; `intent` and `claim` it hears, to know what they led to.
  director: [
    "intent",
    "routed",
    "claim",
    "result",
    "cancel",
    "input",
    "approval",
    "control",
    "requeue",
    "due",
  ],
  associate: ["dispatch", "requeue"],
};

/** Types nobody is woken by: read back, shown, or terminal. */
export const LEAF_TYPES: readonly JournalType[] = ["verdict", "landing", "closed", "archived", "restored"];

const CONSUMER_PURPOSE: { readonly [C in ConsumerName]: readonly [string, number, number] } = {
  router: ["Intents to route.", limits.routerAckWaitMs, 1000],
  director: ["Everything that can move a run on.", limits.directorAckWaitMs, 1000],
  associate: ["Attempts to work on.", limits.associateAckWaitMs, 10_000],
};

export const journalStream = (partition: number): string => `ANT_JOURNAL_${partition}`;

const journalSpec = (partition: number): StreamSpec => ({
  name: journalStream(partition),
  purpose: "The journal: the truth about every run (J1).",
  subjects: [subjects.partition(partition)],
  retention: "limits",
  storage: "file", // T1
  discard: "new", // T1
  allowDirect: true,
  allowAtomicPublish: true,
  denyDelete: false, // finished runs are archived and purged (J10)
  denyPurge: false,
  maxAgeMs: 0,
  maxBytes: -1,
  maxMessageBytes: limits.recordBytes,
});

const consumerSpecs = (partition: number): ConsumerSpec[] =>
  (Object.keys(CONSUMER_TYPES) as ConsumerName[]).map((name) => {
    const [purpose, ackWaitMs, maxAckPending] = CONSUMER_PURPOSE[name];
    return {
      name,
      stream: journalStream(partition),
      purpose,
      filterSubjects: CONSUMER_TYPES[name].map((type) => subjects.partitionType(partition, type)),
      ackWaitMs,
      maxDeliver: -1,
      maxAckPending,
      keepsToOne: name === "director",
    };
  });

/** Accepted less closed is open: the server keeps both counts, purges included, so nobody has to read a run for it. */
const TALLIED: { readonly [T in TallyName]: JournalType } = {
  "tally-intent": "intent",
  "tally-closed": "closed",
};

const tallySpecs = (partition: number): ConsumerSpec[] =>
  (Object.keys(TALLIED) as TallyName[]).map((name) => ({
    name,
    stream: journalStream(partition),
    purpose: `Counts ${TALLIED[name]} records; nobody pulls from it.`,
    filterSubjects: [subjects.partitionType(partition, TALLIED[name])],
    ackWaitMs: limits.routerAckWaitMs,
    maxDeliver: -1,
    maxAckPending: 1,
    keepsToOne: false,
  }));

const timers: ConsumerSpec = {
  name: TIMER_CONSUMER,
  stream: TIMER_STREAM,
  purpose: "Times that have come, for a Director.",
  filterSubjects: [timerSubjects.dueAll],
  ackWaitMs: limits.directorAckWaitMs,
  maxDeliver: -1,
  maxAckPending: 1000,
  keepsToOne: false,
};

export const BUCKETS = {
  intents: "ANT_INTENTS",
  runs: "ANT_RUNS",
  contracts: "ANT_CONTRACTS",
  evidence: "ANT_EVIDENCE",
  policies: "ANT_POLICIES",
  keys: "ANT_KEYS",
  evidenceFiles: "ANT_EVIDENCE_FILES",
  repos: "ANT_REPOS",
  recordings: "ANT_RECORDINGS",
  budgets: "ANT_BUDGETS",
  archive: "ANT_ARCHIVE",
} as const;

export type Topology = {
  readonly streams: readonly StreamSpec[];
  readonly consumers: readonly ConsumerSpec[];
  readonly buckets: readonly BucketSpec[];
};

/** What a deployment with so many journal partitions has. */
export function topologyOf(partitions: number): Topology {
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  return {
    streams: [...all.map(journalSpec), ...sideStreams],
    consumers: [...all.flatMap(consumerSpecs), ...all.flatMap(tallySpecs), timers],
    buckets,
  };
}

const sideStreams: readonly StreamSpec[] = [
  {
    name: "ANT_DLQ",
    purpose: "Dead letters: what ended the processes that worked on it (J7).",
    subjects: [subjects.deadLettersAll],
    retention: "limits",
    storage: "file",
    discard: "new",
    allowDirect: true,
    allowAtomicPublish: false,
    denyDelete: false,
    denyPurge: false,
    maxAgeMs: 0,
    maxBytes: 256 * 1024 * 1024,
    maxMessageBytes: 4 * limits.messageBytes,
  },
  {
    name: "ANT_SESSIONS",
    purpose: "Sessions of Contracts v1.3: commands, their decisions, their events.",
    subjects: [subjects.sessionsAll],
    retention: "limits",
    storage: "file",
    discard: "new",
    allowDirect: true,
    allowAtomicPublish: false,
    denyDelete: false,
    denyPurge: false,
    maxAgeMs: limits.sessionKeepS * 1000,
    maxBytes: 32 * 1024 * 1024,
    maxMessageBytes: 2 * limits.messageBytes,
  },
  {
    name: TIMER_STREAM,
    purpose: "Timers: messages held back until their time, then due.",
    subjects: [timerSubjects.setAll, timerSubjects.dueAll],
    retention: "limits",
    storage: "file",
    discard: "old", // The server schedules nothing in a stream that refuses; without a bound none is dropped.
    allowDirect: true,
    allowAtomicPublish: false,
    allowSchedules: true,
    denyDelete: false,
    denyPurge: false,
    maxAgeMs: 0,
    maxBytes: -1,
    maxMessageBytes: limits.messageBytes,
  },
  {
    name: "ANT_LOG",
    purpose: "Live output of attempts: a picture, not a record.",
    subjects: [subjects.logsAll],
    retention: "limits",
    storage: "memory",
    discard: "old",
    allowDirect: true,
    allowAtomicPublish: false,
    denyDelete: false,
    denyPurge: false,
    maxAgeMs: limits.logMaxAgeS * 1000,
    maxBytes: limits.logMaxBytes,
    maxMessageBytes: 2 * limits.messageBytes,
  },
];

const buckets: readonly BucketSpec[] = [
  { name: BUCKETS.intents, kind: "kv", purpose: "Stored intents.", keys: "<intentId>", history: 1 },
  { name: BUCKETS.runs, kind: "kv", purpose: "RunViewModel, a projection.", keys: "<runId>", history: 1 },
  {
    name: BUCKETS.contracts,
    kind: "kv",
    purpose: "Router and task contracts, a projection.",
    keys: "<runId>.router, <runId>.<taskId>",
    history: 1,
  },
  {
    name: BUCKETS.evidence,
    kind: "kv",
    purpose: "Evidence manifests.",
    keys: "<runId>.<taskId>.<epoch>, <runId>.<taskId>.<epoch>.verdict",
    history: 1,
  },
  {
    name: BUCKETS.keys,
    kind: "kv",
    purpose: "Public keys of Directors.",
    keys: "<key thumbprint>",
    history: 1,
  },
  {
    name: BUCKETS.policies,
    kind: "kv",
    purpose: "PolicyConfig of the deployment.",
    keys: "config",
    history: 1,
  },
  {
    name: BUCKETS.evidenceFiles,
    kind: "object",
    purpose: "Logs, diffs, provenance, transcripts.",
    keys: "sha256-<base64url>",
    history: 1,
  },
  { name: BUCKETS.repos, kind: "object", purpose: "Base trees.", keys: "tree-<tree sha>.tar", history: 1 },
  {
    name: BUCKETS.recordings,
    kind: "object",
    purpose: "Recorded agent sessions.",
    keys: "<replayKey>.json",
    history: 1,
  },
  {
    name: BUCKETS.budgets,
    kind: "kv",
    purpose: "What the model calls of a run were charged; written by compare-and-set only.",
    keys: "<runId>",
    history: 1,
  },
  {
    name: BUCKETS.archive,
    kind: "object",
    purpose: "Packs: the records of finished runs, out of the journal.",
    keys: "sha256-<base64url>",
    history: 1,
  },
];

/** The topology of a deployment that does not say otherwise; what the reference and the snapshot list. */
export const topology: Topology = topologyOf(JOURNAL_PARTITIONS);

/** Keys of projections and evidence, so that writers and readers agree. Task ids keep their case in keys. */
export const keys = {
  routerContract: (runId: string): string => `${runId}.router`,
  taskContract: (runId: string, taskId: string): string => `${runId}.${taskId}`,
  evidence: (runId: string, taskId: string, epoch: number): string => `${runId}.${taskId}.${epoch}`,
  verdictEvidence: (runId: string, taskId: string, epoch: number): string =>
    `${runId}.${taskId}.${epoch}.verdict`,
  tree: (treeSha: string): string => `tree-${treeSha}.tar`,
  /** The PolicyConfig of the deployment. */
  policies: "config",
  recording: (replayKey: string): string => `${replayKey}.json`,
} as const;
