/** Memory, processor time and open files of processes, from /proc. */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

export interface Usage {
  /** Pages in memory, each counted as often as processes share it. */
  readonly rssMb: number;
  /** Pages in memory, each divided among the processes that share it, those of others included. */
  readonly pssMb: number;
  /** Pages that no other process has. */
  readonly privateMb: number;
  /** Processor time since the start, user and system. */
  readonly cpuS: number;
  readonly descriptors: number;
}

export function usageOf(pid: number): Usage {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const mb = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(rollup)?.[1] ?? 0) / 1024;
  return {
    rssMb: mb("Rss"),
    pssMb: mb("Pss"),
    privateMb: mb("Private_Clean") + mb("Private_Dirty"),
    cpuS: cpuOf(pid),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Exact to the nanosecond, unlike /proc/<pid>/stat, which charges whole clock ticks. A thread that ended is not counted. */
function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ofThread = (thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return threads.reduce((sum, thread) => sum + ofThread(thread), 0) / 1e9;
}

export function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** A process and everything below it. */
export function familyOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

/** The role of a service, otherwise the program. */
export function nameOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").filter(Boolean);
  if (words.some((word) => word.endsWith("serve.js"))) return words.at(-1) ?? "";
  if (words.includes("dev")) return "supervisor";
  const script = words.find((word) => /\.m?js$/.test(word));
  return basename(script ?? words[0] ?? String(pid));
}

/**
 * What all of them take together: their own pages, and the largest of their shared parts once. The shared parts are the same node,
 * so this is what the machine has less of if nothing else runs node.
 */
export function togetherMb(usages: readonly Usage[]): number {
  const own = usages.reduce((sum, { privateMb }) => sum + privateMb, 0);
  return own + Math.max(0, ...usages.map(({ rssMb, privateMb }) => rssMb - privateMb));
}
