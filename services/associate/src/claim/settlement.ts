/**
 * Handles one delivery of a dispatch, from the claim to the recorded result.
 *
 * Lifecycle: delivered -> claimed -> working -> recorded | left alone (claimed by another process, or the run is over).
 * The result of an attempt whose run was canceled may follow the end of the run: it changes nothing, and keeps its evidence.
 *
 * Promises:
 *   associate/A1 Because a claim is a compare-and-set in the journal, an attempt stops when its newest proof of contact
 *     is older than the ack wait, and one whose container may still run is abandoned instead of tried again, at most
 *     one Associate and one container ever work on an attempt.
 *   associate/A2 Because the journal accepts one result per attempt, and a dispatch is acknowledged only when that result
 *     is recorded or the run is over, an attempt ends exactly once and is not lost when its Associate dies.
 */
import { AntiphonError } from "@antiphon/contracts";
import type {
  Cause,
  ClaimBody,
  DispatchBody,
  NewRecord,
  ResultBody,
  StoredRecord,
} from "@antiphon/contracts";
import { onAbort } from "@antiphon/runtime";
import type { AppendResult, Delivery, Journal, Logger, Outcome } from "@antiphon/runtime";
import type { AttemptPorts } from "../ports.ts";
import type { ClaimNotes } from "./claim-notes.ts";
import { afterClaim, afterLook, afterWork, type Settlement } from "./claim.ts";
import type { Holders } from "./holders.ts";
import { storeResult } from "./result-writer.ts";
import { isOver, type Lookout } from "./run-watch.ts";
import { worked } from "./watched-work.ts";

/** One attempt, with its address in the run. */
export interface Attempt {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
  readonly dispatch: DispatchBody;
  readonly cause: Cause;
}

/** A stopping process tries this long to store the result, then hands the dispatch back. */
const RESULT_GRACE_MS = 3000;

export interface Settling {
  readonly attempt: Attempt;
  readonly delivery: Delivery;
  readonly journal: Journal;
  readonly identity: ClaimBody;
  readonly ports: AttemptPorts;
  readonly lookout: Lookout;
  readonly notes: ClaimNotes;
  readonly holders: Pick<Holders, "look">;
  readonly log: Logger;
}

export async function settle(job: Settling): Promise<Outcome> {
  const { attempt, delivery, journal, identity, ports } = job;
  const { runId, taskId, epoch } = attempt;
  const { associate } = identity;
  const claim = await claimed(job);
  if (claim === null) return { kind: "done" };
  const held = claim.kind === "conflict" ? claim.existing : claim.record;
  const holder = claim.kind === "conflict" ? holderOf(held) : null;
  const result = claim.kind === "appended" ? null : await journal.find("result", runId, taskId, epoch);
  const first = afterClaim(holder, delivery.deliveries, result !== null);
  if (first.kind === "look") return settled(job, held, await looked(job, first.holder));
  if (first.kind !== "work") return settled(job, held, first);
  const end = job.notes.begin(attempt);
  try {
    ports.progress(`taken by ${associate} (attempt ${epoch})`);
    return await settled(job, held, afterWork(await worked(job), associate));
  } finally {
    end();
  }
}

function settled(job: Settling, claim: StoredRecord, next: Settlement): Promise<Outcome> | Outcome {
  return next.kind === "record" ? record(job, claim, next.body) : next;
}

async function looked(
  { attempt, delivery, identity, holders, log }: Settling,
  holder: ClaimBody,
): Promise<Settlement> {
  const { runId, taskId, epoch } = attempt;
  const seen = await holders.look(holder, attempt, delivery.signal);
  log.info({ run: runId, task: taskId, epoch, holder: holder.associate, seen }, "looked for the holder");
  return afterLook(seen, holder.associate, identity.associate);
}

function holderOf(record: StoredRecord): ClaimBody {
  return record.type === "claim" ? record.body : { associate: "unknown", incarnation: "unknown" };
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

/** Records the result of an attempt, or hands the dispatch back when the result cannot be stored. */
async function record(job: Settling, claim: StoredRecord, body: ResultBody): Promise<Outcome> {
  const { attempt, journal, delivery, identity, ports, log } = job;
  const { runId, taskId, epoch } = attempt;
  const giveUp = new AbortController();
  const onShutdown = (): void => void setTimeout(() => giveUp.abort(), RESULT_GRACE_MS).unref();
  const stay = onAbort(delivery.signal, onShutdown);
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
    stay();
  }
}
