// A lock that allows one `antiphon dev` per state directory, because two nats-servers on one store would destroy it.
//
// The kernel holds it: an flock on the open lock file, which ends with the processes that have the file open, however
// they die. A program takes it on the file description that both share, because Node has no call for it, and exits. So
// there is no stale lock to judge or to steal: a lost owner, a reused pid and an empty or torn file change nothing. The
// file is never removed, because a second file of the same name could be locked as well.
//
// The nats-server has the file open too. If `antiphon dev` is killed, the lock ends only with the nats-server, so the next
// one waits until the store is closed. The text in the file only tells who holds the lock.
//
// Promises:
//   cli/C4 Because the kernel grants the lock to one open file, at most one process holds a state directory, in whatever
//     state earlier owners left it and however many start at once.
import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { childEnvironment } from "../config.ts";
import { Failure } from "../failure.ts";

export interface LockHolder {
  readonly pid: number;
  /** Of which boot and when, so that a reused pid is not taken for the holder. */
  readonly startedAt: string;
}

/** `file`: a child that has it open holds the lock as well. `by`: null when no living process is named. */
export type LockOutcome =
  { kind: "held"; file: number; release: () => void } | { kind: "taken"; by: LockHolder | null };

export interface LockOptions {
  /** How long a lock that names no living process is waited for. Default: 35 s. */
  readonly patienceMs?: number;
  /** Where the locking program is found. Default: PATH and the system's directories. */
  readonly searchPath?: string;
}

/** The number of the lock file in the program that locks it. */
const FD = 3;
const PERL = `use Fcntl ":flock"; open(my $f, ">&=", ${FD}) or die $!;
exit 0 if flock($f, LOCK_EX | LOCK_NB); exit 1 if $!{EWOULDBLOCK}; die $!;`;
/** Linux has the first, macOS the second. Both end with 1 when another process holds the lock. */
const PROGRAMS: readonly (readonly [string, readonly string[]])[] = [
  ["flock", ["-n", String(FD)]],
  ["perl", ["-e", PERL]],
];
const DEADLINE_MS = 10_000;
const POLL_MS = 50;
/** Longer than a nats-server takes to close its store. */
const PATIENCE_MS = 35_000;

/**
 * Waits while the lock is held and names no living process: its holder has not written its name yet, or was killed and
 * its nats-server is still closing the store.
 * @throws Failure ANT_DEV_LOCK_FAILED when no program can lock the file
 */
export async function takeLock(
  path: string,
  { patienceMs = PATIENCE_MS, searchPath = programPath() }: LockOptions = {},
): Promise<LockOutcome> {
  mkdirSync(dirname(path), { recursive: true });
  const until = Date.now() + patienceMs;
  // Not truncated, as it may name another holder. Node closes it in each child that is not given it.
  const file = openSync(path, "a");
  try {
    for (;;) {
      if (lockFile(file, path, searchPath)) break; // cli/C4
      const by = lockHolder(path);
      if (by !== null || Date.now() > until) {
        closeSync(file);
        return { kind: "taken", by };
      }
      await delay(POLL_MS);
    }
    const mine: LockHolder = { pid: process.pid, startedAt: startTime(process.pid) };
    ftruncateSync(file);
    writeSync(file, JSON.stringify(mine));
    return { kind: "held", file, release: () => release(file) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The user's PATH may leave out the places where a system has them. */
function programPath(): string {
  return [childEnvironment({})["PATH"] ?? "", "/usr/bin", "/bin"].join(":");
}

function lockFile(file: number, path: string, searchPath: string): boolean {
  for (const [program, args] of PROGRAMS) {
    const stdio = ["ignore", "ignore", "pipe", file] as const;
    const { error, status, stderr } = spawnSync(program, args, {
      stdio: [...stdio],
      env: { PATH: searchPath },
      encoding: "utf8",
      timeout: DEADLINE_MS,
    });
    if (error !== undefined && "code" in error && error.code === "ENOENT") continue;
    if (error === undefined && (status === 0 || status === 1)) return status === 0;
    throw new Failure(
      "ANT_DEV_LOCK_FAILED",
      `${program} could not lock ${path}: ${error?.message ?? stderr.trim()}`,
    );
  }
  throw new Failure("ANT_DEV_LOCK_FAILED", `${path} cannot be locked: there is neither flock nor perl`);
}

/** Closing the file ends the lock. The name goes first, because the next holder writes its own at once. */
function release(file: number): void {
  ftruncateSync(file);
  closeSync(file);
}

/** The living process that the lock names, or null. */
export function lockHolder(path: string): LockHolder | null {
  const holder = readHolder(path);
  return holder !== null && isRunning(holder) ? holder : null;
}

/** Null: there is no file, or its holder is about to write its name, or never did. */
function readHolder(path: string): LockHolder | null {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(path, "utf8")) as Partial<LockHolder>;
    return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof startedAt === "string"
      ? { pid: Number(pid), startedAt }
      : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
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

/**
 * Linux shows a process's start time, counted from the boot; on other systems the pid alone identifies the holder. Empty for one
 * that has ended and that its parent does not collect, as the first process of many containers never does.
 */
function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return "";
    const ticks = rest[18] ?? "";
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${ticks}`;
  } catch {
    return "";
  }
}
