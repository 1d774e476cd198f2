/** Measures bounded quantities during the faults: memory of each process, size of the store, open runs. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { limits } from "@antiphon/contracts";
import type { BoundSample } from "../checker/history.ts";
import type { System } from "./system.ts";

const EVERY_MS = 2_000;
const MiB = 1024 * 1024;
/** The bound of a service process; under load they stay below a third of it. */
const SERVICE_MIB = 512;
const SERVER_MIB = 1_024;
const STORE_MIB = 1_024;

export interface BoundsWitness {
  readonly samples: BoundSample[];
  /** The highest value of each quantity, for the table. */
  peaks(): Map<string, BoundSample>;
  stop(): void;
}

export function watchBounds(system: System, openRuns: () => number): BoundsWitness {
  const samples: BoundSample[] = [];
  const measure = (): void => {
    const atMs = Date.now();
    for (const victim of system.victims) {
      const mib = residentMib(victim.pid);
      if (mib !== null)
        samples.push({
          atMs,
          what: `${victim.spec.role} memory`,
          value: mib,
          bound: SERVICE_MIB,
          unit: "MiB",
        });
    }
    for (const pid of system.broker.pids()) {
      const mib = residentMib(pid);
      if (mib !== null)
        samples.push({ atMs, what: "nats-server memory", value: mib, bound: SERVER_MIB, unit: "MiB" });
    }
    const store = Math.round(system.broker.dirs.reduce((sum, dir) => sum + sizeOf(dir), 0) / MiB);
    samples.push({ atMs, what: "store", value: store, bound: STORE_MIB, unit: "MiB" });
    samples.push({ atMs, what: "open runs", value: openRuns(), bound: limits.openRuns, unit: "runs" });
  };
  const timer = setInterval(measure, EVERY_MS);
  return {
    samples,
    peaks: () => {
      const peaks = new Map<string, BoundSample>();
      for (const sample of samples) {
        if (sample.value > (peaks.get(sample.what)?.value ?? -1)) peaks.set(sample.what, sample);
      }
      return peaks;
    },
    stop: () => clearInterval(timer),
  };
}

/** Null: the process is not running now. */
function residentMib(pid: number): number | null {
  try {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return line === null ? null : Math.round(Number(line[1]) / 1024);
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code === "ENOENT" ||
      (error as NodeJS.ErrnoException).code === "ESRCH"
    )
      return null;
    throw error;
  }
}

function sizeOf(dir: string): number {
  return unlessGone(() => {
    let bytes = 0;
    for (const entry of readdirSync(dir, { recursive: true }))
      bytes += unlessGone(() => statSync(join(dir, String(entry))).size);
    return bytes;
  });
}

/** 0 for a file that was removed meanwhile, or whose disk lost its power (EIO). */
function unlessGone(measure: () => number): number {
  try {
    return measure();
  } catch (error) {
    if (!["ENOENT", "EIO"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return 0;
  }
}
