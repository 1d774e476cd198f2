/** Runs programs of the checkout as a user would. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { patient } from "../../support/patience.ts";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const ANTIPHON = `${ROOT}bin/antiphon.mjs`;

interface Build {
  ensureBuilt: (root: string) => Promise<string>;
  lease: (build: string) => () => void;
}
let built: Promise<string> | null = null;

/** How to start the `antiphon` of this checkout, whose sources no longer change: the words before its own. */
export async function builtAntiphon(): Promise<readonly string[]> {
  built ??= (async () => {
    // @ts-expect-error Plain JavaScript without a declaration.
    const { ensureBuilt, lease } = (await import("../../../scripts/build.mjs")) as Build;
    const bundle = await ensureBuilt(ROOT);
    lease(bundle); // Until this worker is gone.
    return bundle;
  })();
  return [`${ROOT}test/support/built-antiphon.mjs`, await built];
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunProgram {
  env?: Record<string, string>;
  stdin?: string | Buffer;
  cwd?: string;
  timeoutMs?: number;
}

export function start(command: string, args: readonly string[], options: RunProgram = {}): ChildProcess {
  const env = { ...process.env, NO_COLOR: "1", ...options.env };
  const stdin = options.stdin === undefined ? "ignore" : "pipe";
  const child = spawn(command, [...args], { env, cwd: options.cwd ?? ROOT, stdio: [stdin, "pipe", "pipe"] });
  child.stdin?.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error; // A program may end without reading all it was given.
  });
  return child;
}

export async function run(
  command: string,
  args: readonly string[],
  options: RunProgram = {},
): Promise<Ended> {
  const child = start(command, args, options);
  child.stdin?.end(options.stdin);
  const timer = setTimeout(() => child.kill("SIGKILL"), patient(options.timeoutMs ?? 90_000));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const code = child.exitCode ?? (await exitOf(child));
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** The exit code; null if a signal ended the program. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

async function text(stream: NodeJS.ReadableStream | null): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream ?? []) parts.push(Buffer.from(part as Buffer));
  return Buffer.concat(parts).toString();
}

/** Polls until the answer is not null; after the deadline it throws with the name of the awaited condition. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | null> | T | null,
  withinMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + patient(withinMs);
  for (;;) {
    const found = await probe();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
