/** One run of a program, regardless of who starts it: this process, or the launcher (launcher.ts). */
import { spawn } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

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

export interface StreamOrder extends Omit<ProcessOrder, "stdin" | "onOutput"> {
  readonly input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

export interface StreamedRun extends ProcessRun {
  /** The program waits while nobody reads on. */
  readonly output: AsyncIterable<Buffer>;
}

/**
 * Starts the program from this process, with input and output of any length. A source that throws ends the program, and
 * `ended` rejects with what it threw.
 */
export function runStreamed({ file, args, cwd, env, input, onError }: StreamOrder): StreamedRun {
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  let fault: { readonly thrown: unknown } | null = null;
  const exited = new Promise<ProcessEnd>((resolve, reject) => {
    child.on("error", reject);
    if (child.pid === undefined) return;
    child.stderr.on("data", onError);
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  const source = Readable.from(
    noticed(input, { onFault: (thrown) => (fault = { thrown }), gone: exited.then(nothing, nothing) }),
    { objectMode: false },
  );
  const fed = child.pid === undefined ? Promise.resolve() : pipeline(source, child.stdin);
  // A program that ends early breaks the pipe; its exit code tells the reason. A source that failed ends the program.
  const settled = fed.catch(() => fault !== null && child.kill("SIGKILL"));
  const ended = exited.then(async (end) => {
    await settled;
    if (fault !== null) throw fault.thrown;
    return end;
  });
  const output = child.pid === undefined ? Readable.from([]) : child.stdout;
  return { ended, output, kill: () => child.kill("SIGKILL") };
}

const nothing = (): void => undefined;

const WRITE_BYTES = 64 * 1024;

/**
 * The same bytes in pieces that are worth a write each. Only what their source throws is a fault: the program that they go to
 * may end early, which is thrown into this generator where it yields. A source that does not answer is left when the program is gone:
 * Node's streams wait for the end of their generator.
 */
async function* noticed(
  input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { onFault, gone }: { readonly onFault: (thrown: unknown) => void; readonly gone: Promise<void> },
): AsyncGenerator<Uint8Array> {
  const source = Symbol.asyncIterator in input ? input[Symbol.asyncIterator]() : input[Symbol.iterator]();
  let leave: () => void = nothing;
  void gone.then(() => leave());
  /** Null: the program is gone. */
  const next = (): Promise<IteratorResult<Uint8Array> | null> =>
    new Promise((resolve, reject) => {
      leave = () => resolve(null);
      Promise.resolve(source.next()).then(resolve, reject);
    });
  let [isOver, isLeft] = [false, false];
  let held: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      let step: IteratorResult<Uint8Array> | null;
      try {
        step = await next();
      } catch (thrown) {
        isOver = true;
        onFault(thrown);
        throw thrown;
      }
      isLeft = step === null;
      if (step === null) return;
      isOver = step.done === true;
      if (step.done === true) break;
      held.push(step.value);
      bytes += step.value.length;
      if (bytes < WRITE_BYTES) continue;
      yield held.length === 1 ? step.value : Buffer.concat(held, bytes);
      held = [];
      bytes = 0;
    }
    if (bytes > 0) yield Buffer.concat(held, bytes);
  } finally {
    // One that was left ends when it answers, if ever.
    if (isLeft) Promise.resolve(source.return?.()).catch(nothing);
    else if (!isOver) await source.return?.();
  }
}
