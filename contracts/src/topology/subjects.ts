/**
 * The subject map: `antiphon.v1.<plane>.<low cardinality first>.<ids last>`, lower case, never user text.
 *
 * Because a subject is both the register and the address of a record, it is a function of (type, run, task, epoch) alone,
 * parses back to these (with the task id in lower case), and is refused if an id could widen or split it (runtime/J1).
 */
import { AntiphonError } from "../errors.ts";
import { JOURNAL_TYPES, type JournalType, type StoredRecord } from "../journal/record.ts";

/**
 * Default number of journal partitions. One is enough for a laptop and for thousands of runs a second. The number is
 * fixed when the journal is created and is read back from the server.
 */
export const JOURNAL_PARTITIONS = 1;

const ROOT = "antiphon.v1";
const TOKEN = /^[a-z0-9][a-z0-9_-]{0,127}$/;

export function safeToken(value: string): string {
  // runtime/J1: a wildcard or a dot in an id would address other runs.
  if (!TOKEN.test(value)) {
    throw new AntiphonError("ANT_CONTRACT_INVALID", `not usable in a subject: ${JSON.stringify(value)}`);
  }
  return value;
}

const token = safeToken;

export const taskToken = (taskId: string | null): string =>
  taskId === null ? "-" : token(taskId.toLowerCase());

