/**
 * Follows a run by server-sent events until it is closed: the records without a gap and without a repetition, and the live
 * output. A lost connection is taken up after the last record seen (Last-Event-ID).
 *
 * It reads with `fetch` because EventSource cannot send a bearer token.
 */
import { urlOf } from "@antiphon/client";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { authorized, send } from "./gateway.ts";
import { Refusal } from "./refusal.ts";
import type { LiveOutput, RunRecord } from "./run-record.ts";

export interface RunListener {
  onRecords(records: readonly RunRecord[]): void;
  onOutput(output: LiveOutput): void;
  /** False while the connection is lost. */
  onConnected(connected: boolean): void;
  /** The gateway refuses the run, for example because there is none; nothing is tried again. */
  onRefused(refusal: Refusal): void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export async function followRun(runId: string, listener: RunListener, signal: AbortSignal): Promise<void> {
  const progress = { lastSeq: 0, closed: false };
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted && !progress.closed) {
    const before = progress.lastSeq;
    try {
      await readOnce(runId, listener, progress, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && error.status >= 400 && error.status < 500 && error.status !== 429)
        return listener.onRefused(error);
    }
    if (progress.closed || signal.aborted) return;
    listener.onConnected(false);
    pauseMs = progress.lastSeq > before ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    await pause(pauseMs, signal);
  }
}

async function readOnce(
  runId: string,
  listener: RunListener,
  progress: { lastSeq: number; closed: boolean },
  signal: AbortSignal,
): Promise<void> {
  const resume = progress.lastSeq === 0 ? {} : { "last-event-id": String(progress.lastSeq) };
  const headers = authorized({ accept: "text/event-stream", ...resume });
  const response = await send(urlOf("/runs/{id}/events", { id: runId, logs: 1 }), { headers, signal });
  listener.onConnected(true);
  let fresh: RunRecord[] = [];
  const parser = createParser({
    onEvent: (event: EventSourceMessage) => {
      if (event.event === "log") return listener.onOutput(JSON.parse(event.data) as LiveOutput);
      const record = JSON.parse(event.data) as RunRecord;
      if (record.seq <= progress.lastSeq) return;
      progress.lastSeq = record.seq;
      progress.closed ||= record.type === "closed";
      fresh.push(record);
    },
  });
  const text = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await text?.read();
    if (piece === undefined || piece.done) return;
    parser.feed(piece.value);
    if (fresh.length > 0) listener.onRecords(fresh);
    fresh = [];
  }
}

/** Ends early when the page no longer follows. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
