/**
 * The Associate: takes dispatches off the journal, claims each, carries it out, and records the result. This module wires
 * the ports; settlement.ts handles one dispatch, and work.ts does the work.
 */
import { BUCKETS, limits, subjects } from "@antiphon/contracts";
import type { ClaimBody, AttemptReplayEvent, AttemptReplayRequest, StoredRecord } from "@antiphon/contracts";
import {
  consume,
  listen,
  metered,
  openBlobs,
  openJournal,
  openKv,
  openSigningKey,
  requeueing,
  sandboxClient,
  serveRpcStream,
  silentMeter,
  systemClock,
  tell,
  uniqueId,
} from "@antiphon/runtime";
import type {
  Bus,
  Consumption,
  Delivery,
  Journal,
  Logger,
  Meter,
  Outcome,
  SigningKey,
} from "@antiphon/runtime";
import { baseTrees } from "./attempt/base-trees.ts";
import { compiledSessions } from "./evidence/compiled-sessions.ts";
import { evidenceStore, recordings } from "./evidence/evidence-store.ts";
import { exportAgainOver } from "./attempt/export-again.ts";
import { overlays } from "./attempt/overlays.ts";
import { HeldJobs } from "./attempt/held-jobs.ts";
import { CancelHints } from "./claim/cancel-hints.ts";
import { NO_NOTES, openClaimNotes, type ClaimNotes } from "./claim/claim-notes.ts";
import { LOOK_AGAIN } from "./claim/claim.ts";
import { attemptKey, Holders } from "./claim/holders.ts";
import { endLeftClaims } from "./claim/left-claims.ts";
import type { AttemptPorts } from "./ports.ts";
import { Replays } from "./replay/replays.ts";
import { isClaimed } from "./claim/is-claimed.ts";
import { settle } from "./claim/settlement.ts";
import type { Attempt } from "./claim/settlement.ts";
import { isOver, lookout } from "./claim/run-watch.ts";
import { UnderWay } from "./claim/under-way.ts";

export interface AssociateSettings {
  readonly associate: string;
  readonly slots: number;
  readonly cacheDir: string;
  readonly sandboxPatienceMs: number;
  /** See claim/claim-notes.ts; null: none are kept. */
  readonly claimsDir: string | null;
}

export interface AssociateContext {
  readonly bus: Bus;
  readonly log: Logger;
  /** Aborts at the hard stop: attempts under way are abandoned. */
  readonly signal: AbortSignal;
  /** Null: nothing is measured. */
  readonly metrics?: Meter | null;
}

export function startAssociate(context: AssociateContext, settings: AssociateSettings): Promise<Consumption> {
  const shared = portsOf(context, settings);
  serveReplays(context, settings, shared);
  return associateOver(context, settings, shared, openSigningKey(null));
}

/** Replays are requests, and no work of the journal. */
function serveReplays(
  { bus, log, signal }: AssociateContext,
  { associate }: AssociateSettings,
  shared: SharedPorts,
): void {
  const replays = new Replays({
    associate,
    journal: openJournal(bus, { log }),
    ports: { ...shared, progress: () => undefined },
    signal,
    onCanceled: (replayId, canceled) => listen(bus, subjects.control(replayId), canceled),
  });
  serveRpcStream<AttemptReplayRequest, AttemptReplayEvent>(
    bus,
    subjects.attemptReplay,
    "associate",
    (request, emit) => replays.answer(request, emit),
    { log },
  );
}

/** The ports that all attempts share; progress belongs to one attempt. */
export type SharedPorts = Omit<AttemptPorts, "progress" | "held">;