/** FNV-1a, 32 bits, of an id. Stable across processes and versions. Ids are ASCII, so a character is a byte. */
export function fnv1a(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

export function partitionOf(runId: string, partitions: number = JOURNAL_PARTITIONS): number {
  return partitions === 1 ? 0 : fnv1a(runId) % partitions;
}

export type JournalAddress = { type: JournalType; runId: string; taskId: string | null; epoch: number };

export type LogStream = "stdout" | "stderr" | "progress";

export const subjects = {
  /** The register of a record in a journal with this many partitions (runtime/J1). */
  journal({ type, runId, taskId, epoch }: JournalAddress, partitions: number = JOURNAL_PARTITIONS): string {
    if (!Number.isSafeInteger(epoch) || epoch < 0) {
      throw new AntiphonError("ANT_CONTRACT_INVALID", `not an epoch: ${String(epoch)}`);
    }
    return `${ROOT}.run.${partitionOf(runId, partitions)}.${token(type)}.${token(runId)}.${taskToken(taskId)}.${epoch}`;
  },
  /** All records of one run, in any partition. */
  run: (runId: string): string => `${ROOT}.run.*.*.${token(runId)}.>`,
  /** All records of one run, as a filter within its own partition's stream. */
  runInPartition: (runId: string, partitions: number = JOURNAL_PARTITIONS): string =>
    `${ROOT}.run.${partitionOf(runId, partitions)}.*.${token(runId)}.>`,
  /** All records of one type of one run, as a filter within its own partition's stream. */
  runTypeInPartition: (runId: string, type: JournalType, partitions: number = JOURNAL_PARTITIONS): string =>
    `${ROOT}.run.${partitionOf(runId, partitions)}.${token(type)}.${token(runId)}.>`,
  /** All records of one type of one run. */
  runType: (runId: string, type: JournalType): string => `${ROOT}.run.*.${token(type)}.${token(runId)}.>`,
  /** All records of a partition. */
  partition: (partition: number): string => `${ROOT}.run.${partition}.>`,
  /** All records of one type in a partition. */
  partitionType: (partition: number, type: JournalType): string =>
    `${ROOT}.run.${partition}.${token(type)}.>`,
  /** Hints to the services that work on a run. */
  control: (runId: string): string => `${ROOT}.ctl.${token(runId)}`,
  controlAll: `${ROOT}.ctl.*`,
  /** Live output. */
  log: (runId: string, taskId: string | null, stream: LogStream): string =>
    `${ROOT}.log.${token(runId)}.${taskToken(taskId)}.${stream}`,
  logsOfRun: (runId: string): string => `${ROOT}.log.${token(runId)}.>`,
  logsAll: `${ROOT}.log.>`,
  /** Dead letters of a consumer. */
  deadLetter: (consumer: string, address: JournalAddress): string =>
    `${ROOT}.dlq.${token(consumer)}.${token(address.type)}.${token(address.runId)}.${taskToken(address.taskId)}.${address.epoch}`,
  /** Register `n` of a session; 0 is its configuration. */
  session: (sessionId: string, n: number): string => `${ROOT}.session.${token(sessionId)}.${n}`,
  /** The configurations of all sessions. */
  sessionsOpened: `${ROOT}.session.*.0`,
  sessionAll: (sessionId: string): string => `${ROOT}.session.${token(sessionId)}.*`,
  /** Turn `n` at carrying out a command of a session; `command` is a token made from the command's id. */
  sessionClaim: (sessionId: string, command: string, n: number): string =>
    `${ROOT}.session.${token(sessionId)}.claim.${token(command)}.${n}`,
  sessionClaims: (sessionId: string, command: string): string =>
    `${ROOT}.session.${token(sessionId)}.claim.${token(command)}.*`,
  sessionsAll: `${ROOT}.session.>`,
  deadLettersAll: `${ROOT}.dlq.>`,
  repoExport: `${ROOT}.rpc.repo.export`,
  repoInspect: `${ROOT}.rpc.repo.inspect`,
  directorAdmission: `${ROOT}.rpc.director.admission`,
  connectorsRead: `${ROOT}.rpc.connectors.read`,
  repoCheck: `${ROOT}.rpc.repo.check`,
  sessionDeed: `${ROOT}.rpc.session.deed`,
  attemptReplay: `${ROOT}.rpc.attempt.replay`,
  /** To the Associate process of this incarnation: is it working on an attempt? */
  attemptHolder: (incarnation: string): string => `${ROOT}.rpc.attempt.held.${token(incarnation)}`,
  runContract: `${ROOT}.rpc.run.contract`,
  runRebuild: `${ROOT}.rpc.run.rebuild`,
  runRestore: `${ROOT}.rpc.run.restore`,
  sandboxRun: `${ROOT}.rpc.sandbox.run`,
  sandboxImages: `${ROOT}.rpc.sandbox.images`,
  /** Requester to runner during a job: alive, cancel. */
  sandboxJob: (jobId: string): string => `${ROOT}.rpc.sandbox.job.${token(jobId)}`,
  egressOpen: `${ROOT}.rpc.egress.open`,
  egressModels: `${ROOT}.rpc.egress.models`,
  /** Runner to the gateway process that holds the lease. */
  egressClose: (node: string): string => `${ROOT}.rpc.egress.close.${token(node)}`,
  everything: `${ROOT}.>`,
} as const;

const isJournalType = (value: string): value is JournalType =>
  (JOURNAL_TYPES as readonly string[]).includes(value);

/** The address of a journal subject, or null if it is not one. The task id is lower-case (runtime/J1). */
export function parseJournalSubject(subject: string): (JournalAddress & { partition: number }) | null {
  const parts = subject.split(".");
  const [, , plane, partition, type, runId, task, epoch] = parts;
  if (parts.length !== 8 || !subject.startsWith(`${ROOT}.`) || plane !== "run") return null;
  if (!partition || !/^\d+$/.test(partition) || !type || !isJournalType(type)) return null;
  if (!runId || !TOKEN.test(runId) || !task || (task !== "-" && !TOKEN.test(task))) return null;
  if (!epoch || !/^\d+$/.test(epoch)) return null;
  return {
    partition: Number(partition),
    type,
    runId,
    taskId: task === "-" ? null : task,
    epoch: Number(epoch),
  };
}
/** Whether it would be a journal subject if a newer version had a record type of this name. */
export function isNewerJournalSubject(subject: string): boolean {
  const parts = subject.split(".");
  const type = parts[4] ?? "";
  if (isJournalType(type) || !TOKEN.test(type)) return false;
  return parseJournalSubject(parts.with(4, JOURNAL_TYPES[0] ?? "").join(".")) !== null;
}

/** Whether a record belongs at its subject's address. */
export function isRecordAt(record: StoredRecord, address: JournalAddress): boolean {
  return (
    record.v === 1 &&
    record.type === address.type &&
    record.runId === address.runId &&
    (record.taskId?.toLowerCase() ?? null) === address.taskId &&
    record.epoch === address.epoch
  );
}
