/** Wires the Director's parts over the bus. */
import { BUCKETS, subjects, type RepoInspectRequest } from "@antiphon/contracts";
import {
  consume,
  consumeTimers,
  openBlobs,
  openDeadLetters,
  openJournal,
  openKv,
  openSigningKey,
  openTimers,
  requeueing,
  sandboxClient,
  serveRpc,
  systemClock,
  tell,
  type Logger,
  type Role,
  type ServiceContext,
  type SigningKey,
} from "@antiphon/runtime";
import { sweepScratch } from "@antiphon/runtime/git/index";
import { CleanRoom } from "./adapters/clean-room.ts";
import { PoisonLetters } from "./adapters/poison-letters.ts";
import { Repositories } from "./adapters/repositories.ts";
import { VerdictEvidence } from "./adapters/verdict-evidence.ts";
import type { DirectorConfig } from "./config.ts";
import { Director } from "./director.ts";
import { Performer } from "./performer.ts";
import { Projector } from "./projector.ts";
import { RunCache } from "./run-cache.ts";
import { sweepForever } from "./sweeper.ts";
import { Timekeeper } from "./timekeeper.ts";
import type { VerificationPorts } from "./verification.ts";

export async function startDirector(context: ServiceContext, config: DirectorConfig): Promise<Role> {
  const { bus, node } = context;
  await sweepScratch(new Date());
  const key = openSigningKey(config.keyFile);
  await openKv(bus, BUCKETS.keys).put(key.jwk.kid, key.jwk);
  const signer = {
    publicKey: Buffer.from(key.jwk.x, "base64url"),
    sign: (bytes: Uint8Array) => key.sign(bytes),
  };
  const files = openBlobs(bus, BUCKETS.evidenceFiles);
  const ports = {
    repository: new Repositories(openBlobs(bus, BUCKETS.repos), config.repoRoots, signer),
    room: new CleanRoom(sandboxClient(bus, { requester: node }), files),
    evidence: new VerdictEvidence(openKv(bus, BUCKETS.evidence), files, node),
  };
  return directOver(context, config, ports, key);
}

/** The Director over its ports to git, to the clean room and to the evidence. */
export function directOver(
  { bus, log, signal }: Pick<ServiceContext, "bus" | "log" | "signal">,
  config: DirectorConfig,
  ports: VerificationPorts,
  key: SigningKey,
): Role {
  const journal = openJournal(bus, { log, key });
  const letters = new PoisonLetters(openDeadLetters(bus), journal);
  const performer = new Performer({ ...ports, letters });
  const projector = new Projector(
    { runs: openKv(bus, BUCKETS.runs), contracts: openKv(bus, BUCKETS.contracts) },
    log,
  );
  const runs = new RunCache(journal, config.policy);
  const times = new Timekeeper(
    {
      journal,
      runs,
      timers: openTimers(bus),
      log,
      hintCancel: (runId) => tell(bus, subjects.control(runId), { kind: "cancel" }),
      now: () => performance.now(),
    },
    config.timers,
  );
  const director = new Director({ journal, runs, performer, projector, times, log });

  serveRpc(
    bus,
    subjects.repoInspect,
    "director",
    (request: RepoInspectRequest) => ports.repository.inspect(request),
    { log },
  );
  const work = consume(bus, {
    consumer: "director",
    slots: config.slots,
    log,
    signal,
    handle: requeueing("director", journal, (delivery) => director.handle(delivery)),
  });

  consumeTimers(bus, {
    slots: config.slots,
    log,
    signal,
    handle: ({ address, at }) => times.due(address, at),
  });

  const stop = new AbortController();
  const arming = armForever(times, config.timers.armAfterMs / 4, log, stop.signal);
  const sweeps = sweepForever(
    {
      journal,
      runs,
      director,
      times,
      log,
      now: () => systemClock.now(),
      sleep: (ms, until) => systemClock.sleep(ms, until),
    },
    config.sweep,
    stop.signal,
  );
  return {
    async drain() {
      stop.abort();
      await Promise.all([sweeps, arming, work.drain()]);
      await projector.drain();
    },
  };
}

async function armForever(
  times: Timekeeper,
  everyMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await systemClock.sleep(everyMs, signal);
    await times.arm().catch((error: unknown) => log.warn({ err: error }, "timers not set; tried again"));
  }
}
