/**
 * `--kill-every S`: kills one process at a time, at random (`kill -9`, the server included), starts it again, and
 * measures from the journal how long each run that was open at that moment waited for its next record.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Processes } from "./processes.ts";

export interface Kill {
  readonly name: string;
  readonly atMs: number;
}

export interface Recovery {
  readonly kills: readonly Kill[];
  /** The wait of each open run from a kill to its next record, if no other kill came in between. */
  readonly waitsMs: readonly number[];
  /** The number of runs that were hit again before their next record; their wait counts from the later kill. */
  readonly hitAgain: number;
  /** The longest wait of each kind of process. */
  readonly worst: Readonly<Record<string, number>>;
}

/** Kills until the signal aborts; returns the kills. */
export async function killEvery(seconds: number, processes: Processes, stop: AbortSignal): Promise<Kill[]> {
  const kills: Kill[] = [];
  for (;;) {
    await pause(seconds * 1000, undefined, { signal: stop }).catch(() => undefined);
    if (stop.aborted) return kills;
    const names = [...processes.pids().keys()];
    const name = names[Math.floor(Math.random() * names.length)] ?? "";
    kills.push({ name, atMs: Date.now() });
    await processes.replace(name);
  }
}

/** `times`: when each record of each run was stored, in order. The runs are over: the last one closed them. */
export function recoveryOf(kills: readonly Kill[], times: ReadonlyMap<string, readonly number[]>): Recovery {
  const waitsMs: number[] = [];
  let hitAgain = 0;
  const worst: Record<string, number> = {};
  for (const { name, atMs } of kills) {
    const kind = name.replace(/-\d+$/, "");
    for (const run of times.values()) {
      const next = run.find((time) => time > atMs);
      if (next === undefined || (run[0] ?? Infinity) > atMs) continue;
      if (kills.some((other) => other.atMs > atMs && other.atMs < next)) {
        hitAgain += 1;
        continue;
      }
      waitsMs.push(next - atMs);
      worst[kind] = Math.max(worst[kind] ?? 0, next - atMs);
    }
  }
  return { kills, waitsMs, hitAgain, worst };
}
