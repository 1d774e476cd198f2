/**
 * One process under test: started, killed, stopped, cut off and started again.
 *
 * Lifecycle: down -> up -> down (it ended, or was ended) -> up ...; `retire` is the last down.
 *
 * A process that ends is started again after a moment, as under a supervisor, until it is retired. A crash point is armed for
 * one life only. Kills by the rig, by a crash point or by a poisonous task are recorded. A process that ends by itself is no
 * fault of the rig; a power cut is one fault of the whole machine and is recorded by the injector.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { InjectedFault } from "../checker/history.ts";
import type { CrashPoint } from "./crash-point-list.ts";
import { makeNamespace, type NetNamespace } from "./net-namespace.ts";

const PRELOAD = fileURLToPath(new URL("./crash-points.mjs", import.meta.url));
const RESTART_MS = 150;

export interface VictimSpec {
  readonly name: string;
  readonly role: string;
  /** What `node` runs. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly namespace: NetNamespace | null;
}

export class Victim {
  readonly spec: VictimSpec;
  #child: ChildProcess | null = null;
  #retired = false;
  #point: CrashPoint | null = null;
  #wasKilled = false;
  #wasCutOff = false;
  deaths = 0;
  /** Its recorded deaths. */
  readonly killed: InjectedFault[] = [];
  /** The number of deaths at armed points. */
  pointsHit = 0;

  constructor(spec: VictimSpec) {
    this.spec = spec;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  start(): void {
    const { namespace, args, env, logFile } = this.spec;
    const point = this.#point; // Armed for this life only.
    const node = [process.execPath, "--max-semi-space-size=4", "--import", PRELOAD, ...args];
    const [command = "", ...rest] =
      namespace === null ? node : ["ip", "netns", "exec", namespace.name, ...node];
    const log = openSync(logFile, "a");
    const child = spawn(command, rest, {
      env: {
        ...process.env,
        ...env,
        ...(namespace === null ? {} : { ANTIPHON_NATS_URL: namespace.natsUrl }),
        ...(point === null ? {} : { ANTIPHON_CHAOS_POINT: JSON.stringify(point) }),
      },
      stdio: ["pipe", "ignore", log], // The end of its stdin tells it that the rig is gone.
    });
    closeSync(log);
    child.stdin?.on("error", () => child.stdin?.destroy());
    this.#child = child;
    this.#wasKilled = false;
    this.#wasCutOff = false;
    child.once("exit", (_, signal) => {
      if (this.#child === child) this.#child = null;
      if (this.#retired) return;
      this.deaths += 1;
      if (signal === "SIGKILL" && !this.#wasCutOff) this.#noteKill();
      if (point !== null && this.#point === point && !this.#wasKilled) {
        this.#point = null;
        this.pointsHit += 1;
      }
      setTimeout(() => this.#retired || this.start(), RESTART_MS);
    });
  }

  #noteKill(): void {
    const fromMs = Date.now();
    this.killed.push({ kind: "kill", role: this.spec.role, fromMs, untilMs: fromMs + RESTART_MS });
  }

  kill(): void {
    this.#wasKilled = true;
    this.#child?.kill("SIGKILL");
  }

  /** Returns its process id to a caller that is about to kill it. */
  killedFromOutside(): number {
    this.#wasKilled = true;
    this.#wasCutOff = true;
    return this.pid;
  }

  /** Ends its current life, and lets the next one die at the point. */
  arm(point: CrashPoint): void {
    this.#point = point;
    this.kill();
  }

  /** Disarms a point that was not reached. True: one was armed. */
  disarm(): boolean {
    const had = this.#point !== null;
    this.#point = null;
    if (had) this.kill();
    return had;
  }

  stop(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Ends it as an operator would, with SIGTERM. It is started again afterwards. */
  async leave(): Promise<{ code: number | null; tookMs: number }> {
    const child = this.#child;
    if (child === null) throw new Error(`${this.spec.name} is not up`);
    const began = Date.now();
    const gone = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    child.kill("SIGTERM");
    return { code: await gone, tookMs: Date.now() - began };
  }

  /** Ends it for good: gracefully, or by force if that takes too long. */
  async retire(withinMs: number): Promise<number | null> {
    this.#retired = true;
    const child = this.#child;
    if (child === null) return null;
    const gone = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
    const code = await gone;
    clearTimeout(timer);
    return code;
  }

  said(bytes = 2_000): string {
    return readFileSync(this.spec.logFile, "utf8").slice(-bytes);
  }
}

export async function namespaceFor(
  natsPorts: readonly number[],
  wanted: boolean,
): Promise<NetNamespace | null> {
  return wanted ? makeNamespace(natsPorts) : null;
}
