/**
 * Limits memory, processes and CPU by cgroup, version 1 or 2, for providers without an engine that does it. Where this
 * process may not make a cgroup there is none, and the provider reports that. A cgroup is made and limited before the
 * first process of the sandbox joins it.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ContainerLimits } from "../../ports.ts";

const ROOT = "/sys/fs/cgroup";
const CPU_PERIOD_US = 100_000;
const REMOVE_TRIES = 50;

export interface Cgroup {
  /** Directories that a process joins by writing its id to their cgroup.procs. */
  readonly directories: readonly string[];
  /** Directories that the sandbox may read: [outside, inside]. */
  readonly readable: readonly (readonly [string, string])[];
  /** Kills all processes in the cgroup. */
  kill(): void;
  remove(): Promise<void>;
}

/** Null where no cgroup can be made. */
export function makeCgroup(parent: string, name: string, limits: ContainerLimits): Cgroup | null {
  const made: string[] = [];
  try {
    const controllers = readdirSync(ROOT);
    if (controllers.includes("cgroup.controllers")) return version2(parent, name, limits, made);
    if (!["memory", "pids", "cpu"].every((one) => controllers.includes(one))) return null;
    return version1(parent, name, limits, made);
  } catch {
    for (const directory of made) removeIfEmpty(directory);
    return null;
  }
}

/** Removes the cgroups that a killed runner left behind. Those with processes in them stay. */
export function sweepCgroups(parent: string): void {
  for (const top of [ROOT, join(ROOT, "memory"), join(ROOT, "pids"), join(ROOT, "cpu")]) {
    const place = join(top, parent);
    for (const name of entries(place)) removeIfEmpty(join(place, name));
    removeIfEmpty(place);
  }
}

function version1(parent: string, name: string, limits: ContainerLimits, made: string[]): Cgroup {
  const at = (controller: string): string => {
    const directory = join(ROOT, controller, parent, name);
    mkdirSync(directory, { recursive: true });
    made.push(directory);
    return directory;
  };
  const [memory, pids, cpu] = [at("memory"), at("pids"), at("cpu")];
  set(memory, "memory.limit_in_bytes", limits.memoryBytes);
  setIfThere(memory, "memory.memsw.limit_in_bytes", limits.memoryBytes);
  set(pids, "pids.max", limits.pids);
  set(cpu, "cpu.cfs_period_us", CPU_PERIOD_US);
  set(cpu, "cpu.cfs_quota_us", Math.round(limits.cpus * CPU_PERIOD_US));
  return cgroup(made, [
    [memory, "/sys/fs/cgroup/memory"],
    [pids, "/sys/fs/cgroup/pids"],
  ]);
}

function version2(parent: string, name: string, limits: ContainerLimits, made: string[]): Cgroup {
  const above = join(ROOT, parent);
  mkdirSync(above, { recursive: true });
  for (const place of [ROOT, above]) set(place, "cgroup.subtree_control", "+memory +pids +cpu");
  const directory = join(above, name);
  mkdirSync(directory);
  made.push(directory);
  set(directory, "memory.max", limits.memoryBytes);
  setIfThere(directory, "memory.swap.max", 0);
  set(directory, "pids.max", limits.pids);
  set(directory, "cpu.max", `${Math.round(limits.cpus * CPU_PERIOD_US)} ${CPU_PERIOD_US}`);
  return cgroup(made, [[directory, "/sys/fs/cgroup"]]);
}

function cgroup(directories: readonly string[], readable: Cgroup["readable"]): Cgroup {
  return {
    directories,
    readable,
    kill: () => {
      for (const pid of processesIn(directories[0] ?? "")) {
        try {
          process.kill(pid, "SIGKILL");
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
        }
      }
    },
    remove: async () => {
      for (let attempt = 0; attempt < REMOVE_TRIES; attempt += 1) {
        if (directories.map(removeIfEmpty).every(Boolean)) return;
        await sleep(20); // its last processes are still being reaped
      }
    },
  };
}

function set(directory: string, file: string, value: string | number): void {
  writeFileSync(join(directory, file), String(value));
}

/** Kernels without swap accounting have no such file. */
function setIfThere(directory: string, file: string, value: number): void {
  if (entries(directory).includes(file)) set(directory, file, value);
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // no such directory, so it has no entries
  }
}

function processesIn(directory: string): number[] {
  try {
    return readFileSync(join(directory, "cgroup.procs"), "latin1").split("\n").filter(Boolean).map(Number);
  } catch {
    return []; // removed in the meantime
  }
}

function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
