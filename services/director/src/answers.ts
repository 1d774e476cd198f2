/** Answers the requests of gateways and Associates: what a Director knows, and what it does for sessions and checks. */
import {
  AntiphonError,
  subjects,
  type RepoCheckEvent,
  type RepoCheckRequest,
  type RepoExportRequest,
  type RepoInspectRequest,
  type RunContractRequest,
  type RunRebuildRequest,
  type RunRestoreRequest,
  type SessionDeedEvent,
  type SessionDeedRequest,
} from "@antiphon/contracts";
import {
  listen,
  serveRpc,
  serveRpcStream,
  tell,
  uniqueId,
  type Bus,
  type Journal,
  type Logger,
  type RunRestore,
} from "@antiphon/runtime";
import { exportedAgain } from "./repositories/exported-again.ts";
import { contractOf } from "@antiphon/run";
import type { RepositoryPort } from "./ports.ts";
import type { Rebuilder } from "./upkeep/rebuilder.ts";
import type { RunCache } from "./runs/run-cache.ts";
import type { AdmissionQueue } from "./admission/admission-queue.ts";
import { SessionDeeds, type SessionDeedParts } from "./sessions/session-deeds.ts";
import { CHECK_TASK, RepoChecks } from "./verification/repo-checks.ts";
import type { VerificationPorts } from "./verification/verification.ts";

/** Serves commands of sessions; a stop of the Director ends them. */
export function answerDeeds(bus: Bus, log: Logger, parts: Omit<SessionDeedParts, "onCanceled">): void {
  const onCanceled = (deedId: string, canceled: () => void): (() => void) =>
    listen(bus, subjects.control(deedId), canceled);
  const deeds = new SessionDeeds({ ...parts, onCanceled });
  serveRpcStream<SessionDeedRequest, SessionDeedEvent>(
    bus,
    subjects.sessionDeed,
    "director",
    (request, emit) => deeds.answer(request, emit),
    { log },
  );
}

/** Serves the gateway's requests; any Director answers. */
export function answerQuestions(
  bus: Bus,
  parts: {
    repository: RepositoryPort;
    journal: Journal;
    rebuilder: Rebuilder;
    restores: RunRestore;
    runs: RunCache;
    admission: AdmissionQueue;
    log: Logger;
  },
): void {
  const { repository, journal, rebuilder, restores, runs, admission, log } = parts;
  // A queue group of its own: each Director answers for the attempts that it holds back.
  const held = async () => ({ held: admission.held() });
  serveRpc(bus, subjects.directorAdmission, `director-${uniqueId()}`, held, { log });
  const inspect = (request: RepoInspectRequest) => repository.inspect(request);
  const rebuild = ({ runId }: RunRebuildRequest) => rebuilder.rebuild(runId);
  serveRpc(bus, subjects.repoInspect, "director", inspect, { log });
  const again = async (request: RepoExportRequest) => ({
    objects: await exportedAgain(request, journal, repository),
  });
  serveRpc(bus, subjects.repoExport, "director", again, { log });
  const contract = async ({ runId, taskId }: RunContractRequest) => {
    const { records, snapshot } = await runs.load(runId);
    if (records.length === 0) throw new AntiphonError("ANT_RUN_NOT_FOUND", `there is no run ${runId}`);
    return { contract: contractOf(snapshot.context, taskId) };
  };
  serveRpc(bus, subjects.runContract, "director", contract, { log });
  serveRpc(bus, subjects.runRebuild, "director", rebuild, { log });
  const restore = ({ runId, by }: RunRestoreRequest) => restores.restore(runId, by);
  serveRpc(bus, subjects.runRestore, "director", restore, { log });
}

/** Serves checks without a run; a stop of the Director ends them. */
export function answerChecks(
  bus: Bus,
  { log, ...parts }: Pick<VerificationPorts, "repository" | "room"> & { signal: AbortSignal; log: Logger },
): void {
  const onCanceled = (checkId: string, canceled: () => void): (() => void) =>
    listen(bus, subjects.control(checkId), canceled);
  const say = (checkId: string, text: string): void =>
    tell(bus, subjects.log(checkId, CHECK_TASK, "progress"), { text, epoch: 1 });
  const checks = new RepoChecks({ ...parts, onCanceled, tell: say });
  serveRpcStream<RepoCheckRequest, RepoCheckEvent>(
    bus,
    subjects.repoCheck,
    "director",
    (request, emit) => checks.answer(request, emit),
    { log },
  );
}
