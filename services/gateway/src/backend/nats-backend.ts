// The gateway's backend over the runtime's bus. Every call has a deadline, after which it fails with
// ANT_NATS_UNREACHABLE; a long run is read part by part, each with that deadline.
import { AntiphonError, BUCKETS, canonicalJson, keys, subjects, validate } from "@antiphon/contracts";
import type {
  DirectorKey,
  ImagesReply,
  ImagesRequest,
  ModelsReply,
  ModelsRequest,
  LogLine,
  RebuiltRun,
  RepoInspectReply,
  RepoInspectRequest,
  RunContractReply,
  RunRestoreReply,
  StoredRecord,
} from "@antiphon/contracts";
import {
  callRpc,
  countOpenRuns,
  listen,
  openBlobs,
  openDeadLetters,
  openJournal,
  openJournalAudit,
  openRunOrder,
  openKv,
  tell,
} from "@antiphon/runtime";
import type { Bus, Logger } from "@antiphon/runtime";
import { askForReplay } from "./attempt-replay.ts";
import { askForCheck } from "./repo-check.ts";
import { askForDeed } from "./session-deed.ts";
import type { Backend, LiveOutput } from "../ports.ts";
import { DEADLINE_MS, soon } from "../http/deadline.ts";
import { operationsBackend } from "./operations-backend.ts";
import { OpenRunsWatch } from "./open-runs-watch.ts";
import { StorageWatch } from "./storage-watch.ts";

const INSPECT_MS = 15_000; // A large repository takes git a while.
const MODELS_MS = 20_000; // A host that is tried has 15 s to answer.
const IMAGES_MS = 20_000; // Allowing an image starts a sandbox from it.
const RESTORE_MS = 25_000; // A run of thousands of records takes a while; a repeated request continues it.
const REBUILD_MS = 25_000; // The Director may have to wait for a landing.
const CONTRACT_MS = 10_000; // The Director may have to read a pack.

export interface Admission {
  readonly maxOpenRuns: number;
  /** Repositories are accepted only below the directories that the deployment names. */
  readonly confined?: boolean;
  /** Directory of the server's store. Absent or null: it is on another machine. */
  readonly storeDir?: string | null;
}

export function natsBackend(bus: Bus, log: Logger, admission: Admission): Backend {
  const journal = openJournal(bus, { log });
  const intents = openKv(bus, BUCKETS.intents);
  const manifests = openKv(bus, BUCKETS.evidence);
  const contracts = openKv(bus, BUCKETS.contracts);
  const views = openKv(bus, BUCKETS.runs);
  const files = openBlobs(bus, BUCKETS.evidenceFiles);
  const directors = openKv(bus, BUCKETS.keys);
  const recordings = openBlobs(bus, BUCKETS.recordings);
  const letters = openDeadLetters(bus);
  const openRuns = new OpenRunsWatch(() => soon(countOpenRuns(bus)), admission.maxOpenRuns);
  const storage = new StorageWatch(bus, admission.storeDir);
  const order = openRunOrder(bus);

  async function document<T>(kv: typeof intents, key: string): Promise<T | null> {
    return (await soon(kv.get<T>(key)))?.value ?? null;
  }

  return {
    get connected() {
      return bus.connected;
    },
    admitRun: () => openRuns.admit(), // The deadline is on the count inside: a place taken after it would never be released.
    createIntent: (intentId, content) => soon(intents.create(intentId, content)),
    intent: (intentId) => document(intents, intentId),
    append(record, traceparent) {
      const signal = AbortSignal.timeout(DEADLINE_MS);
      return journal.append(record, traceparent === undefined ? { signal } : { signal, traceparent });
    },
    appendIfUnmoved: (record, after) =>
      journal.appendIfUnmoved(record, after, { signal: AbortSignal.timeout(DEADLINE_MS) }),
    read: (runId) => joined(journal.parts(runId)),
    next: (runId, fromSeq) => soon(journal.next(runId, fromSeq)),
    intentRecord: (runId) => soon(journal.find("intent", runId, null, 0)),
    tail: (runId, fromSeq, signal) => journal.tail(runId, { fromSeq, signal }),
    runPage: (limit, cursor) => soon(order.page(limit, cursor)),
    partitions: bus.partitions,
    async restore(runId, principal) {
      const request = { runId, by: principal };
      const { ok: _ok, ...restored } = await askDirector<Extract<RunRestoreReply, { ok: true }>>(
        ...([bus, subjects.runRestore, request, RESTORE_MS] as const),
      );
      return restored;
    },
    async rebuild(runId) {
      const asked = askDirector<RebuiltRun>(bus, subjects.runRebuild, { runId }, REBUILD_MS);
      const { ok: _ok, ...rebuilt } = await asked;
      return rebuilt;
    },
    audit: openJournalAudit(bus),
    viewedRuns: () => views.keys(),
    storedView: async (runId) => (await soon(views.get(runId)))?.value ?? null,
    inspect: (request: RepoInspectRequest) =>
      askDirector<Extract<RepoInspectReply, { ok: true }>>(
        bus,
        subjects.repoInspect,
        admission.confined === true ? { ...request, confined: true } : request,
        INSPECT_MS,
      ),
    connectors: (request) => askDirector(bus, subjects.connectorsRead, request, INSPECT_MS),
    check: (request, signal) => askForCheck(bus, request, signal),
    deed: (request, signal) => askForDeed(bus, request, signal),
    replay: (request, signal) => askForReplay(bus, request, signal),
    hintCancel: (runId) => tell(bus, subjects.control(runId), { kind: "cancel" }),
    hintMessage: (runId) => tell(bus, subjects.control(runId), { kind: "message" }),
    onOutput: (runId, hear) =>
      listen<LogLine>(bus, subjects.logsOfRun(runId), (line, subject) => {
        if (typeof line.text === "string") hear(output(line, subject));
      }),
    manifest: (key) => document(manifests, key),
    taskContract: (runId, taskId) => document(contracts, keys.taskContract(runId, taskId)),
    routerContract: (runId) => document(contracts, keys.routerContract(runId)),
    async madeContract(runId, taskId) {
      type Made = Extract<RunContractReply, { ok: true }>;
      const { contract } = await askDirector<Made>(bus, subjects.runContract, { runId, taskId }, CONTRACT_MS);
      return contract;
    },
    file: (blob) => files.get(blob, { deadlineMs: 20_000 }),
    directorKeys: async () => bus.trust.keys()?.slice() ?? (await soon(publishedKeys(directors))),
    async storeRecording(name, content) {
      await recordings.put(name, Buffer.from(canonicalJson(content)), { deadlineMs: DEADLINE_MS });
    },
    images: (request) => images(bus, request),
    models: (request) => models(bus, request),
    deadLetters: (after, limit) => soon(letters.list(after, limit)),
    deadLetter: (id) => soon(letters.get(id)),
    removeDeadLetter: (letter) => soon(letters.remove(letter)),
    ...operationsBackend(bus, storage),
  };
}

