/**
 * Watches over one attempt while it runs, and says when it has to stop and why.
 *
 * Lifecycle: watching -> stopped (the signal aborted, with the reason) or released (the attempt ended by itself).
 *
 * Invariants:
 *   A3 A canceled run stops: the `cancel` record is looked for every limits.claimHeartbeatMs, and at once on a hint.
 *      A run that was closed counts as well: nobody waits for the attempt any more.
 *   A4 Self-fencing: without a proof that the server heard from us for longer than the ack wait, the attempt stops,
 *      because its dispatch may have been delivered to somebody else. A process that was stopped (SIGSTOP) and
 *      goes on finds that out at its first tick, before it does anything else.
 */
import { limits, subjects } from "@antiphon/contracts";
import type { ControlHint } from "@antiphon/contracts";
import { listen } from "@antiphon/runtime";
import type { Bus, Journal, Logger } from "@antiphon/runtime";
import { isLost, proven } from "./fence.ts";
import type { Fence } from "./fence.ts";
import type { StopReason } from "../attempt/work.ts";

export interface RunWatch {
  /** Aborts with a StopReason. */
  readonly signal: AbortSignal;
  stop(why: StopReason): void;
  /** Ends the watch without stopping anything. */
  release(): void;
}

const TICK_MS = 250;

/** Whether a run still wants results. */
export async function isOver(journal: Journal, runId: string): Promise<boolean> {
  return (await journal.read(runId, ["cancel", "closed"])).length > 0;
}

export function watchRun(
  bus: Bus,
  journal: Journal,
  attempt: { runId: string; taskId: string; epoch: number },
  log: Logger,
): RunWatch {
  const { runId, taskId, epoch } = attempt;
  const abort = new AbortController();
  let fence: Fence = { ackWaitMs: limits.associateAckWaitMs, provenAtMs: performance.now() };
  let askedAtMs = fence.provenAtMs;
  let asking = false;

  const release = (): void => {
    clearInterval(timer);
    stopListening();
  };
  const stop = (why: StopReason): void => {
    if (abort.signal.aborted) return;
    release();
    log.info({ run: runId, why }, "attempt stops");
    abort.abort(why);
  };
  const ask = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    askedAtMs = performance.now();
    try {
      const sentAtMs = askedAtMs;
      const [over, result] = await Promise.all([
        isOver(journal, runId),
        journal.find("result", runId, taskId, epoch),
      ]);
      fence = proven(fence, sentAtMs); // A4
      if (over) stop("canceled"); // A3
      if (result !== null) stop("fenced"); // A4: somebody ended the attempt, for example because its time was over
    } catch (error) {
      log.debug({ err: error, run: runId }, "no word from the journal");
    } finally {
      asking = false;
    }
  };
  const tick = (): void => {
    const now = performance.now();
    if (isLost(fence, now))
      stop("fenced"); // A4: before anything else
    else if (now - askedAtMs >= limits.claimHeartbeatMs) void ask();
  };
  const timer = setInterval(tick, TICK_MS);
  const stopListening = listen<ControlHint>(bus, subjects.control(runId), (hint) => {
    if (hint.kind === "cancel") void ask(); // A3: a hint, so the record decides
  });
  return { signal: abort.signal, stop, release };
}
