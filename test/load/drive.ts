/** Starts runs, closed or open loop, and waits for each of them. */
import { setTimeout as pause } from "node:timers/promises";
import type { Completions } from "./completions.ts";
import type { StartRun } from "./intake.ts";

export interface Driven {
  /** Runs that were accepted. */
  readonly accepted: string[];
  /** From acceptance to completion, as the client sees it. */
  readonly completeMs: number[];
  /** From the planned start (in the open loop) to completion. */
  readonly responseMs: number[];
  /** Requests that were not accepted, with the reason. */
  readonly refused: string[];
  /** Accepted, and not complete at the deadline. */
  readonly unfinished: string[];
  wallMs: number;
}

export interface Load {
  readonly runs: number;
  readonly concurrency: number;
  readonly rate: number | null;
  readonly deadlineMs: number;
}

export async function drive(
  start: StartRun,
  completions: Completions,
  load: Load,
  progress: (done: number) => void,
): Promise<Driven> {
  const driven: Driven = {
    accepted: [],
    completeMs: [],
    responseMs: [],
    refused: [],
    unfinished: [],
    wallMs: 0,
  };
  let done = 0;
  const one = async (meantAtMs: number): Promise<void> => {
    let runId: string;
    try {
      runId = await start();
    } catch (error) {
      driven.refused.push(String(error));
      return;
    }
    const acceptedAt = performance.now();
    driven.accepted.push(runId);
    const completion = await completions.of(runId, load.deadlineMs);
    if (completion === null) {
      driven.unfinished.push(runId);
      return;
    }
    // The notice of its end can arrive before the answer that it was accepted.
    driven.completeMs.push(Math.max(0, completion.atMs - acceptedAt));
    driven.responseMs.push(completion.atMs - meantAtMs);
    done += 1;
  };
  const startedAt = performance.now();
  const ticker = setInterval(() => progress(done), 1000);
  await (load.rate === null ? closedLoop(one, load) : openLoop(one, load, load.rate));
  clearInterval(ticker);
  driven.wallMs = performance.now() - startedAt;
  return driven;
}

async function closedLoop(one: (meantAtMs: number) => Promise<void>, load: Load): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next++ < load.runs) await one(performance.now());
  };
  await Promise.all(Array.from({ length: Math.min(load.concurrency, load.runs) }, worker));
}

async function openLoop(one: (meantAtMs: number) => Promise<void>, load: Load, rate: number): Promise<void> {
  const startedAt = performance.now();
  const all: Promise<void>[] = [];
  for (let i = 0; i < load.runs; i += 1) {
    const meantAtMs = startedAt + (i * 1000) / rate;
    const early = meantAtMs - performance.now();
    if (early > 0) await pause(early);
    all.push(one(meantAtMs));
  }
  await Promise.all(all);
}
