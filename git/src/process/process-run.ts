/** One run of a program, regardless of who starts it: this process, or the launcher (launcher.ts). */
import { spawn } from "node:child_process";

export interface ProcessOrder {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Null: nothing to read. */
  readonly stdin: Buffer | string | null;
  readonly onOutput: (piece: Buffer) => void;
  readonly onError: (piece: Buffer) => void;
}

/** `code` is null when a signal ended it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ProcessRun {
  /** Ended, and all of its output was heard. Rejects with an ErrnoException when it could not be started. */
  readonly ended: Promise<ProcessEnd>;
  /** With SIGKILL. */
  kill(): void;
}

/** Starts the program from this process, which is copied for it. */
export function runHere({ file, args, cwd, env, stdin, onOutput, onError }: ProcessOrder): ProcessRun {
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    // Attach this first: without spare open files a child has no streams, and reports the error a moment later.
    child.on("error", reject);
    if (child.pid === undefined) return;
    child.stdout.on("data", onOutput);
    child.stderr.on("data", onError);
    // A program that ends before it has read all of its input breaks the pipe; its exit code tells the reason.
    child.stdin.on("error", () => child.stdin.destroy());
    child.stdin.end(stdin ?? "");
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  return { ended, kill: () => child.kill("SIGKILL") };
}
