/**
 * One process under test: started, killed, stopped, cut off and started again.
 *
 * Lifecycle: down -> up -> down (it ended, or was ended) -> up ...; `retire` is the last down.
 *   V1 A process that ends is started again after a moment, as a supervisor would, until it is retired.
 *   V2 A point of death is armed for one life only.
 *   V3 What was done to it is written down: that it was killed, by the rig, by its point or by a poisonous task. That it
 *      ended by itself is no fault of the rig, and a power cut is one fault of the whole machine, told by who cut it.
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
  /** V3 */
  readonly killed: InjectedFault[] = [];
  /** Deaths at the point that was armed. */
  pointsHit = 0;

  constructor(spec: VictimSpec) {
    this.spec = spec;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  start(): void {
    const { namespace, args, env, logFile } = this.spec;
    const point = this.#point; // V2
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
      if (signal === "SIGKILL" && !this.#wasCutOff) this.#noteKill(); // V3
      if (point !== null && this.#point === point && !this.#wasKilled) {
        this.#point = null;
        this.pointsHit += 1;
      }
      setTimeout(() => this.#retired || this.start(), RESTART_MS); // V1
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

  /** Somebody else kills it now; its process id. */
  killedFromOutside(): number {
    this.#wasKilled = true;
    this.#wasCutOff = true;
    return this.pid;
  }

  /** In its next life it dies at the point; the life it has, if any, ends now. */
  arm(point: CrashPoint): void {
    this.#point = point;
    this.kill();
  }

  /** Takes an armed point back that was never come to. True: there was one. */
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

  /** As an operator ends it: SIGTERM. It is started again when it has gone (V1). */
  async leave(): Promise<{ code: number | null; tookMs: number }> {
    const child = this.#child;
    if (child === null) throw new Error(`${this.spec.name} is not up`);
    const began = Date.now();
    const gone = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    child.kill("SIGTERM");
    return { code: await gone, tookMs: Date.now() - began };
  }

  /** Ends it for good: in order, or the hard way when that takes too long. */
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
