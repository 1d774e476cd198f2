/** Wires the Director's parts over the bus. */
import { join } from "node:path";
import {
  AntiphonError,
  BUCKETS,
  subjects,
  type ConnectorsRequest,
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
  allDone,
  associatesBacklog,
  consume,
  consumeTimers,
  listen,
  metered,
  openBlobs,
  openDeadLetters,
  openJournal,
  openJournalAudit,
  openKv,
  openRunArchive,
  removeUnfinishedUntil,
  openRunRestore,
  openSigningKey,
  openTimers,
  OutcomeTrust,
  pinOwnKey,
  progressOf,
  putBackLost,
  requeueing,
  sandboxClient,
  readingsBy,
  serveRpc,
  serveRpcStream,
  silentMeter,
  systemClock,
  tell,
  uniqueId,
  type Bus,
  type Consumption,
  type Journal,
  type Logger,
  type Meter,
  type Role,
  type RunRestore,
  type ServiceContext,
  type SigningKey,
} from "@antiphon/runtime";
import { startLauncher, sweepScratch } from "@antiphon/git";
import { EnvironmentPreparation } from "./environments/preparation.ts";
import { EnvironmentSpecs } from "./environments/environment-specs.ts";
import { BaseTrials } from "./verification/base-trials.ts";
import { CleanRoom } from "./verification/clean-room.ts";
import { PoisonLetters } from "./effects/poison-letters.ts";
import { RemoteRepositories } from "./repositories/remote-repositories.ts";
import { Connectors } from "./connectors/connectors.ts";
import { MaterialRepository } from "./connectors/material-repository.ts";
import { exportedAgain } from "./repositories/exported-again.ts";
import { Repositories } from "./repositories/repositories.ts";
import { VerdictEvidence } from "./verification/verdict-evidence.ts";
import { archiveForever } from "./upkeep/archiver.ts";
import type { DirectorConfig } from "./config.ts";
import { contractOf } from "@antiphon/run";
import { Director, type DirectorParts } from "./scheduling/director.ts";
import { EffectRunner } from "./effects/effect-runner.ts";
import { performOver } from "./effects/effect-table.ts";
import type { RepositoryPort } from "./ports.ts";
import { Projector } from "./views/projector.ts";
import { Rebuilder } from "./upkeep/rebuilder.ts";
import { WakeableLoop } from "./scheduling/wakeable-loop.ts";
import { RaceWatch } from "./landing/race-watch.ts";
import { RunCache } from "./runs/run-cache.ts";
import { RunMeter } from "./runs/run-meter.ts";
import { openRunTracing } from "./runs/run-tracing.ts";
import { timedRoom } from "./verification/timed-room.ts";
import { StoreRoom } from "./upkeep/store-room.ts";
import { sweepForever } from "./upkeep/sweeper.ts";
import { TimerScheduler } from "./timers/timer-scheduler.ts";
import { AdmissionQueue } from "./admission/admission-queue.ts";
import { SessionDeeds, type SessionDeedParts } from "./sessions/session-deeds.ts";
import { openAdapters } from "./work-items/open-work-items.ts";
import { SessionRepository } from "./sessions/session-repository.ts";
import { RepoChecks } from "./verification/repo-checks.ts";
import type { VerificationPorts } from "./verification/verification.ts";

