/** The line to a supervisor that is a child process of this one. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { writeUntilDrained } from "./drained-write.ts";
import type { SupervisorLine } from "./supervisor-line.ts";

export interface ProcessLineOptions {
  readonly id: string;
  /** For what does not end with the process itself. */
  readonly remove: () => void;
  /** After the end of the process. */
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
  const gone = ended.then(async (status) => {
    await options.cleanUp();
    return status;
  });
  child.stdin.on("error", () => child.stdin.destroy()); // it ended; `gone` tells
  return {
    id: options.id,
    gone,
    listen: (listener) => {
      child.stdout.on("data", (bytes: Buffer) => listener.stdout(bytes));
      child.stderr.on("data", (bytes: Buffer) => listener.stderr(bytes));
      child.stdout.on("end", () => listener.closed());
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
    remove: async () => {
      options.remove();
      return Promise.resolve();
    },
    rename: () => Promise.resolve(), // a process has no listing to be named in
    hangUp: () => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    },
  };
}
