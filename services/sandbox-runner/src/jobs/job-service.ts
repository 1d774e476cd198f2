/**
 * Serves jobs over the bus: one streamed answer per request, with the requester's signs of life.
 *
 * Lifecycle of a job here: busy | accepted -> started -> (beat | step)* -> done.
 *
 * Every request ends with exactly one `busy` or `done`, or with one coded error. A job takes one of the runner's slots
 * from its acceptance until its container is gone. A hard stop cancels every job and removes its container.
 *
 * An outcome that may lead to another try (anything but `completed`) is sent when the job's container is gone, so that
 * two tries never run at once. When the container could not be removed, the outcome says so: ANT_SANDBOX_LEFT.
 */
import {
  AntiphonError,
  encode,
  outcomeDigest,
  requestProblem,
  subjects,
  validate,
  type SandboxEvent,
  type SandboxOutcome,
  type SandboxRequest,
} from "@antiphon/contracts";
import { serveRpcStream, tell, type Bus, type Logger, type Meter } from "@antiphon/runtime";
import { LiveLog } from "./live-log.ts";
import { runJob } from "./job.ts";
import type { JobPorts } from "./job-ports.ts";
import { attendRequester } from "./requester.ts";
import { LEFT_BY_SPARE, type Slots } from "./slots.ts";

export interface ServiceOptions {
  readonly bus: Bus;
  readonly log: Logger;
  readonly slots: Slots;
  /** Signs the digest of a request and its outcome, so that a Director knows which runner answered. */
  readonly sign: (digest: string) => string;
  readonly meter: Meter;
  readonly ports: Omit<JobPorts, "onOutput" | "onAnswer" | "onInbox" | "progress" | "timed" | "later">;
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
    const { meter } = this.#options;
    if (!checked.ok) {
      const { code, detail } = requestProblem("SandboxRequest", value, checked.errors);
      if (code !== "ANT_RPC_NEWER") throw new AntiphonError("ANT_SANDBOX_REFUSED", detail);
      // A newer runner in the queue group can carry it out; this one would leave something out.
      this.#options.log.warn({ code, detail }, "left to a newer runner");
      emit({ kind: "busy", retryAfterMs: BUSY_RETRY_MS });
      return;
    }
    const request = checked.value;
    const { purpose } = request;
    if (!this.#options.slots.take(request.spare === true ? LEFT_BY_SPARE : 0)) {
      meter.count("antiphon_sandbox_jobs_total", { purpose, outcome: "busy", code: "none" });
      emit({ kind: "busy", retryAfterMs: BUSY_RETRY_MS });
      return;
    }
    const leaving: Promise<void>[] = [];
    const begun = performance.now();
    try {
      const outcome = await this.#run(request, emit, leaving);
      const result = this.#sendable(outcome);
      const labels = { purpose, outcome: result.outcome, code: result.code ?? "none" };
      meter.count("antiphon_sandbox_jobs_total", labels);
      meter.observe(
        "antiphon_sandbox_job_duration_seconds",
        { purpose },
        (performance.now() - begun) / 1_000,
      );
      emit({ kind: "done", result, signature: this.#options.sign(outcomeDigest(request, result)) });
    } finally {
      void Promise.allSettled(leaving).then(() => {
        this.#options.slots.give();
      });
    }
  }

  async #run(
    request: SandboxRequest,
    emit: (event: SandboxEvent) => void,
    leaving: Promise<void>[],
  ): Promise<SandboxOutcome> {
    const { bus, log, ports, signal } = this.#options;
    const requester = attendRequester(bus, request.jobId, emit, signal);
    const live = new LiveLog(request.epoch, (stream, line) => {
      tell(bus, subjects.log(request.run, request.task, stream), line);
    });
    const { run, task, epoch, jobId, purpose } = request;
    const trace = bus.tracer.outgoing()?.traceId;
    const jobLog = log.child({ run, task, epoch, jobId, purpose, ...(trace === undefined ? {} : { trace }) });
    try {
      const jobPorts: JobPorts = {
        ...ports,
        onAnswer: requester.onAnswer,
        onInbox: requester.onInbox,
        onOutput: (stream, piece) => live.push(stream, piece),
        progress: (text) => tell(bus, subjects.log(run, task, "progress"), { text, epoch }),
        timed: (name, work) => bus.tracer.span({ name }, () => work()),
        later: (work) => leaving.push(work),
      };
      const outcome = await withoutContainer(await runJob(request, jobPorts, emit, requester.stops), leaving);
      jobLog.info(
        { outcome: outcome.outcome, code: outcome.code, bootMs: Math.round(outcome.meta.bootMs) },
        "job done",
      );
      return outcome;
    } finally {
      live.flush();
      requester.leave();
    }
  }

  /** Replaces an outcome that is too large for a message, which would never arrive, by one that says so. */
  #sendable(outcome: SandboxOutcome): SandboxOutcome {
    const most = this.#options.bus.nc.info?.max_payload ?? 1024 * 1024;
    if (encode({ kind: "done", result: outcome }).length < most - 4096) return outcome;
    return {
      ...outcome,
      outcome: "error",
      code: "ANT_SANDBOX_OUTPUT",
      message: "the list of changes does not fit in a message: its paths are too many or too long",
      steps: outcome.steps.slice(0, 16),
      changes: null,
    };
  }
}

/** Waits until everything in `leaving` is gone or cannot be removed, then returns the outcome. */
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
