/**
 * The Associate: takes dispatches off the journal, claims each, carries it out, and records how it ended.
 *
 * States of a dispatch here: delivered -> claimed -> working -> recorded, or left alone (somebody else's, over).
 *
 * Invariants:
 *   A1 One attempt, one holder: work starts only when the claim register holds this process's own claim (J4).
 *   A2 One attempt, one ending: the result register takes one word; ours may be refused, and then somebody saw
 *      our claim lapse. Nothing is written after that (I7).
 *   A3, A4 in adapters/run-watch.ts; A5, A10 in work.ts; A6-A9 in core/report.ts.
 *   A11 A dispatch is acknowledged only when nothing about it is left to do: its ending is recorded, or its run is
 *      over. A fenced attempt is handed back, never acknowledged: its ack could swallow the redelivery.
 */
import { AntiphonError, BUCKETS, subjects } from "@antiphon/contracts";
import type { Cause, DispatchBody, ResultBody, StoredRecord } from "@antiphon/contracts";
import {
  consume,
  openBlobs,
  openJournal,
  openKv,
  sandboxClient,
  systemClock,
  tell,
  uniqueId,
} from "@antiphon/runtime";
import type { Bus, Consumption, Delivery, Journal, Logger, Outcome } from "@antiphon/runtime";
import { baseTrees } from "./adapters/base-trees.ts";
import { evidenceStore, recordings } from "./adapters/evidence-store.ts";
import { overlays } from "./adapters/overlays.ts";
import { isOver, watchRun } from "./adapters/run-watch.ts";
import { claimStep } from "./core/claim.ts";
import type { ClaimAnswer } from "./core/claim.ts";
import type { AttemptPorts } from "./ports.ts";
import { carryOut } from "./work.ts";
import type { AttemptEnd } from "./work.ts";

export interface AssociateSettings {
  readonly associate: string;
  readonly slots: number;
  readonly cacheDir: string;
  readonly sandboxPatienceMs: number;
}

export interface AssociateContext {
  readonly bus: Bus;
  readonly log: Logger;
  /** The hard stop: attempts under way are given up and handed back. */
  readonly signal: AbortSignal;
}

/** One attempt, addressed. */
interface Attempt {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
  readonly dispatch: DispatchBody;
  readonly cause: Cause;
}

/** Somebody else's claim that nothing says has lapsed: look again after this long. */
const LOOK_AGAIN_MS = 5000;
/** A stopping process gives its last word this long to be stored, then hands the dispatch back. */
const LAST_WORD_MS = 3000;

export function startAssociate(context: AssociateContext, settings: AssociateSettings): Consumption {
  const { bus, log, signal } = context;
  const journal = openJournal(bus, { log });
  const ports = portsOf(context, settings);
  const identity = { associate: settings.associate, incarnation: uniqueId() };
  const underWay = new Map<string, Promise<Outcome>>();

  const handle = async (delivery: Delivery): Promise<Outcome> => {
    const attempt = attemptOf(delivery.record);
    if (attempt === null) {
      return {
        kind: "terminal",
        code: "ANT_CONTRACT_INVALID",
        detail: `${delivery.record.type} is no dispatch of a task`,
      };
    }
    const key = `${attempt.runId} ${attempt.taskId} ${attempt.epoch}`;
    await underWay.get(key); // delivered twice to this process: the first goes to its end first
    const work = settle({ attempt, delivery, journal, identity, ports: ports(attempt), bus, log });
    underWay.set(key, work);
    try {
      return await work;
    } finally {
      if (underWay.get(key) === work) underWay.delete(key);
    }
  };

  return consume(bus, { consumer: "associate", slots: settings.slots, log, signal, handle });
}

function attemptOf(record: StoredRecord): Attempt | null {
  if (record.type !== "dispatch" || record.taskId === null) return null;
  const { runId, taskId, epoch, body, seq, digest } = record;
  return { runId, taskId, epoch, dispatch: body, cause: { seq, digest } };
}

function portsOf(context: AssociateContext, settings: AssociateSettings): (attempt: Attempt) => AttemptPorts {
  const { bus, log } = context;
  const files = openBlobs(bus, BUCKETS.evidenceFiles);
  const shared = {
    trees: baseTrees(openBlobs(bus, BUCKETS.repos), settings.cacheDir),
    sandbox: sandboxClient(bus, { requester: settings.associate }),
    overlays: overlays(files),
    evidence: evidenceStore(files, openKv(bus, BUCKETS.evidence)),
    recordings: recordings(openBlobs(bus, BUCKETS.recordings)),
    clock: systemClock,
    newJobId: () => `job_${uniqueId()}`,
    patienceMs: settings.sandboxPatienceMs,
    tools: new Map<string, readonly string[]>(),
    log,
  };
  return ({ runId, taskId, epoch }) => ({
    ...shared,
    progress: (text) => tell(bus, subjects.log(runId, taskId, "progress"), { text, epoch }),
  });
}

