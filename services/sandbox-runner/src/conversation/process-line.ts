/**
 * The line to a supervisor that is a child process of this one.
 *
 * `gone` resolves when the process has ended and the clean-up after it has succeeded; a clean-up that fails is repeated.
 * `remove` tries the clean-up at once and rejects with the reason when it fails.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { writeUntilDrained } from "./drained-write.ts";
import type { SupervisorLine } from "./supervisor-line.ts";

/** Pause between two tries to clean up. */
const CLEAN_AGAIN_MS = 500;

export interface ProcessLineOptions {
  readonly id: string;
  /** Ends whatever does not end with the process itself. */
  readonly remove: () => void;
  /**
   * Runs after the end of the process, or when its death left something behind. Rejects with the reason of a failure.
   * Never runs twice at once.
   */
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
    await untilDone(cleanUp);
    return status;
  });
  child.stdin.on("error", () => child.stdin.destroy()); // the process ended; `gone` reports it
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
      return cleanUp();
    },
    rename: () => Promise.resolve(), // no list shows a process by a name of ours
    hangUp: () => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}

/** Callers that ask while the work is under way share its result. */
function shared(work: () => Promise<void>): () => Promise<void> {
  let going: Promise<void> | null = null;
  return () => (going ??= work().finally(() => (going = null)));
}

/** Repeats the work until it succeeds. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, CLEAN_AGAIN_MS).unref());
    }
  }
}
