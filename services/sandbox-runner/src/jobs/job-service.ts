/**
 * The sandbox-runner's part of the conversation: one streamed answer per request, and the requester's signs of life.
 *
 * Lifecycle of a job here: busy | accepted -> started -> (beat | step)* -> done.
 *
 * Invariants:
 *   N1  Every request ends with exactly one `busy` or `done`, or one coded error.
 *   N2  A job takes one of the runner's slots, counted from acceptance until the container is gone.
 *   N3  A requester that says nothing for limits.sandboxSilenceMs has gone: its container is killed.
 *   N4  Stopping hard cancels every job; no container is left to its own.
 *   N5  An outcome that may be answered with another try (anything but `completed`) is told when the job's container is
 *       gone. Where it could not be removed the outcome says so: ANT_SANDBOX_LEFT.
 */
import {
  AntiphonError,
  encode,
  limits,
  subjects,
  validate,
  type SandboxEvent,
  type SandboxOutcome,
  type SandboxRequest,
  type SandboxSignal,
} from "@antiphon/contracts";
import { listen, serveRpcStream, tell, type Bus, type Logger } from "@antiphon/runtime";
import { LiveLog } from "./live-log.ts";
import { runJob, type JobPorts } from "./job.ts";
import type { Slots } from "./slots.ts";

export interface ServiceOptions {
  readonly bus: Bus;
  readonly log: Logger;
  readonly slots: Slots;
  readonly ports: Omit<JobPorts, "onOutput" | "later">;
  /** Aborts when the service stops hard. */
  readonly signal: AbortSignal;
}

const BUSY_RETRY_MS = 500;

export class SandboxService {
  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  serve(): void {
    const { bus, log } = this.#options;
    serveRpcStream<unknown, SandboxEvent>(
      bus,
      subjects.sandboxRun,
      "sandbox-runner",
      (request, emit) => this.#answer(request, emit),
      { log, name: "sandbox-run" },
    );
  }

  async #answer(value: unknown, emit: (event: SandboxEvent) => void): Promise<void> {
    const checked = validate("SandboxRequest", value);
    if (!checked.ok) {
      const [first] = checked.errors;
      throw new AntiphonError(
        "ANT_SANDBOX_REFUSED",
        `${first?.path ?? ""}: ${first?.message ?? "not a request"}`,
      );
    }
    const request = checked.value;
    if (!this.#options.slots.take()) {
      emit({ kind: "busy", retryAfterMs: BUSY_RETRY_MS }); // N1, N2
      return;
    }
    const leaving: Promise<void>[] = [];
    try {
      const outcome = await this.#run(request, emit, leaving);
      emit({ kind: "done", result: this.#sendable(outcome) }); // N1
    } finally {
      void Promise.allSettled(leaving).then(() => {
        this.#options.slots.give(); // N2
      });
    }
  }

  async #run(
    request: SandboxRequest,
    emit: (event: SandboxEvent) => void,
    leaving: Promise<void>[],
  ): Promise<SandboxOutcome> {
    const { bus, log, ports, signal } = this.#options;
    const stop = new AbortController();
    const hard = (): void => {
      stop.abort("the runner stops"); // N4
    };
    signal.addEventListener("abort", hard, { once: true });
    if (signal.aborted) hard();
    let heardAt = performance.now();
    const unlisten = listen<SandboxSignal>(bus, subjects.sandboxJob(request.jobId), ({ kind }) => {
      heardAt = performance.now();
      if (kind === "cancel") stop.abort("canceled by the requester");
    });
    const beat = setInterval(() => {
      emit({ kind: "beat" });
      if (performance.now() - heardAt > limits.sandboxSilenceMs) stop.abort("the requester went silent"); // N3
    }, limits.sandboxBeatMs);
    const live = new LiveLog(request.epoch, (stream, line) => {
      tell(bus, subjects.log(request.run, request.task, stream), line);
    });
    const { run, task, epoch, jobId, purpose } = request;
    const jobLog = log.child({ run, task, epoch, jobId, purpose });
    try {
      const jobPorts: JobPorts = {
        ...ports,
        onOutput: (stream, piece) => {
          live.push(stream, piece);
        },
        later: (work) => leaving.push(work),
      };
      const outcome = await withoutContainer(await runJob(request, jobPorts, emit, stop.signal), leaving);
      jobLog.info(
        { outcome: outcome.outcome, code: outcome.code, bootMs: Math.round(outcome.meta.bootMs) },
        "job done",
      );
      return outcome;
    } finally {
      clearInterval(beat);
      live.flush();
      unlisten();
      signal.removeEventListener("abort", hard);
    }
  }

  /** An outcome that does not fit a message would never arrive: it becomes one that says so. */
  #sendable(outcome: SandboxOutcome): SandboxOutcome {
    const most = this.#options.bus.nc.info?.max_payload ?? 1024 * 1024;
    if (encode({ kind: "done", result: outcome }).length < most - 4096) return outcome;
    return {
      ...outcome,
      outcome: "error",
      code: "ANT_SANDBOX_OUTPUT",
      message: "the list of changes does not fit a message: too many or too long paths",
      steps: outcome.steps.slice(0, 16),
      changes: null,
    };
  }
}

/** N5: the outcome, once all that is `leaving` has gone or cannot go. */
export async function withoutContainer(
  outcome: SandboxOutcome,
  leaving: readonly Promise<void>[],
): Promise<SandboxOutcome> {
  if (outcome.outcome === "completed") return outcome;
  try {
    await Promise.all(leaving);
    return outcome;
  } catch (error) {
    const { detail } = AntiphonError.from(error);
    const message = `${outcome.message}; its container could not be removed: ${detail}`;
    return { ...outcome, outcome: "error", code: "ANT_SANDBOX_LEFT", message };
  }
}
