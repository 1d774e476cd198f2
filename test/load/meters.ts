/** Measures the processes: memory and CPU from /proc, fsyncs from the kernel's own tracepoint. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

export interface ProcessCost {
  readonly name: string;
  readonly cpuS: number;
  readonly rssMb: number;
  /** Its peak. */
  readonly peakMb: number;
}

const TICKS_PER_S = 100;

export class ProcessMeter {
  readonly #pids: () => ReadonlyMap<string, number>;
  readonly #before = new Map<number, number>();

  constructor(pids: () => ReadonlyMap<string, number>) {
    this.#pids = pids;
    for (const pid of pids().values()) this.#before.set(pid, cpuTicks(pid));
  }

  costs(): ProcessCost[] {
    return [...this.#pids()].map(([name, pid]) => ({
      name,
      cpuS: (cpuTicks(pid) - (this.#before.get(pid) ?? 0)) / TICKS_PER_S,
      ...memory(pid),
    }));
  }
}

/** Of all its threads. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function memory(pid: number): { rssMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (field: string): number =>
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? "0") / 1024;
  return { rssMb: mb("VmRSS"), peakMb: mb("VmHWM") };
}

/**
 * Counts `fsync` of some processes by perf's tracepoint: a counter in the kernel, so it costs next to nothing (strace
 * stops the process at every call). If perf may not be used, the result is the reason.
 */
export class FsyncCounter {
  readonly #perf: ChildProcess;
  #said = "";
  #failed: string | null = null;

  constructor(pids: readonly number[]) {
    this.#perf = spawn("perf", ["stat", "-x", ",", "-e", "syscalls:sys_enter_fsync", "-p", pids.join(",")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#perf.stderr?.on("data", (data: Buffer) => (this.#said += data.toString()));
    this.#perf.once("error", (error) => (this.#failed = error.message));
  }

  /** The count, or the reason why there is none. */
  async stop(): Promise<number | string> {
    if (this.#failed !== null) return `perf: ${this.#failed}`;
    if (this.#perf.exitCode === null) {
      const gone = once(this.#perf, "exit");
      this.#perf.kill("SIGINT");
      await gone;
    }
    const count = /^(\d+),[^\n]*sys_enter_fsync/m.exec(this.#said)?.[1];
    return count === undefined
      ? `perf: ${this.#said.trim().split("\n")[0] ?? "said nothing"}`
      : Number(count);
  }
}
