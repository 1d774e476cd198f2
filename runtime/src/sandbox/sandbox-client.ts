import type { SandboxEvent, SandboxOutcome, SandboxRequest, SandboxSignal } from "@antiphon/contracts";
import { AntiphonError, HEADERS, MSGPACK, encode, isErrorCode, limits, subjects } from "@antiphon/contracts";
import { createInbox, type Msg } from "@nats-io/nats-core";
import type { JobAnswers } from "./job-answers.ts";
import type { JobMessages } from "./job-messages.ts";
import type { OutcomeTrust } from "./outcome-trust.ts";
import type { Bus } from "../nats/bus.ts";
import { systemClock } from "../process/clock.ts";
import { tell } from "../rpc/rpc.ts";
import { objectIn, subscribe } from "../nats/subscription.ts";
import { wireHeaders } from "../nats/wire-headers.ts";

/**
 * SandboxClient: runs one job on any runner with a free slot.
 *
 * Lifecycle of a job: asking -> (busy: wait, ask again) -> accepted -> ... events ... -> done | lost | canceled.
 *
 * While a job runs, the runner hears `alive` every limits.sandboxBeatMs; if this process dies, the runner notices the
 * silence and kills the container. A runner silent for limits.sandboxSilenceMs is lost (ANT_SANDBOX_RUNNER_LOST). The
 * job is not asked again here, because its container may still live (`mayLive` in the error's data); the next try
 * belongs to another attempt. An aborted signal cancels the job on the runner and ends the call within limits.cancelMs;
 * without the runner's confirmation the error says `mayLive` too. If `stop` aborts, only the command is stopped: the outcome
 * holds what it left, unless that takes longer than limits.cancelCollectMs.
 *
 * With `trust`, an outcome counts only under the signature of a trusted runner over this very request. After any other
 * answer the job is asked again, limits.sandboxForgeries times at most.
 */
export interface SandboxRunOptions {
  signal: AbortSignal;
  /** Ends the job with an outcome, if one can be had in a short time. */
  stop?: AbortSignal;
  onEvent?: (event: SandboxEvent) => void;
  /** Answers the questions of the job's commands. */
  answers?: JobAnswers;
  /** What people tell the job's commands. */
  messages?: JobMessages;
  /** How long to wait for a runner with a free slot before ANT_SANDBOX_BUSY. Default 10 minutes. */
  patienceMs?: number;
}

export interface SandboxClient {
  run(request: SandboxRequest, options: SandboxRunOptions): Promise<SandboxOutcome>;
}

interface Hears {
  readonly onEvent: SandboxRunOptions["onEvent"];
  readonly answers: JobAnswers | undefined;
  readonly messages: JobMessages | undefined;
}

type Asked =
  | { kind: "done"; outcome: SandboxOutcome }
  | { kind: "busy"; retryAfterMs: number }
  | { kind: "nobody" }
  | { kind: "refused"; code: string; message: string }
  | { kind: "lost" }
  | { kind: "forged" }
  | { kind: "canceled" };

/** If nobody serves the subject for this long, there is no runner; one that is starting would be ready by then. */
const nobodyMs = 20_000;

export interface SandboxClientOptions {
  requester: string;
  /** Absent: every outcome is believed. */
  trust?: OutcomeTrust;
}

export function sandboxClient(bus: Bus, options: SandboxClientOptions): SandboxClient {
  return {
    async run(request, { signal, stop, onEvent, answers, messages, patienceMs = 600_000 }) {
      const signals = { signal, stop: stop ?? signal };
      const hears = { onEvent, answers, messages };
      const askedAt = systemClock.now();
      let lastSeenAt = askedAt;
      for (let attempt = 0, forged = 0; ; attempt += 1) {
        if (signal.aborted || signals.stop.aborted) throw canceled(request);
        const asked = await ask(bus, request, options, signals, hears);
        const now = systemClock.now();
        switch (asked.kind) {
          case "done":
            return asked.outcome;
          case "forged":
            forged += 1;
            if (forged >= limits.sandboxForgeries)
              throw new AntiphonError("ANT_SANDBOX_FORGED", `${forged} answers to job ${request.jobId}`);
            break;
          case "canceled":
            throw canceled(request, { mayLive: true });
          case "lost":
            throw new AntiphonError(
              "ANT_SANDBOX_RUNNER_LOST",
              `the runner of job ${request.jobId} is silent`,
              { data: { jobId: request.jobId, mayLive: true } },
            );
          case "refused":
            throw new AntiphonError(
              isErrorCode(asked.code) ? asked.code : "ANT_SANDBOX_FAILED",
              asked.message,
            );
          case "busy":
            lastSeenAt = now;
            if (now - askedAt > patienceMs)
              throw new AntiphonError("ANT_SANDBOX_BUSY", "all runners are busy");
            await systemClock.sleep(asked.retryAfterMs * (0.75 + 0.5 * Math.random()), signals.stop);
            break;
          case "nobody":
            if (now - lastSeenAt > Math.min(nobodyMs, patienceMs)) {
              throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "no sandbox-runner is available");
            }
            await systemClock.sleep(Math.min(1000, 100 * 2 ** attempt), signals.stop);
            break;
        }
      }
    },
  };
}

