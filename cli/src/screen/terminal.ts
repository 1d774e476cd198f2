// The two output streams of this process.

export type Stream = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

export interface Terminal {
  readonly stdout: Stream;
  readonly stderr: Stream;
}

/** Called once in a process. `antiphon runs | head` closes our output early, which is no fault. */
export function processTerminal(): Terminal {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  return process;
}