export async function startDirector(context: ServiceContext, config: DirectorConfig): Promise<Role> {
  const { bus, node } = context;
  await sweepScratch(new Date());
  await startLauncher().catch((error: unknown) => {
    context.log.warn({ err: error }, "each git process is a copy of this one first, which takes longer");
  });
  const key = openSigningKey(config.keyFile);
  await trustOwnKey(context, config, key);
  await openKv(bus, BUCKETS.keys).put(key.jwk.kid, key.jwk);
  const signer = {
    publicKey: Buffer.from(key.jwk.x, "base64url"),
    sign: (bytes: Uint8Array) => key.sign(bytes),
  };
  const files = openBlobs(bus, BUCKETS.evidenceFiles, { mayPurge: true });
  const trust = trustedRunners(context, config);
  const trees = openBlobs(bus, BUCKETS.repos, { mayPurge: true });
  const remotes = new RemoteRepositories(config.remotes, trees);
  const material = new MaterialRepository(join(config.remotes.directory, "connectors.git"), trees);
  const served = { roots: config.repoRoots, remotes, material };
  const stored = {
    bus,
    journal: openJournal(bus, { log: context.log, key }),
    clock: systemClock,
    log: context.log,
  };
  const room = new StoreRoom({ ...stored, maxBytes: config.repoStoreBytes });
  const repository = new Repositories(trees, served, signer, context.log, {
    within: (bytes, store) => room.within(bytes, store),
    steps: config.baseSteps,
  });
  const sandbox = sandboxClient(bus, { requester: node, ...(trust === null ? {} : { trust }) });
  const specs = new EnvironmentSpecs(repository, files);
  const preparation = new EnvironmentPreparation(sandbox);
  const ports: VerificationPorts = {
    repository,
    room: new CleanRoom(sandbox, files, specs),
    environments: {
      specFor: (setup, tree, candidate) => specs.specFor(setup, tree, candidate),
      prepare: (order, signal) => preparation.prepare(order, signal),
    },
    evidence: new VerdictEvidence(openKv(bus, BUCKETS.evidence), files, node),
  };
  const meter = context.metrics ?? silentMeter;
  if (trust !== null)
    meter.read("antiphon_forged_outcomes_total", () => readingsBy("state", { refused: trust.forged }));
  const role = directOver({ ...context, meter }, config, ports, key);
  const stop = new AbortController();
  const keeping = room.keepUntil(stop.signal);
  const branches = new SessionRepository(repository, remotes, signer);
  const adapters = openAdapters(config.workItems, (repo) => branches.servedAt(repo));
  const connectors = new Connectors({
    ...{ ...adapters, material, projects: config.briefProjects, now: () => new Date() },
    // A repository by URL need not be fetched for its issues.
    async requireServed(repo) {
      if (remotes.urlOf(repo) === null) await repository.open(repo);
    },
  });
  const read = (request: ConnectorsRequest) => connectors.answer(request);
  serveRpc(bus, subjects.connectorsRead, "director", read, { log: context.log });
  answerDeeds(bus, context.log, {
    repository: branches,
    workItems: adapters.workItems,
    proposals: adapters.proposals,
    room: timedRoom(ports.room, meter),
    files,
    signal: stop.signal,
  });
  return {
    async drain() {
      stop.abort();
      await allDone([keeping, role.drain?.() ?? Promise.resolve()]);
    },
  };
}

