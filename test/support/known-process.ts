/**
 * A process, told from any other that gets its number later. Where many processes and threads start, a number is in use
 * again within a minute, so the number alone does not tell that a process was left running.
 */
import { readFileSync } from "node:fs";

export interface KnownProcess {
  readonly pid: number;
  /** When it started; "unknown" on a system without /proc. Null: it has ended. */
  readonly startTicks: string | null;
}

export function knownProcess(pid: number): KnownProcess {
  return { pid, startTicks: startTicksOf(pid) };
}

export function isAlive({ pid, startTicks }: KnownProcess): boolean {
  return startTicks !== null && startTicksOf(pid) === startTicks;
}

/** Null for a process that has ended, also when its parent has not waited for it yet. */
function startTicksOf(pid: number): string | null {
  if (process.platform !== "linux") return isThere(pid) ? "unknown" : null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command may contain spaces and brackets. The fields after the last ")" are fixed.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return null;
    throw error;
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}
