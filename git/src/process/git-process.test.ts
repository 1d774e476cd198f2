import { expect, test } from "vitest";
import { machineFault } from "./git-process.ts";

test.each([
  "fatal: write error: No space left on device",
  "fatal: Unable to create '/r/.git/index.lock': No space left on device.",
  "error: unable to append to '.git/logs/refs/heads/main': Disk quota exceeded",
  "fatal: mmap failed: Cannot allocate memory",
  "fatal: Out of memory, malloc failed (tried to allocate 4096 bytes)",
  "error: cannot fork() for index-pack: Resource temporarily unavailable",
  "error: file write error\nfatal: unable to create threaded lstat: Resource temporarily unavailable\n",
  "fatal: cannot update the ref 'refs/heads/x': unable to append to 'logs/refs/heads/x': Read-only file system",
  "error: unable to write file a.txt: Input/output error",
  "warning: unable to access '/r/.git/config': Input/output error\nfatal: unknown error occurred",
  "fatal: Unable to write new index file",
  "fatal: sha1 file '/r/.git/index.lock' write error. Out of diskspace",
  "fatal: could not open '.git/HEAD': Too many open files",
])("git/G2: %j is a fault of the machine", (stderr) => {
  expect(machineFault(stderr)).not.toBeNull();
});

test.each([
  "",
  "fatal: Not a valid object name",
  "error: patch failed: No space left on device:3",
  "error: No space left on device: patch does not apply",
  "error: Entry 'Cannot allocate memory' not uptodate. Cannot merge.",
])("%j is no fault of the machine, whatever its files are called", (stderr) => {
  expect(machineFault(stderr)).toBeNull();
});