/** Serves commands of sessions; a stop of the Director ends them. */
function answerDeeds(bus: Bus, log: Logger, parts: Omit<SessionDeedParts, "onCanceled">): void {
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

/** Null: trust is off, and every outcome is believed. */
function trustedRunners({ log, config }: ServiceContext, { trustedRunnersFile }: DirectorConfig) {
  if (config.unsafeTrust) return null;
  if (trustedRunnersFile !== null) return OutcomeTrust.inFile(trustedRunnersFile, log);
  const detail = "ANTIPHON_TRUSTED_RUNNERS is not set, so no sandbox-runner is trusted";
  throw new AntiphonError("ANT_TRUST_MISSING", detail, { data: { variable: "ANTIPHON_TRUSTED_RUNNERS" } });
}

/** Unless trust is off, this Director's decisions must be believed, and those of its next process too. */
async function trustOwnKey(
  { bus, log, config }: ServiceContext,
  { keyFile }: DirectorConfig,
  key: SigningKey,
): Promise<void> {
  if (config.unsafeTrust || config.trustedKeysFile === null) return;
  if (keyFile === null) {
    const detail = "ANTIPHON_DIRECTOR_KEY is not set: others cannot trust a key that ends with the process";
    throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_DIRECTOR_KEY" } });
  }
  await pinOwnKey(bus, config.trustedKeysFile, key, log);
}

/** Without a meter nothing is measured. */
type Surroundings = Pick<ServiceContext, "bus" | "log" | "signal"> & { readonly meter?: Meter };

/** The Director over its ports to git, to the clean room and to the evidence. */
export function directOver(
  { bus, log, signal, meter = silentMeter }: Surroundings,
  config: DirectorConfig,
  ports: VerificationPorts,
  key: SigningKey,
): Role {
  const journal = openJournal(bus, { log, key });
  const letters = new PoisonLetters(openDeadLetters(bus), journal);
  const views = openKv(bus, BUCKETS.runs);
  const runs = new RunCache(journal, config.policy);
  const runMeter = new RunMeter(meter);
  const room = timedRoom(ports.room, meter);
  const bases = new BaseTrials({ room, log, now: () => performance.now() });
  const perform = performOver({ ...ports, room, letters, bases, journal });
  const traces = openRunTracing(bus);
  const runner = new EffectRunner({ journal, runs, perform, meter: runMeter, traces, log });
  const documents = { runs: views, contracts: openKv(bus, BUCKETS.contracts) };
  // Projections read past the cache, so that they have no effect on decisions.
  const read = (runId: string) => new RunCache(journal, config.policy).load(runId);
  const projector = new Projector(documents, read, log);
  const hintCancel = (runId: string) => tell(bus, subjects.control(runId), { kind: "cancel" });
  const races = new RaceWatch({ journal, log, repository: ports.repository, hintCancel });
  const timers = new TimerScheduler(
    {
      journal,
      runs,
      timers: openTimers(bus),
      log,
      hintCancel,
      now: () => performance.now(),
      onNoted: () => arming.needed(),
    },
    config.timers,
  );
  const admission: AdmissionQueue = new AdmissionQueue({
    backlog: () => associatesBacklog(bus),
    now: () => performance.now(),
    admit: (runId) => director.dispatchAdmitted(runId, signal),
    onWaiting: () => turning.needed(),
  });
  const arm = { step: () => timers.arm(), everyMs: config.timers.armAfterMs / 4, failure: "timers not set" };
  const arming = new WakeableLoop({ ...arm, log });
  const turn = { step: () => admission.turn(), everyMs: TURN_MS, failure: "no attempt admitted" };
  const turning = new WakeableLoop({ ...turn, log });
  const say: DirectorParts["tell"] = ({ runId, taskId, epoch }, text) =>
    tell(bus, subjects.log(runId, taskId, "progress"), { text, epoch });
  const shared = { runs, runner, projector, meter: runMeter, traces };
  const director = new Director({ ...shared, timers, races, bases, admission, tell: say, log });

  const rebuilder = new Rebuilder({
    audit: openJournalAudit(bus),
    ...{ views, runs, director, projector, log, clock: systemClock, signal, doubt: bus.trust.doubt },
    putBack: (lost) => putBackLost(bus, key, lost),
    partitions: () => bus.partitions,
  });
  const restores = openRunRestore(bus, journal);
  answerQuestions(bus, { repository: ports.repository, journal, rebuilder, restores, runs, admission, log });
  const stop = new AbortController();
  answerChecks(bus, { ...ports, signal: stop.signal, log });
  const work = consumeRecords({ bus, log, signal, meter }, config.slots, journal, director);

  consumeTimers(bus, {
    slots: config.slots,
    log,
    signal,
    handle: ({ address, at }) => timers.due(address, at),
  });

  const going = [arming, turning, races].map((loop) => loop.run(stop.signal));
  const progress = () => progressOf(bus, "director");
  const sleep: typeof systemClock.sleep = (ms, until) => systemClock.sleep(ms, until);
  const swept = { journal, runs, director, timers, races, log, progress, sleep };
  const sweeps = sweepForever(swept, config.sweep, stop.signal);
  const archiving = archiveForever(
    { archive: openRunArchive(bus, journal), log, clock: systemClock },
    config.archive,
    stop.signal,
  );
  const unfinished = removeUnfinishedUntil(
    { bus, bucket: BUCKETS.repos, clock: systemClock, log },
    stop.signal,
  );
  return {
    async drain() {
      stop.abort();
      try {
        await allDone([sweeps, archiving, unfinished, ...going, work.drain()]);
      } finally {
        await bases.close();
        await projector.drain(); // Last, so that all their work is projected even if one of them failed.
      }
    },
  };
}

function consumeRecords(
  { bus, log, signal, meter }: Required<Surroundings>,
  slots: number,
  journal: Journal,
  director: Director,
): Consumption {
  const handle = requeueing("director", journal, (delivery) => director.handle(delivery));
  return consume(bus, {
    consumer: "director",
    slots,
    log,
    signal,
    handle: metered(meter, "director", handle),
  });
}

/** Pause between two admissions while attempts are held back. */
const TURN_MS = 50;

/** Serves the gateway's requests; any Director answers. */
function answerQuestions(
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
function answerChecks(
  bus: Bus,
  { log, ...parts }: Pick<VerificationPorts, "repository" | "room"> & { signal: AbortSignal; log: Logger },
): void {
  const onCanceled = (checkId: string, canceled: () => void): (() => void) =>
    listen(bus, subjects.control(checkId), canceled);
  const checks = new RepoChecks({ ...parts, onCanceled });
  serveRpcStream<RepoCheckRequest, RepoCheckEvent>(
    bus,
    subjects.repoCheck,
    "director",
    (request, emit) => checks.answer(request, emit),
    { log },
  );
}
