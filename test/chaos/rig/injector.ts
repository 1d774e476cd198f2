/**
 * Injects the faults of a script into a system, and undoes all of them at the end. After `heal` nothing is stopped, cut off,
 * full, armed or down.
 */
import { setTimeout } from "node:timers/promises";
import type { InjectedFault } from "../checker/history.ts";
import type { CrashPoint } from "./crash-point-list.ts";
import type { Fault, FaultKind } from "./fault-script.ts";
import type { System } from "./system.ts";
import type { Victim } from "./victim.ts";

/** A crash point that is not reached in this time is disarmed and reported as missed. */
const POINT_PATIENCE_MS = 30_000;

export interface Injected {
  readonly counts: Map<FaultKind, number>;
  readonly missedPoints: string[];
  /** Lasting faults with their times; killed processes record their own. */
  readonly lasting: InjectedFault[];
}

const pause = (ms: number, stop?: AbortSignal): Promise<void> =>
  setTimeout(Math.max(0, ms), undefined, stop === undefined ? {} : { signal: stop }).catch(() => undefined);

export class Injector {
  readonly injected: Injected = { counts: new Map(), missedPoints: [], lasting: [] };
  readonly #system: System;
  #server: Promise<void> = Promise.resolve();
  #engine: Promise<void> = Promise.resolve();
  #under: Promise<unknown>[] = [];

  constructor(system: System) {
    this.#system = system;
  }

  /** Resolves when the last fault of the script has been injected and is over; `stop` skips the rest. */
  async play(script: readonly Fault[], stop: AbortSignal): Promise<void> {
    const began = Date.now();
    const points = script.filter(({ kind }) => kind === "points");
    const timed = script.filter(({ kind }) => kind !== "points");
    this.#under.push(this.#playPoints(points, stop));
    for (const fault of timed) {
      await pause(began + fault.atMs - Date.now(), stop);
      if (stop.aborted) break;
      this.#under.push(this.#inject(fault, stop));
    }
    await Promise.all(this.#under);
    await this.heal();
  }

  async heal(): Promise<void> {
    for (const victim of this.#system.victims) {
      victim.resume();
      victim.spec.namespace?.mend();
      victim.disarm();
    }
    this.#system.disk?.free();
    await this.#server; // The next fault has to wait until the server is up again.
    await this.#engine;
    await this.#system.broker.revive();
  }

  async #inject(fault: Fault, stop: AbortSignal): Promise<void> {
    this.#count(fault.kind);
    const victim = this.#system.victims.find(({ spec }) => spec.name === fault.target);
    switch (fault.kind) {
      case "kill":
        victim?.kill();
        return;
      case "stop":
        return this.#timed(fault.kind, victim?.spec.role ?? null, async () => {
          victim?.stop();
          await pause(fault.forMs);
          victim?.resume();
        });
      case "partition":
        return this.#timed(fault.kind, victim?.spec.role ?? null, async () => {
          victim?.spec.namespace?.cut();
          await pause(fault.forMs);
          victim?.spec.namespace?.mend();
        });
      case "nats":
        return this.#onServer(fault.kind, ({ broker }) =>
          broker.strike(fault.strike ?? "random", fault.forMs),
        );
      case "disk":
        return this.#onServer(fault.kind, async ({ broker, disk }) => {
          disk?.fill();
          await pause(fault.forMs);
          disk?.free();
          await broker.strike("random", 0); // As an operator would, because JetStream does not recover by itself.
        });
      case "engine":
        return this.#onEngine(fault, stop);
      case "power":
        return this.#onServer(fault.kind, (system) => this.#cutPower(system, fault));
      case "points":
        return;
    }
  }

  /** Cuts the power of the whole machine. Restarted processes find the disk as it is after the cut. */
  async #cutPower({ broker, victims, power }: System, fault: Fault): Promise<void> {
    if (power === null) throw new Error("this system has no disk whose power can be cut");
    const running = [...broker.pids(), ...victims.map((victim) => victim.killedFromOutside())];
    await power.cut({ kill: running.filter((pid) => pid > 0), seed: fault.seed });
    await broker.strike("random", fault.forMs);
  }

  /** One loss of the engine at a time. */
  #onEngine({ kind, forMs, loss }: Fault, stop: AbortSignal): Promise<void> {
    const { engine } = this.#system;
    const deed = async (): Promise<void> => {
      engine?.lose(loss ?? "gone");
      await pause(forMs, stop);
      await engine?.mend();
    };
    this.#engine = this.#engine.then(() =>
      stop.aborted ? undefined : this.#timed(kind, "sandbox-runner", deed),
    );
    return this.#engine;
  }

  /** One fault of the server at a time: if it were killed while it starts, it would never be up. */
  #onServer(kind: FaultKind, deed: (system: System) => Promise<void>): Promise<void> {
    this.#server = this.#server.then(() => this.#timed(kind, null, () => deed(this.#system)));
    return this.#server;
  }

  /** Records the time of a fault and the affected process. */
  async #timed(kind: FaultKind, role: string | null, deed: () => Promise<void>): Promise<void> {
    const fromMs = Date.now();
    await deed();
    this.injected.lasting.push({ kind, role, fromMs, untilMs: Date.now() });
  }

  /** Arms one point at a time in each role, and waits until it is reached. */
  async #playPoints(points: readonly Fault[], stop: AbortSignal): Promise<void> {
    const roles = new Set(points.map(({ point }) => point?.role));
    await Promise.all(
      [...roles].map(async (role) => {
        for (const { point } of points) {
          if (stop.aborted) return;
          const victim = this.#system.victims.findLast(({ spec }) => spec.role === role);
          if (point !== null && point.role === role && victim !== undefined)
            await this.#armed(point, victim, stop);
        }
      }),
    );
  }

  async #armed(point: CrashPoint, victim: Victim, stop: AbortSignal): Promise<void> {
    const before = victim.pointsHit;
    victim.arm(point);
    const until = Date.now() + POINT_PATIENCE_MS;
    while (victim.pointsHit === before && Date.now() < until && !stop.aborted) await pause(20);
    if (victim.pointsHit > before) return this.#count("points");
    if (!stop.aborted) this.injected.missedPoints.push(`${point.role}: ${point.side} ${point.deed}`);
    victim.disarm();
  }

  #count(kind: FaultKind): void {
    this.injected.counts.set(kind, (this.injected.counts.get(kind) ?? 0) + 1);
  }
}
