/** Opens what a Director needs of git, NATS and its keys, and starts it over them. */
import { join } from "node:path";
import { AntiphonError, BUCKETS, subjects, type ConnectorsRequest } from "@antiphon/contracts";
import {
  allDone,
  openBlobs,
  openJournal,
  openKv,
  openSigningKey,
  OutcomeTrust,
  pinOwnKey,
  sandboxClient,
  readingsBy,
  serveRpc,
  silentMeter,
  systemClock,
  type Role,
  type ServiceContext,
  type SigningKey,
} from "@antiphon/runtime";
import { startLauncher, sweepScratch } from "@antiphon/git";
import { EnvironmentPreparation } from "./environments/preparation.ts";
import { EnvironmentSpecs } from "./environments/environment-specs.ts";
import { CleanRoom } from "./verification/clean-room.ts";
import { RemoteRepositories } from "./repositories/remote-repositories.ts";
import { Connectors } from "./connectors/connectors.ts";
import { MaterialRepository } from "./connectors/material-repository.ts";
import { Repositories } from "./repositories/repositories.ts";
import { VerdictEvidence } from "./verification/verdict-evidence.ts";
import { answerDeeds } from "./answers.ts";
import { directOver } from "./directing.ts";
import type { DirectorConfig } from "./config.ts";
import { timedRoom } from "./verification/timed-room.ts";
import { StoreRoom } from "./upkeep/store-room.ts";
import { openAdapters } from "./work-items/open-work-items.ts";
import { SessionRepository } from "./sessions/session-repository.ts";
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
