/** The actor runtime: services import from here, and NATS packages are imported nowhere else. */
export { backoffMs } from "./backoff.ts";
export type { BackoffPolicy } from "./backoff.ts";
export { openBlobs } from "./blobs.ts";
export type { BlobOptions, BlobSource, Blobs } from "./blobs.ts";
export { connectBus } from "./bus.ts";
export type { Bus, BusOptions } from "./bus.ts";
export { systemClock } from "./clock.ts";
export type { Clock } from "./clock.ts";
export { readRuntimeConfig } from "./config.ts";
export type { RuntimeConfig } from "./config.ts";
export { flush } from "./flush.ts";
export { nodeId, uniqueId } from "./ids.ts";
export { openJournal } from "./journal.ts";
export type { AppendOptions, AppendAfterResult, AppendResult, Journal, TailOptions } from "./journal.ts";
export { openJournalAudit } from "./journal-audit.ts";
export type { JournalAudit } from "./journal-audit.ts";
export { openKv } from "./kv.ts";
export type { Kv, KvEntry } from "./kv.ts";
export { openDeadLetters } from "./dead-letters.ts";
export type { DeadLetters, KeptLetter } from "./dead-letters.ts";
export { putBackLost } from "./lost-record.ts";
export type { LostRecord } from "./lost-record.ts";
export { allDone } from "./all-done.ts";
export { createLogger } from "./logger.ts";
export type { Logger } from "./logger.ts";
export { levelOf } from "./record-line.ts";
export { openMetrics, type Measure } from "./metrics.ts";
export type { Outcome } from "./outcome.ts";
export { provision } from "./provision.ts";
export { callRpc, listen, serveRpc, serveRpcStream, tell } from "./rpc.ts";
export { sandboxClient } from "./sandbox-client.ts";
export type { SandboxClient, SandboxRunOptions } from "./sandbox-client.ts";
export { associatesBacklog, countOpenRuns } from "./open-runs.ts";
export type { Backlog } from "./open-runs.ts";
export { progressOf } from "./progress.ts";
export type { Progress, ProgressOf } from "./progress.ts";
export { requeueing } from "./requeue.ts";
export { openRunArchive } from "./run-archive.ts";
export type { Tidied } from "./archive-tidy.ts";
export type { PackedRun, RunArchive } from "./run-archive.ts";
export { openRunRestore } from "./run-restore.ts";
export type { RestoredRun } from "./run-restore.ts";
export { sandboxSessions } from "./sandbox-sessions.ts";
export type {
  SandboxCommand,
  SandboxSession,
  SandboxSessionRequest,
  SandboxSessions,
  SessionFile,
} from "./sandbox-sessions.ts";
export { consumeTimers, openTimers } from "./timers.ts";
export type { Timers } from "./timers.ts";
export { runService, startService } from "./service.ts";
export type { Role, RunningService, ServiceContext, ServiceDefinition } from "./service.ts";
export { pinOwnKey } from "./own-key.ts";
export { pinnedTrust, unsafeTrust } from "./trust.ts";
export type { Trust } from "./trust.ts";
export { openSigningKey } from "./signing-key.ts";
export type { SigningKey } from "./signing-key.ts";
export { consume } from "./work.ts";
export type { ConsumeOptions, Consumption, Delivery } from "./work.ts";
