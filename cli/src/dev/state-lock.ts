// A lock that allows one `antiphon dev` per state directory, because two nats-servers on one store would destroy it.
//
// The lock names its process by pid and start time, so neither a stale file after a crash nor a reused pid blocks
// the next start.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface LockHolder {
  readonly pid: number;
  readonly startedAt: string;
}

export type LockOutcome = { kind: "held"; release: () => void } | { kind: "taken"; by: LockHolder };

export function takeLock(path: string): LockOutcome {
  mkdirSync(dirname(path), { recursive: true });
  const mine: LockHolder = { pid: process.pid, startedAt: startTime(process.pid) };
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, JSON.stringify(mine));
  try {
    for (;;) {
      if (tryLink(aside, path)) return { kind: "held", release: () => release(path) };
      const holder = readHolder(path);
      if (holder !== null && isRunning(holder)) return { kind: "taken", by: holder };
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(aside, { force: true });
  }
}

/** link() fails if the name exists, and the file appears together with its content, so creating the lock is atomic. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function release(path: string): void {
  if (readHolder(path)?.pid === process.pid) rmSync(path, { force: true });
}

/** The living process that holds the lock, or null. */
export function lockHolder(path: string): LockHolder | null {
  const holder = readHolder(path);
  return holder !== null && isRunning(holder) ? holder : null;
}

function readHolder(path: string): LockHolder | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as LockHolder;
  } catch {
    return null; // Gone or unreadable: no process holds it.
  }
}

function isRunning(holder: LockHolder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return startTime(holder.pid) === holder.startedAt;
}

/** Linux shows a process's start time; on other systems the pid alone identifies the holder. */
function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
