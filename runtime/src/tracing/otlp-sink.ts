import { setTimeout as sleep } from "node:timers/promises";
import type { Span } from "@antiphon/contracts/tracing/span";
import { backoffMs } from "../process/backoff.ts";
import type { Logger } from "../process/logger.ts";
import type { SpanSink } from "./live-tracer.ts";
import { otlpDocument, type Resource } from "./otlp-document.ts";

/**
 * Sends spans to an OpenTelemetry collector, in OTLP over HTTP with JSON. This is the whole protocol that is needed, so
 * turning traces on needs no SDK and no installation.
 *
 * Spans wait at most `everyMs`, and at most `mostWaiting` of them: a collector that is gone costs traces, and neither
 * memory nor time of a run. Lost spans are counted and logged.
 */
export interface OtlpPlace {
  /** `http://collector:4318`; `/v1/traces` is added. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

const everyMs = 1_000;
const mostInOne = 512;
const mostWaiting = 4_096;
const answerMs = 5_000;
const tries = 3;
const pauses = { baseMs: 250, capMs: 2_000 };
/** The answers after which the protocol says to try again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export class OtlpSink implements SpanSink {
  private readonly url: string;
  private readonly place: OtlpPlace;
  private readonly resource: Resource;
  private readonly log: Logger;
  private waiting: Span[] = [];
  private lost = 0;
  private timer: NodeJS.Timeout | null = null;
  private sending: Promise<void> = Promise.resolve();

  constructor(place: OtlpPlace, resource: Resource, log: Logger) {
    this.url = `${place.endpoint}${place.endpoint.endsWith("/") ? "" : "/"}v1/traces`;
    this.place = place;
    this.resource = resource;
    this.log = log;
  }

  add(spans: readonly Span[]): void {
    const room = Math.max(0, mostWaiting - this.waiting.length);
    this.waiting.push(...spans.slice(0, room));
    this.lost += Math.max(0, spans.length - room);
    if (this.waiting.length === 0) return;
    this.timer ??= setTimeout(() => this.flush(), everyMs).unref();
  }

  async close(): Promise<void> {
    this.flush();
    await this.sending;
  }

  private flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.sending = this.sending.then(() => this.sendAll());
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, mostInOne);
      const refusal = await this.send(batch);
      this.waiting.splice(0, batch.length);
      if (refusal !== null) {
        this.lost += batch.length;
        this.log.warn({ url: this.url, lost: this.lost, reason: refusal }, "traces are lost");
      }
    }
  }

  /** Null: the collector has them. */
  private async send(spans: readonly Span[]): Promise<string | null> {
    const body = JSON.stringify(otlpDocument(this.resource, spans));
    const headers = { "content-type": "application/json", ...this.place.headers };
    for (let attempt = 1; ; attempt += 1) {
      const reason = await this.post(body, headers);
      if (reason === null || !reason.isTemporary || attempt >= tries) return reason?.text ?? null;
      const pause = backoffMs(attempt - 1, pauses, Math.random());
      await sleep(pause, undefined, { ref: false });
    }
  }

  private async post(body: string, headers: Record<string, string>) {
    try {
      const signal = AbortSignal.timeout(answerMs);
      const answer = await fetch(this.url, { method: "POST", headers, body, signal });
      await answer.arrayBuffer(); // so that the connection can be used again
      if (answer.ok) return null;
      return { text: `HTTP ${answer.status}`, isTemporary: RETRYABLE.has(answer.status) };
    } catch (error) {
      const { cause, message } = error as Error;
      return { text: cause instanceof Error ? cause.message : message, isTemporary: true };
    }
  }
}
