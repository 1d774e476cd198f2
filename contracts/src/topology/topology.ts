/**
 * Streams, consumers and buckets as data. `runtime` provisions the server from this table; a snapshot test lists it.
 *
 * Because the journal is the only truth about a run, its stream is kept on disk, refuses new records when it is full, and
 * never drops an old record by itself (runtime/J7).
 */
import { typesFor, type JournalType } from "../journal/record.ts";
import { limits } from "../limits.ts";
import { JOURNAL_PARTITIONS, subjects } from "./subjects.ts";
import { timerSubjects } from "./timer.ts";

/**
 * Raised by each release that changes this table. It is stored on the server, so that a service of an older release
 * neither undoes what a newer one has changed nor waits for it to be undone.
 */
export const TOPOLOGY_VERSION = 1;

export type StreamSpec = {
  name: string;
  purpose: string;
  subjects: readonly string[];
  retention: "limits";
  storage: "file" | "memory";
  discard: "new" | "old";
  allowDirect: boolean;
  allowAtomicPublish: boolean;
  /** Messages may carry a delivery time and a time to live (ADR-51, ADR-43). */
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

/** Consumers without readers: the number of pending messages is the count. */
export type TallyName = "tally-intent" | "tally-closed";

export const TIMER_STREAM = "ANT_TIMERS";
export const TIMER_CONSUMER = "timers";

export type ConsumerSpec = {
  name: ConsumerName | TallyName | typeof TIMER_CONSUMER;
  stream: string;
  purpose: string;
  filterSubjects: readonly string[];
  ackWaitMs: number;
  /** -1: unlimited; the service counts deliveries and stops poison messages. */
  maxDeliver: number;
  maxAckPending: number;
  /**
   * True: sticky delivery, prefers one reader while it has a free slot, then the next (NATS priority groups, ADR-42). A
   * reader that remembers earlier records need not read them again. False: the first reader that asks gets the message.
   */
  keepsToOne: boolean;
};

/** The only priority group of a sticky consumer. */
export const READERS = "readers";

export type BucketSpec = {
  name: string;
  kind: "kv" | "object";
  purpose: string;
  keys: string;
  history: number;
  /**
   * True: a message may remove others, which stock tools do to delete an object (header `Nats-Rollup`). Never true where
   * other services than Directors write, because whoever may write one name could remove them all.
   */
  rollups: boolean;
  /** Absent: what is in it stays until it is removed. */
  maxAgeMs?: number;
};

/** A Director continues after its own records by itself. It reads `intent` and `claim` to learn what they led to. */
export const CONSUMER_TYPES: { readonly [C in ConsumerName]: readonly JournalType[] } = {
  router: typesFor("router"),
  director: typesFor("director"),
  associate: typesFor("associate"),
};

const CONSUMER_PURPOSE: { readonly [C in ConsumerName]: readonly [string, number, number] } = {
  router: ["Intents to route.", limits.routerAckWaitMs, 1000],
  director: ["Everything that can move a run on.", limits.directorAckWaitMs, 1000],
  associate: ["Attempts to work on.", limits.associateAckWaitMs, 10_000],
};

export const journalStream = (partition: number): string => `ANT_JOURNAL_${partition}`;

const journalSpec = (partition: number): StreamSpec => ({
  name: journalStream(partition),
  purpose: "The journal: the truth about every run.",
  subjects: [subjects.partition(partition)],
  retention: "limits",
  storage: "file", // runtime/J7
  discard: "new", // runtime/J7
  allowDirect: true,
  allowAtomicPublish: true,
  denyDelete: false, // because finished runs are archived and purged
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

/** Accepted minus closed runs are open. The server keeps both counts, also across purges, so no run has to be read. */
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
  compiled: "ANT_COMPILED",
  budgets: "ANT_BUDGETS",
  checkpoints: "ANT_CHECKPOINTS",
  archive: "ANT_ARCHIVE",
  environments: "ANT_ENVIRONMENTS",
  layers: "ANT_LAYERS",
  notices: "ANT_NOTICES",
} as const;

export type Topology = {
  readonly streams: readonly StreamSpec[];
  readonly consumers: readonly ConsumerSpec[];
  readonly buckets: readonly BucketSpec[];
};

/** The topology of a deployment with this many journal partitions. */
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
    purpose: "Dead letters: messages that probably crash their consumers.",
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
    discard: "old", // The server does not schedule in a stream with `new`; without a size limit no message is dropped.
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
  {
    name: BUCKETS.intents,
    kind: "kv",
    purpose: "Stored intents.",
    keys: "<intentId>",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.runs,
    kind: "kv",
    purpose: "RunViewModel, a projection.",
    keys: "<runId>",
    history: 1,
    rollups: true,
  },
  {
    name: BUCKETS.contracts,
    kind: "kv",
    purpose: "Router and task contracts, a projection.",
    keys: "<runId>.router, <runId>.<taskId>",
    history: 1,
    rollups: true,
  },
  {
    name: BUCKETS.evidence,
    kind: "kv",
    purpose: "Evidence manifests.",
    keys: "<runId>.<taskId>.<epoch>, <runId>.<taskId>.<epoch>.verdict",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.keys,
    kind: "kv",
    purpose: "Public keys of Directors.",
    keys: "<key thumbprint>",
    history: 1,
    rollups: true,
  },
  {
    name: BUCKETS.policies,
    kind: "kv",
    purpose: "PolicyConfig of the deployment.",
    keys: "config",
    history: 1,
    rollups: true,
  },
  {
    name: BUCKETS.evidenceFiles,
    kind: "object",
    purpose: "Logs, diffs, provenance, transcripts.",
    keys: "sha256-<base64url>",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.repos,
    kind: "object",
    purpose: "Base trees.",
    keys: "tree-<tree sha>.tar",
    history: 1,
    rollups: true,
  },
  {
    name: BUCKETS.recordings,
    kind: "object",
    purpose: "Recorded agent sessions.",
    keys: "<replayKey>.json",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.compiled,
    kind: "kv",
    purpose: "The attempt that answered a request of an agent that compiles; its evidence has the session.",
    keys: "<replayKey>",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.budgets,
    kind: "kv",
    purpose:
      "What the model calls of a run were charged, written by compare-and-set only; and of each attempt the recordings of its calls and its newest checkpoint, for the attempt after a lost one.",
    keys: "<runId>, <runId>.<taskId>.<epoch>, <runId>.<taskId>.kept-<epoch>",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.checkpoints,
    kind: "object",
    purpose:
      "Conversations and files of attempts under way, which the attempt after a lost one goes on from.",
    keys: "sha256-<base64url>",
    history: 1,
    rollups: false,
    maxAgeMs: limits.checkpointKeepS * 1000,
  },
  {
    name: BUCKETS.archive,
    kind: "object",
    purpose: "Packs: the records of finished runs, out of the journal.",
    keys: "sha256-<base64url>",
    history: 1,
    rollups: true,
  },
  {
    name: BUCKETS.environments,
    kind: "kv",
    purpose: "Prepared environments: being made, ready, or failed; written by compare-and-set only.",
    keys: "<environment key>",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.layers,
    kind: "object",
    purpose: "What prepared environments hold: tars with `workspace/` and `home/`.",
    keys: "env-<sha256>.tar",
    history: 1,
    rollups: false,
  },
  {
    name: BUCKETS.notices,
    kind: "kv",
    purpose: "How far another system was told, and which gateway tells it; written by compare-and-set only.",
    keys: "told",
    history: 1,
    rollups: false,
  },
];

/** The topology with the default number of partitions, used by the reference and the snapshot. */
export const topology: Topology = topologyOf(JOURNAL_PARTITIONS);

/** Keys of projections and evidence, shared by writers and readers. Task ids keep their case in keys. */
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
