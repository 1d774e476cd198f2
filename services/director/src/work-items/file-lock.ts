/**
 * A lock on a file that the kernel holds (flock), so that it ends with its holder, however that dies, and is never taken from
 * a living one. Node has no call for it, so a program locks the file description that both share. The lock file is never
 * removed, because a second file of the same name could be locked as well.
 */
import { spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { AntiphonError } from "@antiphon/contracts";

/** The number of the lock file in the program that locks it. */
const FD = 3;
const WAIT_S = 10;
const PERL = `use Fcntl ":flock"; $SIG{ALRM} = sub { exit 1 }; alarm ${WAIT_S};
open(my $f, ">&=", ${FD}) or die $!; flock($f, LOCK_EX) or die $!;`;
/** Linux has the first, macOS the second. Both end with 1 if another one has held the lock all the time. */
const PROGRAMS: readonly (readonly [string, readonly string[]])[] = [
  ["flock", ["-x", "-w", String(WAIT_S), String(FD)]],
  ["perl", ["-e", PERL]],
];

/** @throws AntiphonError ANT_WORK_ITEMS_UNAVAILABLE if another one holds the lock for ten seconds */
export async function withFileLock<T>(path: string, body: () => Promise<T>): Promise<T> {
  const file = await open(path, "a", 0o600);
  try {
    await lock(file.fd, path);
    return await body();
  } finally {
    await file.close(); // Ends the lock.
  }
}

async function lock(fd: number, path: string): Promise<void> {
  for (const [program, args] of PROGRAMS) {
    const status = await statusOf(program, args, fd);
    if (status === 0) return;
    if (status === null) continue;
    const why =
      status === 1 ? `another process has held it for ${WAIT_S} s` : `${program} ended with ${status}`;
    throw new AntiphonError("ANT_WORK_ITEMS_UNAVAILABLE", `${path} cannot be locked: ${why}`);
  }
  const detail = `${path} cannot be locked: there is neither flock nor perl`;
  throw new AntiphonError("ANT_WORK_ITEMS_UNAVAILABLE", detail);
}

/** Null: there is no such program. */
function statusOf(program: string, args: readonly string[], fd: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], {
      stdio: ["ignore", "ignore", "ignore", fd],
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") resolve(null);
      else reject(error);
    });
    child.once("close", (code) => resolve(code ?? 2));
  });
}
