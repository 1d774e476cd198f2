/**
 * One delivery of a dispatch, from the claim to its recorded end.
 *
 * States: delivered -> claimed -> working -> recorded, or left alone (somebody else's, over).
 *
 * Invariants:
 *   A1  One attempt, one holder: work starts only when the claim register holds this process's own claim (J4).
 *   A2  One attempt, one ending: the result register takes one word; ours may be refused, and then somebody saw
 *       our claim lapse. Nothing is written after that (I7).
 *   A11 A dispatch is acknowledged only when nothing about it is left to do: its ending is recorded, or its run is
 *       over. A fenced attempt is handed back, never acknowledged: its ack could swallow the redelivery.
 *   A15 A fenced attempt whose container may still live is not taken up again, not by this process either, which still
 *       holds the claim: it is recorded as abandoned, and the next attempt has a number and a container of its own (I8).
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Cause, DispatchBody, NewRecord, ResultBody, StoredRecord } from "@antiphon/contracts";
import type { AppendResult, Bus, Delivery, Journal, Logger, Outcome } from "@antiphon/runtime";
import { isOver, watchRun } from "./run-watch.ts";
import { claimStep } from "./claim.ts";
import type { ClaimAnswer } from "./claim.ts";
import { storeLastWord } from "./last-word.ts";
import type { AttemptPorts } from "../ports.ts";
import { carryOut } from "../attempt/work.ts";
import type { AttemptEnd } from "../attempt/work.ts";

/** One attempt, addressed. */
export interface Attempt {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
  readonly dispatch: DispatchBody;
  readonly cause: Cause;
}

/**
 * After this long a dispatch that somebody else may still hold is looked at again. It is longer than the pause between
 * two heartbeats of a holder (a third of the ack wait), and a heartbeat takes a delayed redelivery back: a live
 * holder is left in peace, a dead one is found out.
 */
const LOOK_AGAIN_MS = limits.associateAckWaitMs / 3 + 1000;
/** A stopping process gives its last word this long to be stored, then hands the dispatch back. */
const LAST_WORD_MS = 3000;

export interface Settling {
  readonly attempt: Attempt;
  readonly delivery: Delivery;
  readonly journal: Journal;
  readonly identity: { readonly associate: string; readonly incarnation: string };
  readonly ports: AttemptPorts;
  readonly bus: Bus;
  readonly log: Logger;
}

export async function settle(job: Settling): Promise<Outcome> {
  const { attempt, delivery, journal, identity, ports } = job;
  const { runId, taskId, epoch } = attempt;
  const claim = await claimed(job);
  if (claim === null) return { kind: "done" };
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
    case "work": // A1
      ports.progress(`taken by ${identity.associate} (attempt ${epoch})`);
      return await recordEnd(job, held, await worked(job));
  }
}

/**
 * Puts our word into the claim register; null: nothing is left to do. A dispatch that directly follows a record was made by
 * a Director that knew all of the run, so no cancel stands before it; and when it comes for the first time it is mostly
 * the run's last record, so that none stands behind it and nobody has ended it: the claim itself asks for that. Otherwise
 * it is looked for.
 */
async function claimed({ attempt, delivery, journal, identity }: Settling): Promise<AppendResult | null> {
  const { runId, taskId, epoch, cause } = attempt;
  const record: NewRecord = { type: "claim", runId, taskId, epoch, cause, body: identity };
  const { signal, deliveries } = delivery;
  if (deliveries === 1 && delivery.record.after !== undefined) {
    const first = await journal.appendAfter(record, cause.seq, { signal });
    if (first.kind !== "moved") return first;
  }
  const [over, result] = await Promise.all([
    isOver(journal, runId),
    deliveries > 1 ? journal.find("result", runId, taskId, epoch) : null,
  ]);
  return over || result !== null ? null : journal.append(record, { signal });
}

function holderOf(record: StoredRecord): string {
  return record.type === "claim" ? record.body.associate : "unknown";
}

/**
 * Works under watch: cancel, lost heartbeat and shutdown all stop the sandbox first. A process that shuts down does not
 * wait for the runner to confirm it: its last word has to be stored while there is a connection, and a container whose
 * cancel got lost is killed by the runner for want of a sign of life.
 */
async function worked({
  attempt,
  delivery,
  journal,
  identity,
  ports,
  bus,
  log,
}: Settling): Promise<AttemptEnd> {
  const watch = watchRun(bus, journal, attempt, log);
  const shutdown = new Promise<AttemptEnd>((resolve) => {
    watch.signal.addEventListener(
      "abort",
      () => {
        if (watch.signal.reason === "draining") resolve({ kind: "stopped", why: "draining" });
      },
      { once: true },
    );
  });
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
    return await Promise.race([carryOut(order, ports, watch.signal), shutdown]);
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
      return await record(job, claim, { ...end, associate });
    case "stopped":
      break;
  }
  switch (end.why) {
    case "canceled":
      return { kind: "done" }; // the Director closes the run by itself
    case "fenced":
      if (end.left !== undefined)
        return await record(job, claim, { kind: "abandoned", associate, ...end.left }); // A15
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
  const { attempt, journal, delivery, identity, ports, log } = job;
  const { runId, taskId, epoch } = attempt;
  const lastWord = new AbortController();
  const onShutdown = (): void => void setTimeout(() => lastWord.abort(), LAST_WORD_MS).unref();
  delivery.signal.addEventListener("abort", onShutdown, { once: true });
  if (delivery.signal.aborted) onShutdown();
  try {
    const cause = { seq: claim.seq, digest: claim.digest };
    const done = await storeLastWord(body, {
      associate: identity.associate,
      clock: ports.clock,
      log,
      signal: lastWord.signal,
      append: (word) =>
        journal.append(
          { type: "result", runId, taskId, epoch, cause, body: word },
          { signal: lastWord.signal, ...(claim.after === undefined ? {} : { after: claim.seq }) },
        ),
    });
    const at = { run: runId, task: taskId, epoch, result: body.kind };
    if (done.kind === "conflict") {
      log.warn(
        { ...at, code: "ANT_CLAIM_LOST", seq: done.existing.seq },
        "somebody else settled this attempt",
      ); // A2
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