function canceled(request: SandboxRequest, data: Record<string, unknown> = {}): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_CANCELED", `job ${request.jobId} was canceled`, { data });
}

function ask(
  bus: Bus,
  request: SandboxRequest,
  { requester, trust }: SandboxClientOptions,
  { signal, stop }: { readonly signal: AbortSignal; readonly stop: AbortSignal },
  { onEvent, answers, messages }: Hears,
): Promise<Asked> {
  return new Promise((resolve) => {
    const inbox = createInbox();
    const job = subjects.sandboxJob(request.jobId);
    const say = (message: SandboxSignal): void => tell(bus, job, message);
    let heardAt = performance.now();
    let cancelTimer: NodeJS.Timeout | null = null;
    let collectTimer: NodeJS.Timeout | null = null;

    const finish = (asked: Asked): void => {
      clearInterval(beat);
      if (cancelTimer !== null) clearTimeout(cancelTimer);
      if (collectTimer !== null) clearTimeout(collectTimer);
      signal.removeEventListener("abort", onAbort);
      stop.removeEventListener("abort", onStop);
      if (!subscription.isClosed()) subscription.unsubscribe();
      resolve(asked);
    };
    const onAbort = (): void => {
      say({ kind: "cancel" });
      cancelTimer ??= setTimeout(() => finish({ kind: "canceled" }), limits.cancelMs);
    };
    const onStop = (): void => {
      if (cancelTimer !== null) return;
      say({ kind: "cancel", collect: true });
      collectTimer ??= setTimeout(onAbort, limits.cancelCollectMs);
    };
    const hear = (message: Msg): void => {
      heardAt = performance.now();
      if (message.headers?.code === 503) return finish({ kind: "nobody" });
      const event = objectIn(message.data) as SandboxEvent | Refusal | null;
      if (event === null) return; // Only a sign of life.
      if ("ok" in event) return finish({ kind: "refused", code: event.code, message: event.message });
      try {
        onEvent?.(event);
        if (event.kind === "question") answers?.heard(event.number, say);
        if (event.kind === "told") messages?.told(event.number);
      } finally {
        // Also if the listener throws: the job has ended all the same.
        if (event.kind === "busy") finish({ kind: "busy", retryAfterMs: event.retryAfterMs });
        else if (event.kind === "done") {
          const { result, signature = "" } = event;
          if (trust?.believes(request, result, signature) !== false)
            finish({ kind: "done", outcome: result });
          else {
            say({ kind: "cancel" }); // to a true runner that may have the job as well
            finish({ kind: "forged" });
          }
        }
      }
    };
    const subscription = subscribe(bus.nc, inbox, hear, { log: bus.log });
    const beat = setInterval(() => {
      if (performance.now() - heardAt > limits.sandboxSilenceMs) return finish({ kind: "lost" });
      if (cancelTimer !== null) say({ kind: "cancel" });
      else if (collectTimer !== null) say({ kind: "cancel", collect: true });
      else {
        say({ kind: "alive" });
        messages?.repeat();
      }
    }, limits.sandboxBeatMs);
    messages?.reach((message) => say({ kind: "message", message }));
    signal.addEventListener("abort", onAbort, { once: true });
    if (stop !== signal) stop.addEventListener("abort", onStop, { once: true });
    const { run, task, epoch } = request;
    const trace = bus.records.traces.headerOf({ runId: run, taskId: task, epoch });
    const headers = wireHeaders({
      ...(trace === undefined ? {} : { [HEADERS.traceparent]: trace }),
      [HEADERS.contentType]: MSGPACK,
      [HEADERS.schema]: "SandboxRequest.v1",
      [HEADERS.run]: request.run,
      [HEADERS.task]: request.task,
      [HEADERS.epoch]: String(request.epoch),
      "Antiphon-Requester": requester,
    });
    try {
      bus.nc.publish(subjects.sandboxRun, encode(request), { reply: inbox, headers });
    } catch (error) {
      const { code, detail } = AntiphonError.from(error, "ANT_SANDBOX_REFUSED"); // the request exceeds the message size
      finish({ kind: "refused", code, message: detail });
    }
  });
}

type Refusal = { ok: false; code: string; message: string };