interface Settling {
  readonly attempt: Attempt;
  readonly delivery: Delivery;
  readonly journal: Journal;
  readonly identity: { readonly associate: string; readonly incarnation: string };
  readonly ports: AttemptPorts;
  readonly bus: Bus;
  readonly log: Logger;
}

async function settle(job: Settling): Promise<Outcome> {
  const { attempt, delivery, journal, identity, ports } = job;
  const { runId, taskId, epoch } = attempt;
  const [over, result] = await Promise.all([
    isOver(journal, runId),
    delivery.deliveries > 1 ? journal.find("result", runId, taskId, epoch) : null,
  ]);
  if (over || result !== null) return { kind: "done" };

  const claim = await journal.append(
    { type: "claim", runId, taskId, epoch, cause: attempt.cause, body: identity },
    { signal: delivery.signal },
  );
  const held = claim.kind === "conflict" ? claim.existing : claim.record;
  const answer: ClaimAnswer =
    claim.kind === "conflict" ? { kind: "theirs", holder: holderOf(held) } : { kind: "ours" };
  const existing = claim.kind === "appended" ? null : await journal.find("result", runId, taskId, epoch);
  const step = claimStep(answer, delivery.deliveries, existing !== null);
  switch (step.kind) {
    case "settled":
      return { kind: "done" };
    case "wait":
      return { kind: "retry", delayMs: LOOK_AGAIN_MS, code: "ANT_CLAIM_LOST" };
    case "lapse":
      return await record(job, held, { kind: "lapsed", observer: identity.associate, holder: step.holder });
    case "work":
      ports.progress(`taken by ${identity.associate} (attempt ${epoch})`);
      return await recordEnd(job, held, await worked(job));
  }
}

function holderOf(record: StoredRecord): string {
  return record.type === "claim" ? record.body.associate : "unknown";
}

/** Works under watch: cancel, lost heartbeat and shutdown all stop the sandbox first. */
async function worked({
  attempt,
  delivery,
  journal,
  identity,
  ports,
  bus,
  log,
}: Settling): Promise<AttemptEnd> {
  const watch = watchRun(bus, journal, attempt.runId, log);
  const onShutdown = (): void => watch.stop("draining");
  delivery.signal.addEventListener("abort", onShutdown, { once: true });
  if (delivery.signal.aborted) onShutdown();
  try {
    const order = {
      runId: attempt.runId,
      epoch: attempt.epoch,
      dispatch: attempt.dispatch,
      associate: identity.associate,
    };
    return await carryOut(order, ports, watch.signal);
  } finally {
    delivery.signal.removeEventListener("abort", onShutdown);
    watch.release();
  }
}

async function recordEnd(job: Settling, claim: StoredRecord, end: AttemptEnd): Promise<Outcome> {
  const { associate } = job.identity;
  switch (end.kind) {
    case "reported":
      return await record(job, claim, end.body);
    case "abandoned":
      return await record(job, claim, { kind: "abandoned", associate, code: end.code, message: end.message });
    case "stopped":
      break;
  }
  switch (end.why) {
    case "canceled":
      return { kind: "done" }; // the Director closes the run by itself
    case "fenced":
      return { kind: "retry", delayMs: LOOK_AGAIN_MS, code: "ANT_CLAIM_LOST" }; // A11
    case "draining":
      return await record(job, claim, {
        kind: "abandoned",
        associate,
        code: "ANT_ASSOCIATE_DRAINING",
        message: "the Associate was stopped before the attempt was over",
      });
  }
}

/** The last word about an attempt (A2). A stopping process waits for it only so long; the throw hands it back. */
async function record(job: Settling, claim: StoredRecord, body: ResultBody): Promise<Outcome> {
  const { attempt, journal, delivery, log } = job;
  const { runId, taskId, epoch } = attempt;
  const lastWord = new AbortController();
  const onShutdown = (): void => void setTimeout(() => lastWord.abort(), LAST_WORD_MS).unref();
  delivery.signal.addEventListener("abort", onShutdown, { once: true });
  if (delivery.signal.aborted) onShutdown();
  try {
    const cause = { seq: claim.seq, digest: claim.digest };
    const done = await journal.append(
      { type: "result", runId, taskId, epoch, cause, body },
      { signal: lastWord.signal },
    );
    const at = { run: runId, task: taskId, epoch, result: body.kind };
    if (done.kind === "conflict") {
      log.warn(
        { ...at, code: "ANT_CLAIM_LOST", seq: done.existing.seq },
        "somebody else settled this attempt",
      ); // A2
    } else {
      log.info(
        { ...at, ...(body.kind === "reported" ? { status: body.result.status } : {}) },
        "attempt recorded",
      );
    }
    return { kind: "done" };
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    log.error(
      { run: runId, task: taskId, epoch, code, detail },
      "result not stored; handing the dispatch back",
    );
    return { kind: "retry", delayMs: 1000, code };
  } finally {
    delivery.signal.removeEventListener("abort", onShutdown);
  }
}
