// The events of a run as the gateway tells them, over connections that may be lost.
import { setTimeout as sleep } from "node:timers/promises";
import { urlOf, type RunRecord } from "@antiphon/client";
import { authorization } from "../config.ts";
import { Failure } from "../failure.ts";
import { isOk, refusal, unreachable } from "./gateway-refusal.ts";
import type { HttpPort } from "./http-exchange.ts";
import { SseParser } from "./sse-parser.ts";

export interface LiveOutput {
  readonly taskId: string | null;
  readonly stream: string;
  readonly epoch: number;
  readonly text: string;
}
/** What the event stream carries besides records: nothing, progress messages, or also the output of commands. */
export type LiveLogs = "none" | "progress" | "all";
export type RunEvent =
  { kind: "record"; record: RunRecord } | { kind: "output"; output: LiveOutput } | { kind: "reconnecting" };

export interface Following {
  readonly afterSeq: number;
  readonly logs: LiveLogs;
  readonly signal: AbortSignal;
}

interface Gateway {
  readonly url: string;
  readonly token: string | null;
  readonly http: HttpPort;
}

const SILENCE_MS = 30_000; // The gateway sends a heartbeat every 10 s.
const GIVE_UP_MS = 60_000;

/**
 * The records of a run after `afterSeq`, until the run is closed or `signal` fires. After a lost connection it
 * resumes after the last record; it gives up after a minute without a gateway.
 */
export async function* runStream(
  gateway: Gateway,
  runId: string,
  { afterSeq: first, logs, signal }: Following,
): AsyncGenerator<RunEvent> {
  let afterSeq = first;
  let lostAt: number | null = null;
  while (!signal.aborted) {
    try {
      for await (const event of connection(gateway, runId, { afterSeq, logs, signal })) {
        lostAt = null;
        yield event;
        if (event.kind !== "record") continue;
        afterSeq = event.record.seq;
        if (event.record.type === "closed") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const failure = Failure.from(error);
      const mayPass = failure.code === "ANT_GATEWAY_UNREACHABLE" || failure.data.httpStatus === 503;
      if (!mayPass || (lostAt !== null && Date.now() - lostAt > GIVE_UP_MS)) throw failure;
    }
    if (lostAt === null) yield { kind: "reconnecting" };
    lostAt ??= Date.now();
    await sleep(500);
  }
}

/** The events of one connection, until it is lost or silent. */
async function* connection(
  gateway: Gateway,
  runId: string,
  { afterSeq, logs, signal }: Following,
): AsyncGenerator<RunEvent> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const asked = { none: undefined, progress: "progress", all: "1" }[logs];
    const url = gateway.url + urlOf("/runs/{id}/events", { id: runId, logs: asked });
    const headers = {
      accept: "text/event-stream",
      "last-event-id": String(afterSeq),
      ...authorization(gateway.token),
    };
    const body = await gateway.http.open(url, headers, AbortSignal.any([signal, silence.signal]));
    const status = body.statusCode ?? 0;
    if (!isOk(status)) throw refusal(url, status, await textOf(body));
    const parser = new SseParser();
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      for (const event of parser.push(decoder.decode(chunk as Uint8Array, { stream: true }))) {
        const data: unknown = JSON.parse(event.data);
        if (event.event === "log") yield { kind: "output", output: data as LiveOutput };
        else yield { kind: "record", record: data as RunRecord };
      }
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(gateway.url, { acts: false }, error);
  } finally {
    clearTimeout(timer);
  }
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
