/**
 * Starts processes through a small program (launcher.pl), because Node copies itself for each process that it starts, and does
 * nothing else meanwhile: https://github.com/nodejs/node/issues/14917. A service of 100 MB starts git in 2 ms this way.
 *
 * Lifecycle: `startLauncher` once in a service -> ready -> gone with the service, because its stdin ends. Without it, or when it
 * died, processes are started from here. It is started again at the next process.
 *
 * The streams of a process are connections to a socket in a directory of this user alone; no byte of them passes the launcher.
 * Processes outlive a launcher that died, but how they ended is then unknown: they count as ended by a signal, once their
 * streams are closed.
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { gitSearchPath } from "../config.ts";
import { LaunchedRun } from "./launched-run.ts";
import { launcherProgram } from "./launcher-program.ts";
import { runHere, type ProcessOrder, type ProcessRun } from "./process-run.ts";

/** The letter of a stream and the number of its process. */
const GREETING_BYTES = 9;
const READY_MS = 10_000;
const LAST_ID = 99_999_999;

let current: Promise<Launcher> | null = null;
let ready: Launcher | null = null;

/** @throws Error when there is no perl; processes are then started from here */
export async function startLauncher(): Promise<void> {
  current ??= Launcher.open();
  try {
    ready = await current;
  } catch (error) {
    current = null;
    throw error;
  }
}

/** Runs a program, through the launcher if there is one. */
export function runProcess(order: ProcessOrder): ProcessRun {
  if (ready !== null && ready.isGone) {
    ready = current = null;
    startLauncher().catch(() => undefined); // Until there is one again, processes are started from here.
  }
  return ready === null ? runHere(order) : ready.run(order);
}

class Launcher {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #runs = new Map<number, LaunchedRun>();
  #lastId = 0;
  #answers = "";
  #gone = false;
  readonly #ready: Promise<void>;

  static async open(): Promise<Launcher> {
    const directory = await mkdtemp(join(tmpdir(), "antiphon-launcher-"));
    const server = createServer({ allowHalfOpen: true });
    const socket = join(directory, "s");
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(socket, resolve));
    const launcher = new Launcher(server, socket);
    try {
      await launcher.#ready;
      return launcher;
    } catch (error) {
      server.close();
      throw error;
    } finally {
      // A launcher that ends by itself removes the directory; this is for one that could not.
      server.once("close", () => void rm(directory, { recursive: true, force: true }));
    }
  }

  private constructor(server: Server, socket: string) {
    server.on("connection", (stream) => this.#greeted(stream));
    server.unref();
    this.#child = spawn("perl", ["-e", launcherProgram(), socket], {
      cwd: "/",
      env: { PATH: gitSearchPath() },
      stdio: "pipe",
    });
    this.#ready = this.#readiness();
    this.#child.once("close", () => {
      this.#gone = true;
      server.close();
      for (const run of this.#runs.values()) run.orphaned();
    });
    // A broken pipe is the end of the program, which is heard above.
    this.#child.stdin.on("error", () => this.#child.stdin.destroy());
    this.#child.stderr.resume();
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr])
      (stream as unknown as Socket).unref();
  }

  /** A run that waits for its answer keeps this process alive. */
  get #answersFrom(): Socket {
    return this.#child.stdout as unknown as Socket;
  }

  get isGone(): boolean {
    return this.#gone;
  }

  run(order: ProcessOrder): ProcessRun {
    const texts = [order.file, order.cwd, ...order.args, ...Object.values(order.env)];
    if (texts.some((text) => text?.includes("\0") === true))
      throw new TypeError("an argument or a variable of a process has a NUL in it");
    this.#lastId = this.#lastId === LAST_ID ? 1 : this.#lastId + 1;
    const id = this.#lastId;
    const run = new LaunchedRun(order, {
      wait: () => this.#order("wait", String(id)),
      kill: () => this.#order("kill", String(id)),
    });
    this.#runs.set(id, run);
    this.#answersFrom.ref();
    const forget = (): void => {
      this.#runs.delete(id);
      if (this.#runs.size === 0) this.#answersFrom.unref();
    };
    void run.ended.then(forget, forget);
    const streams = order.stdin === null ? "oe" : "ioe";
    const argv = [order.file, ...order.args];
    const variables = Object.entries(order.env).map(([name, value]) => `${name}=${value ?? ""}`);
    this.#order("start", String(id), streams, order.cwd, String(argv.length), ...argv, ...variables);
    return run;
  }

  #order(...fields: readonly string[]): void {
    if (this.#gone) return;
    const bytes = Buffer.from(fields.map((field) => `${field}\0`).join(""), "utf8");
    this.#child.stdin.write(
      Buffer.concat([Buffer.from(`${String(bytes.length).padStart(10, "0")}\n`), bytes]),
    );
  }

  #greeted(stream: Socket): void {
    let seen = Buffer.alloc(0);
    const hear = (piece: Buffer): void => {
      seen = Buffer.concat([seen, piece]);
      if (seen.length < GREETING_BYTES) return;
      stream.off("data", hear).pause();
      const greeting = seen.toString("latin1", 0, GREETING_BYTES);
      const run = this.#runs.get(Number(greeting.slice(1)));
      const rest = seen.subarray(GREETING_BYTES);
      if (run === undefined) stream.destroy();
      else run.connected(greeting.slice(0, 1), stream, rest);
    };
    stream.on("error", () => stream.destroy()).on("data", hear);
  }

  #readiness(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), READY_MS);
      this.#child.once("error", reject);
      this.#child.once("close", () => {
        clearTimeout(timer);
        reject(new Error("perl ended before it was ready to start processes"));
      });
      this.#child.stdout.on("data", (piece: Buffer) => {
        const lines = (this.#answers + piece.toString("latin1")).split("\n");
        this.#answers = lines.pop() ?? "";
        for (const [verb, ...words] of lines.map((line) => line.split(" "))) {
          if (verb !== "ready") this.#answered(verb === "failed", words.map(Number));
          else {
            clearTimeout(timer);
            resolve();
          }
        }
      });
    });
  }

  #answered(hasFailed: boolean, [id = 0, first = 0, second = 0]: readonly number[]): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    if (hasFailed) run.failed(errnoException(first));
    else
      run.finished({ code: second === 0 ? first : null, signal: second === 0 ? null : signalName(second) });
    if (hasFailed) this.#order("wait", String(id)); // So that no zombie stays.
  }
}

function errnoException(errno: number): NodeJS.ErrnoException {
  const code = Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? "EAGAIN";
  return Object.assign(new Error(`spawn ${code}`), { code, errno, syscall: "spawn" });
}

function signalName(signal: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === signal)?.[0] ?? `signal ${signal}`;
}
