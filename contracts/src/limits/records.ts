/** Of records, documents and the stores that hold them. */
import { KiB, MiB, type Limit } from "./limit.ts";

export const records = {
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
    "an antiphon.yaml, which is read while other runs wait",
    "ANT_REPO_CONFIG_INVALID",
  ],
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
  storageAdmissionPercent: [80, "percent", "a full disk shuts JetStream down", "503, ANT_NATS_NO_SPACE"],
  storeDiskFreeBytes: [
    1024 * MiB,
    "bytes",
    "the least that the file system of the store of `antiphon dev` has free, because other programs fill it too",
    "503, ANT_NATS_NO_SPACE",
  ],
  rpcTimeoutMs: [10_000, "milliseconds", "a request to another service", "ANT_RPC_TIMEOUT"],
  foldedRecords: [150_000, "records", "of open runs that a gateway remembers folded", "a run is read again"],
  blobDeadlineMs: [60_000, "milliseconds", "one read or write of an object", "ANT_BLOB_DEADLINE"],
  logMaxAgeS: [3600, "seconds", "live output is for watching and is not a record", "dropped"],
  journalPartitions: [64, "streams", "each has its own directory, lock and consumers", "refused"],
  logMaxBytes: [64 * MiB, "bytes", "live output is for watching and is not a record", "oldest dropped"],
} as const satisfies Record<string, Limit>;