/** The Associate with the given ports. `reporter`: its claims name this key and its results bear its signature. */
export async function associateOver(
  context: AssociateContext,
  settings: AssociateSettings,
  shared: SharedPorts,
  reporter: SigningKey | null,
): Promise<Consumption> {
  const { bus, log, signal } = context;
  const underWay = new UnderWay();
  const holders = await Holders.open({ bus, clock: shared.clock, working: underWay, log, signal });
  const journal = openJournal(bus, reporter === null ? { log } : { log, reporter });
  const watching = lookout(new CancelHints(bus));
  const ports = ({ runId, taskId, epoch }: Attempt): AttemptPorts => ({
    ...shared,
    held,
    progress: (text) => tell(bus, subjects.log(runId, taskId, "progress"), { text, epoch }),
  });
  const key = reporter === null ? {} : { reporter: reporter.jwk };
  const identity: ClaimBody = { associate: settings.associate, incarnation: holders.incarnation, ...key };
  const held = new HeldJobs({
    log,
    isLost: async ({ runId, taskId, epoch }) => {
      if (await isOver(journal, runId)) return true;
      const claim = await journal.find("claim", runId, taskId, epoch);
      return claim?.type === "claim" && claim.body.incarnation !== identity.incarnation;
    },
  });
  signal.addEventListener("abort", () => held.dropAll(), { once: true });
  const notes = notesOf(settings.claimsDir, journal, identity, log);

  const handle = async (delivery: Delivery): Promise<Outcome> => {
    const attempt = attemptOf(delivery.record);
    if (attempt === null) {
      return {
        kind: "terminal",
        code: "ANT_CONTRACT_INVALID",
        detail: `${delivery.record.type} is not a dispatch of a task`,
      };
    }
    const own = { ports: ports(attempt), lookout: watching };
    const outcome = await underWay.run(attemptKey(attempt), () =>
      settle({ attempt, delivery, journal, identity, ...own, notes, holders, log }),
    );
    return outcome ?? LOOK_AGAIN; // associate/A1
  };

  const consumption = consume(bus, {
    consumer: "associate",
    slots: settings.slots,
    ackWaitMs: limits.probedAckWaitMs, // Whether or not the server waits longer.
    log,
    signal,
    isHeld: (record) => isClaimed(journal, record),
    handle: metered(context.metrics ?? silentMeter, "associate", requeueing("associate", journal, handle)),
  });
  return {
    get busy() {
      return consumption.busy;
    },
    drain: async (deadlineMs) => {
      await consumption.drain(deadlineMs);
      notes.close();
    },
  };
}

/** Claims of killed processes are ended beside the work of this one; what fails there only lapses later. */
function notesOf(
  directory: string | null,
  journal: Journal,
  { associate, incarnation }: ClaimBody,
  log: Logger,
): ClaimNotes {
  if (directory === null) return NO_NOTES;
  endLeftClaims(directory, { journal, associate, log }).catch((error: unknown) => {
    log.warn({ err: error }, "claims of killed processes not ended; they lapse after the ack wait");
  });
  return openClaimNotes(directory, { associate, incarnation }, log);
}

function attemptOf(record: StoredRecord): Attempt | null {
  if (record.type !== "dispatch" || record.taskId === null) return null;
  const { runId, taskId, epoch, body, seq, digest } = record;
  return { runId, taskId, epoch, dispatch: body, cause: { seq, digest } };
}

export function portsOf(context: AssociateContext, settings: AssociateSettings): SharedPorts {
  const { bus, log } = context;
  const files = openBlobs(bus, BUCKETS.evidenceFiles);
  const manifests = openKv(bus, BUCKETS.evidence);
  return {
    trees: baseTrees(openBlobs(bus, BUCKETS.repos), settings.cacheDir),
    sandbox: sandboxClient(bus, { requester: settings.associate }),
    overlays: overlays(files),
    evidence: evidenceStore(files, manifests),
    recordings: recordings(openBlobs(bus, BUCKETS.recordings)),
    compiled: compiledSessions(openKv(bus, BUCKETS.compiled), manifests, files),
    exportAgain: exportAgainOver(bus),
    clock: systemClock,
    newJobId: () => `job_${uniqueId()}`,
    patienceMs: settings.sandboxPatienceMs,
    tools: new Map<string, readonly string[]>(),
    log,
  };
}
