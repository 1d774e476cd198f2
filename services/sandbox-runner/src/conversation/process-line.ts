/**
 * The line to a supervisor that is a child process of this one.
 *
 * Invariants:
 *   L1  `gone` is said when the process has ended and what it leaves is cleaned up, however often that has to be tried;
 *       `remove` tries it now, and rejects with the reason when it fails (B4).
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { writeUntilDrained } from "./drained-write.ts";
import type { SupervisorLine } from "./supervisor-line.ts";

/** Between two tries to clean up. */
const CLEAN_AGAIN_MS = 500;

export interface ProcessLineOptions {
  readonly id: string;
  /** For what does not end with the process itself. */
  readonly remove: () => void;
  /** After the end of the process, or to end what its death did not. Rejects with why it could not; one at a time. */
  readonly cleanUp: () => Promise<void>;
}

export function processLine(
  child: ChildProcessWithoutNullStreams,
  options: ProcessLineOptions,
): SupervisorLine {
  const ended = new Promise<number>((resolve) => {
    child.once("exit", (code) => resolve(code ?? -1));
    child.once("error", () => resolve(-1));
  });
  const cleanUp = shared(options.cleanUp);
  const gone = ended.then(async (status) => {
    await untilDone(cleanUp); // L1
    return status;
  });
  child.stdin.on("error", () => child.stdin.destroy()); // it ended; `gone` tells
  return {
    id: options.id,
    gone,
    listen: (listener) => {
      child.stdout.on("data", (bytes: Buffer) => listener.stdout(bytes));
      child.stderr.on("data", (bytes: Buffer) => listener.stderr(bytes));
      for (const event of ["end", "close"]) child.stdout.on(event, () => listener.closed());
      child.on("error", (error) => listener.fault(error.message));
    },
    write: (bytes) => writeUntilDrained(child.stdin, bytes),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    kill: async () => {
      child.kill("SIGKILL");
      options.remove();
      return Promise.resolve();
    },
    remove: () => {
      options.remove();
      return cleanUp(); // L1
    },
    rename: () => Promise.resolve(), // a process has no listing to be named in
    hangUp: () => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}

/** Who asks while it is under way is told what became of that. */
function shared(work: () => Promise<void>): () => Promise<void> {
  let going: Promise<void> | null = null;
  return () => (going ??= work().finally(() => (going = null)));
}

/** While it cannot be done, there is nothing to tell yet. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, CLEAN_AGAIN_MS).unref());
    }
  }
}