/** The keys that Directors have published themselves, for a deployment that pins none. */
async function publishedKeys(directors: ReturnType<typeof openKv>): Promise<DirectorKey[]> {
  const found = await Promise.all(
    (await directors.keys()).map(async (kid) => (await directors.get(kid))?.value),
  );
  return found.filter((key): key is DirectorKey => validate("DirectorKey", key).ok);
}

/** A Director may be slow, with git or a long run, so it has its own deadline; a lost connection ends the call at once. */
async function askDirector<Reply extends object>(
  bus: Bus,
  subject: string,
  request: object,
  timeoutMs: number,
): Promise<Reply & { ok: true }> {
  let stopListening = (): void => undefined;
  const lost = new Promise<never>((_, reject) => {
    stopListening = bus.onConnectivity((up) => {
      if (!up) reject(new AntiphonError("ANT_NATS_UNREACHABLE", "NATS went away while a Director was asked"));
    });
  });
  try {
    return await Promise.race([callRpc<Reply>(bus, subject, request, { timeoutMs }), lost]);
  } catch (error) {
    if (!(error instanceof AntiphonError) || error.code !== "ANT_RPC_TIMEOUT") throw error;
    throw new AntiphonError("ANT_DIRECTOR_UNAVAILABLE", `no Director answered ${subject}`, { cause: error });
  } finally {
    stopListening();
  }
}

async function images(bus: Bus, request: ImagesRequest): Promise<Extract<ImagesReply, { ok: true }>> {
  try {
    return await callRpc<Extract<ImagesReply, { ok: true }>>(bus, subjects.sandboxImages, request, {
      timeoutMs: IMAGES_MS,
    });
  } catch (error) {
    if (!(error instanceof AntiphonError) || error.code !== "ANT_RPC_TIMEOUT") throw error;
    throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no sandbox-runner answered", { cause: error });
  }
}

async function models(bus: Bus, request: ModelsRequest): Promise<Extract<ModelsReply, { ok: true }>> {
  try {
    return await callRpc<Extract<ModelsReply, { ok: true }>>(bus, subjects.egressModels, request, {
      timeoutMs: MODELS_MS,
    });
  } catch (error) {
    if (!(error instanceof AntiphonError) || error.code !== "ANT_RPC_TIMEOUT") throw error;
    throw new AntiphonError("ANT_EGRESS_UNAVAILABLE", "no egress gateway answered", { cause: error });
  }
}

/** `antiphon.v1.log.<runId>.<task>.<stream>` */
function output({ text, epoch }: LogLine, subject: string): LiveOutput {
  const [, , , , task = "-", stream = ""] = subject.split(".");
  return { taskId: task === "-" ? null : task.toUpperCase(), stream, epoch, text };
}

/** All records of the parts; each part has the deadline. */
async function joined(parts: AsyncIterable<readonly StoredRecord[]>): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  const next = parts[Symbol.asyncIterator]();
  for (let part = await soon(next.next()); part.done !== true; part = await soon(next.next()))
    for (const record of part.value) records.push(record);
  return records;
}
