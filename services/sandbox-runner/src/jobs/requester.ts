/**
 * The requester of a job while it runs: its signs of life, its cancels, its answers and messages, and our beats to it.
 *
 * A job ends when its requester falls silent or cancels it, and when the runner stops. A cancel with `collect` stops the
 * command first, and the job reads what it left for limits.cancelCollectMs at most.
 */
import { limits, subjects, type SandboxEvent, type SandboxSignal } from "@antiphon/contracts";
import { listen, onAbort, type Bus } from "@antiphon/runtime";
import type { JobStops } from "./job.ts";
import type { JobPorts } from "./job-ports.ts";

const CANCELED = "canceled by the requester";

export interface Requester extends Pick<JobPorts, "onAnswer" | "onInbox"> {
  readonly stops: JobStops;
  /** The job is over. */
  leave(): void;
}

/** @param runnerStops ends every job */
export function attendRequester(
  bus: Bus,
  jobId: string,
  emit: (event: SandboxEvent) => void,
  runnerStops: AbortSignal,
): Requester {
  const stop = new AbortController();
  const halt = new AbortController();
  let heardAt = performance.now();
  let collecting: NodeJS.Timeout | null = null;
  let asking: Parameters<JobPorts["onAnswer"]>[0] | null = null;
  let inbox: Parameters<JobPorts["onInbox"]>[0] | null = null;
  const hard = (): void => stop.abort("the runner stops");
  const stay = onAbort(runnerStops, hard);
  if (runnerStops.aborted) hard();
  const cancel = (): void => stop.abort(CANCELED);
  const unlisten = listen<SandboxSignal>(bus, subjects.sandboxJob(jobId), (said) => {
    heardAt = performance.now();
    if (said.kind === "answer") return asking?.answer(said);
    if (said.kind === "message") return inbox?.tell(said.message);
    if (said.kind !== "cancel") return;
    if (said.collect !== true) return cancel();
    collecting ??= setTimeout(cancel, limits.cancelCollectMs);
    halt.abort(CANCELED);
  });
  const beat = setInterval(() => {
    emit({ kind: "beat" });
    asking?.repeat();
    if (performance.now() - heardAt > limits.sandboxSilenceMs) stop.abort("the requester went silent"); // sandbox-runner/S4
  }, limits.sandboxBeatMs);
  return {
    stops: { signal: stop.signal, halt: halt.signal },
    onAnswer: (one) => (asking = one),
    onInbox: (one) => (inbox = one),
    leave: () => {
      clearInterval(beat);
      if (collecting !== null) clearTimeout(collecting);
      unlisten();
      stay();
    },
  };
}
