// One supervised child process.
//
// Lifecycle: idle -> running -> (waiting -> running)* -> stopping -> stopped. The process and the timer live on
// the phase that owns them.
//
// A child that exits on its own is reported with its last lines and restarted after a backoff. The backoff grows to 5 s
// and resets once a child has run for 30 s. A stop sends SIGTERM; after the grace time the whole process group is killed.
import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import { compactLine, fatalIn, LineSplitter } from "./log-line.ts";
import type { Fatal } from "./log-line.ts";
import type { LogFile } from "./log-file.ts";
import type { Report } from "./events.ts";

export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  /** SIGTERM goes to the process group (a shell and its children) instead of the process. */
  readonly signalGroup: boolean;
  readonly graceMs: number;
  /** An open file of this process that the child has open too, as its number 3. */
  readonly keepsOpen?: number;
}

type Phase =
  | { kind: "idle" }
  | { kind: "running"; process: ChildProcess; startedAt: number }
  | { kind: "waiting"; timer: NodeJS.Timeout }
  | { kind: "stopping"; process: ChildProcess }
  | { kind: "stopped" };

const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 5_000;
const HEALTHY_AFTER_MS = 30_000;
const TAIL_LINES = 8;

export class SupervisedChild {
  readonly spec: ChildSpec;
  readonly #log: LogFile;
  readonly #report: Report;
  readonly #onLine: (line: string) => void;
  #phase: Phase = { kind: "idle" };
  #failures = 0;
  #tail: string[] = [];
  #fatal: Fatal | null = null;

  constructor(
    spec: ChildSpec,
    log: LogFile,
    report: Report,
    onLine: (line: string) => void = () => undefined,
  ) {
    this.spec = spec;
    this.#log = log;
    this.#report = report;
    this.#onLine = onLine;
  }

  get pid(): number | null {
    return this.#phase.kind === "running" ? (this.#phase.process.pid ?? null) : null;
  }

  get tail(): readonly string[] {
    return this.#tail;
  }

  /** Why it ended by itself the last time, if it gave a code. */
  get fatal(): Fatal | null {
    return this.#fatal;
  }

  get failures(): number {
    return this.#failures;
  }

  /** A child of the same name and log that runs another command line. Stop this one first. */
  successor(args: readonly string[]): SupervisedChild {
    return new SupervisedChild({ ...this.spec, args }, this.#log, this.#report, this.#onLine);
  }

  start(): void {
    if (this.#phase.kind !== "idle" && this.#phase.kind !== "waiting") return;
    // With a session of its own, a Ctrl-C in the terminal reaches only the supervisor, which then stops all in order.
    const { command, args, env, keepsOpen } = this.spec;
    const child = spawn(command, [...args], {
      env,
      // cli/C2: nothing is written to stdin; its end means that the supervisor is gone.
      stdio: ["pipe", "pipe", "pipe", ...(keepsOpen === undefined ? [] : [keepsOpen])],
      detached: true,
    }) as ChildProcessWithoutNullStreams;
    this.#phase = { kind: "running", process: child, startedAt: Date.now() };
    this.#tail = [];
    this.#fatal = null;
    for (const stream of [child.stdout, child.stderr]) {
      const lines = new LineSplitter((line) => this.#line(line));
      stream.setEncoding("utf8").on("data", (text: string) => lines.push(text));
    }
    child.stdin.on("error", () => undefined); // EPIPE of a child that died; its exit is handled below.
    child.once("error", (error) => this.#line(error.message));
    child.once("close", (code, signal) => this.#ended(child, code, signal));
    if (child.pid !== undefined)
      this.#report({ event: "child_started", name: this.spec.name, pid: child.pid });
  }

  #line(line: string): void {
    this.#log.write(line);
    const compact = compactLine(line);
    this.#fatal = fatalIn(line) ?? this.#fatal;
    this.#tail = [...this.#tail, compact.text].slice(-TAIL_LINES);
    if (compact.level === "warn" || compact.level === "error" || compact.level === "fatal") {
      this.#report({ event: "child_log", name: this.spec.name, level: compact.level, line: compact.text });
    }
    this.#onLine(line);
  }

  #ended(child: ChildProcess, code: number | null, signal: string | null): void {
    if (this.#phase.kind === "stopping" || this.#phase.kind === "stopped") {
      this.#phase = { kind: "stopped" };
      return;
    }
    const lived = this.#phase.kind === "running" ? Date.now() - this.#phase.startedAt : 0;
    this.#failures = lived >= HEALTHY_AFTER_MS ? 1 : this.#failures + 1;
    const restartInMs = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (this.#failures - 1));
    this.#phase = { kind: "waiting", timer: setTimeout(() => this.start(), restartInMs) };
    const pid = child.pid ?? -1;
    this.#report({
      event: "child_exited",
      name: this.spec.name,
      pid,
      code,
      signal,
      restartInMs,
      tail: [...this.#tail],
    });
  }

  /** Resolves when the process is gone. */
  async stop(): Promise<void> {
    const phase = this.#phase;
    if (phase.kind === "waiting") clearTimeout(phase.timer);
    if (phase.kind !== "running") {
      if (phase.kind !== "stopping") this.#phase = { kind: "stopped" };
      return;
    }
    const child = phase.process;
    this.#phase = { kind: "stopping", process: child };
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
    if (child.exitCode !== null || child.signalCode !== null) return;
    signal(child, "SIGTERM", this.spec.signalGroup);
    const killer = setTimeout(() => signal(child, "SIGKILL", true), this.spec.graceMs);
    await gone;
    clearTimeout(killer);
  }

  /** The second Ctrl-C. */
  kill(): void {
    if (this.#phase.kind === "running" || this.#phase.kind === "stopping")
      signal(this.#phase.process, "SIGKILL", true);
  }
}

function signal(child: ChildProcess, name: NodeJS.Signals, group: boolean): void {
  if (child.pid === undefined) return;
  try {
    process.kill(group ? -child.pid : child.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
