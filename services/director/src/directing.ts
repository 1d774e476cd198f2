/** The Director over its ports: deliveries in, records and effects out, and what goes on beside them. */
import { BUCKETS, subjects } from "@antiphon/contracts";
import {
  allDone,
  associatesBacklog,
  consume,
  consumeTimers,
  metered,
  openDeadLetters,
  openJournal,
  openJournalAudit,
  openKv,
  openRunArchive,
  removeUnfinishedUntil,
  openRunRestore,
  openTimers,
  progressOf,
  putBackLost,
  requeueing,
  silentMeter,
  systemClock,
  tell,
  type Consumption,
  type Journal,
  type Meter,
  type Role,
  type ServiceContext,
  type SigningKey,
} from "@antiphon/runtime";
import { BaseTrials } from "./verification/base-trials.ts";
import { PoisonLetters } from "./effects/poison-letters.ts";
import { archiveForever } from "./upkeep/archiver.ts";
import { answerChecks, answerQuestions } from "./answers.ts";
import type { DirectorConfig } from "./config.ts";
import { Director, type DirectorParts } from "./scheduling/director.ts";
import { EffectRunner } from "./effects/effect-runner.ts";
import { performOver } from "./effects/effect-table.ts";
import { Projector } from "./views/projector.ts";
import { Rebuilder } from "./upkeep/rebuilder.ts";
import { WakeableLoop } from "./scheduling/wakeable-loop.ts";
import { RaceWatch } from "./landing/race-watch.ts";
import { RunCache } from "./runs/run-cache.ts";
import { RunMeter } from "./runs/run-meter.ts";
import { openRunTracing } from "./runs/run-tracing.ts";
import { timedRoom } from "./verification/timed-room.ts";
import { sweepForever } from "./upkeep/sweeper.ts";
import { TimerScheduler } from "./timers/timer-scheduler.ts";
import { AdmissionQueue } from "./admission/admission-queue.ts";
import type { VerificationPorts } from "./verification/verification.ts";

/** Pause between two admissions while attempts are held back. */
const TURN_MS = 50;

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
