/**
 * Handles one delivery of a dispatch, from the claim to the recorded result.
 *
 * Lifecycle: delivered -> claimed -> working -> recorded | left alone (claimed by another process, or the run is over).
 *
 * Promises:
 *   associate/A1 Because a claim is a compare-and-set in the journal and work starts only when it names this process, at
 *     most one Associate ever works on an attempt.
 *   associate/A2 Because the journal accepts one result per attempt, and a dispatch is acknowledged only when that result
 *     is recorded or the run is over, an attempt ends exactly once and is not lost when its Associate dies.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Cause, DispatchBody, NewRecord, ResultBody, StoredRecord } from "@antiphon/contracts";
import type { AppendResult, Bus, Delivery, Journal, Logger, Outcome } from "@antiphon/runtime";
import { isOver, watchRun } from "./run-watch.ts";
import { claimStep } from "./claim.ts";
import type { ClaimAnswer } from "./claim.ts";
import { storeResult } from "./result-writer.ts";
import type { AttemptPorts } from "../ports.ts";
import { carryOut } from "../attempt/work.ts";
import type { AttemptEnd } from "../attempt/work.ts";

/** One attempt, with its address in the run. */
export interface Attempt {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
  readonly dispatch: DispatchBody;
  readonly cause: Cause;
}

/**
 * The delay before a dispatch that another process may hold is looked at again. It is longer than the pause between two
 * heartbeats (a third of the ack wait), and a heartbeat cancels the delayed redelivery. The dispatch therefore comes back
 * only when its holder is dead.
 */
const LOOK_AGAIN_MS = limits.associateAckWaitMs / 3 + 1000;
/** A stopping process tries this long to store the result, then hands the dispatch back. */
const RESULT_GRACE_MS = 3000;

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
    case "expired":
      return await record(job, held, { kind: "lapsed", observer: identity.associate, holder: step.holder });
    case "work": // associate/A1
      ports.progress(`taken by ${identity.associate} (attempt ${epoch})`);
      return await recordEnd(job, held, await worked(job));
  }
}

/**
 * Appends the claim. Null: the run or the attempt is over, so nothing is left to do.
 *
 * The Director knew the whole run when it wrote a dispatch with `after`, so no cancel precedes that dispatch. On its first
 * delivery such a dispatch is usually the run's last record, so the claim is appended on the condition that it still is.
 * Otherwise the journal is searched for a cancel or a result first.
 */
async function claimed({ attempt, delivery, journal, identity }: Settling): Promise<AppendResult | null> {
  const { runId, taskId, epoch, cause } = attempt;
  const record: NewRecord = { type: "claim", runId, taskId, epoch, cause, body: identity };
  const { signal, deliveries } = delivery;
  if (deliveries === 1 && delivery.record.after !== undefined) {
    const first = await journal.appendIfUnmoved(record, cause.seq, { signal });
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
 * Carries out the attempt under a watch: a cancel, a lost heartbeat and a shutdown each stop the sandbox first. A process
 * that shuts down does not wait for the runner to confirm the stop, because it must store the result while it has a
 * connection. If the cancel was lost, the runner kills the container when the signs of life stop.
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
        return await record(job, claim, { kind: "abandoned", associate, ...end.left }); // associate/A3
      // associate/A2: an ack could cancel the redelivery to another Associate.
      return { kind: "retry", delayMs: LOOK_AGAIN_MS, code: "ANT_CLAIM_LOST" };
    case "draining":
      return await record(job, claim, {
        kind: "abandoned",
        associate,
        code: "ANT_ASSOCIATE_DRAINING",
        message: "the Associate was stopped before the attempt ended",
      });
  }
}

/** Records the result of an attempt, or hands the dispatch back when the result cannot be stored. */
async function record(job: Settling, claim: StoredRecord, body: ResultBody): Promise<Outcome> {
  const { attempt, journal, delivery, identity, ports, log } = job;
  const { runId, taskId, epoch } = attempt;
  const giveUp = new AbortController();
  const onShutdown = (): void => void setTimeout(() => giveUp.abort(), RESULT_GRACE_MS).unref();
  delivery.signal.addEventListener("abort", onShutdown, { once: true });
  if (delivery.signal.aborted) onShutdown();
  try {
    const cause = { seq: claim.seq, digest: claim.digest };
    const done = await storeResult(body, {
      associate: identity.associate,
      clock: ports.clock,
      log,
      signal: giveUp.signal,
      append: (result) =>
        journal.append(
          { type: "result", runId, taskId, epoch, cause, body: result },
          { signal: giveUp.signal, ...(claim.after === undefined ? {} : { probablyAfter: claim.seq }) },
        ),
    });
    const at = { run: runId, task: taskId, epoch, result: body.kind };
    if (done.kind === "conflict") {
      log.warn(
        { ...at, code: "ANT_CLAIM_LOST", seq: done.existing.seq },
        "another process recorded the result of this attempt",
      ); // associate/A2
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
