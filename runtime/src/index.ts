/** The actor runtime that services import. NATS packages are imported only in this package. */
export { backoffMs } from "./process/backoff.ts";
export { UntilEnd } from "./process/until-end.ts";
export type { BackoffPolicy } from "./process/backoff.ts";
export { openBlobs } from "./stores/blobs.ts";
export { keepWithin } from "./stores/blob-bound.ts";
export { removeUnfinishedUntil, UploadNotes } from "./stores/upload-notes.ts";
export type { BlobOptions, BlobSource, Blobs } from "./stores/blobs.ts";
export { connectBus } from "./nats/bus.ts";
export type { Bus, BusOptions } from "./nats/bus.ts";
export { onAbort } from "./process/abort-listeners.ts";
export { withDeadline } from "./process/with-deadline.ts";
export { systemClock } from "./process/clock.ts";
export { SharedInterval } from "./process/shared-interval.ts";
export type { Clock } from "./process/clock.ts";
export { readRuntimeConfig } from "./process/config.ts";
export type { RuntimeConfig } from "./process/config.ts";
export type { SpanWords, Tracer } from "./tracing/tracer.ts";
export { silentTracer } from "./tracing/tracer.ts";
export { flush } from "@antiphon/git/disk/flush";
export { nodeId, uniqueId } from "./process/ids.ts";
export { ownLabel, ownerState } from "./process/process-owner.ts";
export type { OwnerState } from "./process/process-owner.ts";
export { openJournal } from "./journal/jetstream-journal.ts";
export type {
  AppendOptions,
  AppendIfUnmovedResult,
  AppendResult,
  Journal,
  TailOptions,
} from "./journal/journal.ts";
export { tail } from "./journal/journal-tail.ts";
export { openRunNews, type NewsPlaces, type RunNews } from "./journal/run-news.ts";
export { openRunOrder } from "./journal/run-order.ts";
export type { RunOrder } from "./journal/run-order.ts";
export type { RunCursor, RunPage } from "./journal/run-page.ts";
export { openJournalAudit } from "./journal/journal-audit.ts";
export type { JournalAudit } from "./journal/journal-audit.ts";
export { openKv } from "./stores/kv.ts";
export type { Kv, KvEntry } from "./stores/kv.ts";
export { openDeadLetters } from "./work/dead-letters.ts";
export type { DeadLetters, KeptLetter } from "./work/dead-letters.ts";
export { putBackLost } from "./journal/lost-record.ts";
export type { LostRecord } from "./journal/lost-record.ts";
export { allDone } from "./process/all-done.ts";
export { createLogger } from "./process/logger.ts";
export type { Logger } from "./process/logger.ts";
export { levelOf } from "./journal/record-line.ts";
export { openMetrics } from "./service/metrics.ts";
export { measureBus } from "./service/bus-metrics.ts";
export { VERSION } from "./service/version.ts";
export { readingsBy, silentMeter } from "./service/meter.ts";
export type { Meter } from "./service/meter.ts";
export { metered } from "./work/metered-handler.ts";
export { measureQueues } from "./work/queue-metrics.ts";
export type { Outcome } from "./work/outcome.ts";
export { provision } from "./topology/provision.ts";
export { askAll, callRpc, listen, serveRpc, serveRpcStream, tell } from "./rpc/rpc.ts";
export { attend, probe, type Presence } from "./rpc/presence.ts";
export { ackWaitOf } from "./work/ack-wait.ts";
export { converse, type Conversation } from "./rpc/rpc-conversation.ts";
export { JobAnswers } from "./sandbox/job-answers.ts";
export { JobMessages } from "./sandbox/job-messages.ts";
export { sandboxClient } from "./sandbox/sandbox-client.ts";
export type { SandboxClient, SandboxRunOptions } from "./sandbox/sandbox-client.ts";
export { associatesBacklog, countOpenRuns } from "./work/open-runs.ts";
export type { Backlog } from "./work/open-runs.ts";
export { progressOf } from "./work/progress.ts";
export type { Progress, ProgressOf } from "./work/progress.ts";
export { requeueing } from "./work/requeue.ts";
export { openRunArchive } from "./archive/run-archive.ts";
export type { Tidied } from "./archive/archive-tidy.ts";
export type { PackedRun, RunArchive } from "./archive/run-archive.ts";
export { readNatsUser, type NatsUser } from "./nats/nats-user.ts";
export { consumerCounts, countDeadLetters, type ConsumerCounts } from "./work/consumer-counts.ts";
export { rollCall } from "./nats/roll-call.ts";
export { openRunRestore } from "./archive/run-restore.ts";
export type { RestoredRun, RunRestore } from "./archive/run-restore.ts";
export { sandboxSessions } from "./sandbox/sandbox-sessions.ts";
export type {
  SandboxCommand,
  SandboxSession,
  SandboxSessionRequest,
  SandboxSessions,
  SessionFile,
} from "./sandbox/sandbox-sessions.ts";
export { consumeTimers, openTimers } from "./work/timers.ts";
export type { Timers } from "./work/timers.ts";
export { runService, startService } from "./service/service-life.ts";
export type { Role, RunningService, ServiceContext, ServiceDefinition } from "./service/service-life.ts";
export { pinOwnKey } from "./journal/own-key.ts";
export { pinnedTrust, unsafeTrust } from "./journal/trust.ts";
export type { Trust } from "./journal/trust.ts";
export { openSigningKey, signOutcome } from "./process/signing-key.ts";
export { OutcomeTrust, pinRunnerKey } from "./sandbox/outcome-trust.ts";
export type { SigningKey } from "./process/signing-key.ts";
export { consume } from "./work/work.ts";
export type { ConsumeOptions, Consumption, Delivery } from "./work/work.ts";
