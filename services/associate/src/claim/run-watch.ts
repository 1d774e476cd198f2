/**
 * Watches one attempt while it runs, and stops it when its run is over or its claim may be lost. A `cancel` or `closed`
 * record is looked for every limits.claimHeartbeatMs, and at once on a hint.
 *
 * Lifecycle: watching -> stopped (the signal aborted, with the reason) | released (the attempt ended by itself).
 * A run that is over gives its attempts to nobody else, so an attempt that is stopped for it has limits.canceledReportMs to
 * store what it has left; any other stop gives up at once.
 *
 * Because the server gives a dispatch to another Associate when it gets no heartbeat for the ack wait, an attempt stops
 * when its newest proof of contact is older than that, also when the process resumes after a SIGSTOP (associate/A1).
 */
import { limits, type StoredRecord } from "@antiphon/contracts";
import { onAbort, SharedInterval } from "@antiphon/runtime";
import type { Journal, Logger } from "@antiphon/runtime";
import type { CancelHints } from "./cancel-hints.ts";
import { isLost, proven } from "./fence.ts";
import type { Fence } from "./fence.ts";
import type { Stopped, StopReason } from "../attempt/attempt-end.ts";

export interface RunWatch {
  /** Aborts with a StopReason. */
  readonly signal: AbortSignal;
  /** Aborts when nothing of the attempt may be stored any more. */
  readonly giveUp: AbortSignal;
  /** Resolves when the process shuts down, or the time after a cancel is over; nobody waits for the attempt then. */
  readonly left: Promise<Stopped>;
  /** Ends the watch without stopping the attempt. */
  release(): void;
}

const TICK_MS = 250;

/** What the watches of all attempts of a process share. */
export interface Lookout {
  readonly hints: CancelHints;
  readonly ticks: SharedInterval;
}

export function lookout(hints: CancelHints): Lookout {
  return { hints, ticks: new SharedInterval(TICK_MS) };
}

/** Whether a run was canceled or closed. */
export async function isOver(journal: Journal, runId: string): Promise<boolean> {
  return (await journal.read(runId, ["cancel", "closed"])).length > 0;
}

export function watchRun(
  { hints, ticks }: Lookout,
  journal: Journal,
  attempt: { runId: string; taskId: string; epoch: number },
  shutdown: AbortSignal,
  log: Logger,
  onMessages: ((records: readonly StoredRecord[]) => void) | null = null,
): RunWatch {
  const { runId, taskId, epoch } = attempt;
  const abort = new AbortController();
  const giving = new AbortController();
  let reporting: NodeJS.Timeout | null = null;
  let fence: Fence = { ackWaitMs: limits.associateAckWaitMs, provenAtMs: performance.now() };
  let askedAtMs = fence.provenAtMs;
  let asking = false;
  let leave: (end: Stopped) => void = () => undefined;
  const left = new Promise<Stopped>((resolve) => (leave = resolve));

  const unwatch = (): void => {
    stopTicking();
    stopListening();
  };
  const release = (): void => {
    unwatch();
    stay();
    if (reporting !== null) clearTimeout(reporting);
  };
  const giveUp = (why: StopReason): void => {
    release();
    giving.abort(why);
    if (why !== "fenced") leave({ kind: "stopped", why });
  };
  const stop = (why: StopReason): void => {
    if (abort.signal.aborted) return;
    unwatch();
    log.info({ run: runId, why }, "attempt stops");
    if (why === "canceled") reporting = setTimeout(() => giveUp(why), limits.canceledReportMs);
    else giveUp(why);
    abort.abort(why);
  };
  const ask = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    askedAtMs = performance.now();
    try {
      const sentAtMs = askedAtMs;
      const [said, result] = await Promise.all([
        journal.read(runId, onMessages === null ? ["cancel", "closed"] : ["cancel", "closed", "message"]),
        journal.find("result", runId, taskId, epoch),
      ]);
      fence = proven(fence, sentAtMs); // associate/A1
      if (said.some(({ type }) => type !== "message")) stop("canceled");
      else onMessages?.(said);
      // associate/A1: another process recorded the result, for example because the claim expired.
      if (result !== null) stop("fenced");
    } catch (error) {
      log.debug({ err: error, run: runId }, "could not read the journal");
    } finally {
      asking = false;
    }
  };
  const tick = (): void => {
    const now = performance.now();
    if (isLost(fence, now))
      stop("fenced"); // associate/A1: checked before any other action
    else if (now - askedAtMs >= limits.claimHeartbeatMs) void ask();
  };
  const stopTicking = ticks.add(tick);
  const stopListening = hints.on(runId, () => void ask()); // only a hint: the record decides
  const drain = (): void => (abort.signal.aborted ? giveUp("canceled") : stop("draining"));
  const stay = onAbort(shutdown, drain);
  if (shutdown.aborted) drain();
  return { signal: abort.signal, giveUp: giving.signal, left, release };
}
