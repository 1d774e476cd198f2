/**
 * Errors of file system calls that say that the machine wants something, as git-process.ts finds them in git's messages:
 * no room, a read-only or broken disk, no memory or open files. They pass when a person mends the machine.
 */
import { AntiphonError } from "@antiphon/contracts";

/** Node has no name for an exhausted quota (errno 122 on Linux, 69 on macOS). */
const WANTING: ReadonlySet<unknown> = new Set([
  ...["EAGAIN", "EDQUOT", "EIO", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EROFS", "ESTALE"],
  ...["Unknown system error -122", "Unknown system error -69"],
]);

export function isDiskFault(thrown: unknown): boolean {
  return (
    thrown instanceof Error && "syscall" in thrown && WANTING.has((thrown as NodeJS.ErrnoException).code)
  );
}

/** git/G2: the error to throw instead. Other errors are unchanged. */
export function asInterrupted(thrown: unknown): unknown {
  if (!isDiskFault(thrown)) return thrown;
  return new AntiphonError("ANT_GIT_INTERRUPTED", (thrown as Error).message, { cause: thrown });
}

/** Runs file system calls, whose faults of the machine become ANT_GIT_INTERRUPTED. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw asInterrupted(thrown);
  }
}
