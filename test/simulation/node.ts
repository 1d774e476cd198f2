/**
 * SimNode: one process of the simulated world, and all its operations on the outside.
 *
 * Lifecycle: alive -> gone for ever (the process that is started in its place is another node).
 *
 * A crash happens before one operation and prevents it and all later ones, so every await point is a place to crash. Another
 * program (git) may still carry out a request after its requester is gone. A pause that begins within a longer one does not
 * end the longer one early, because a process would then receive events out of order.
 */
import type { Chance } from "./chance.ts";
import type { Actor, Timeline } from "./timeline.ts";

export type Kind = "client" | "gateway" | "router" | "director" | "associate" | "runner" | "server";

/** Never resolves: the answer to a process that is gone. */
const NEVER = new Promise<never>(() => undefined);

export class SimNode implements Actor {
  readonly name: string;
  readonly kind: Kind;
  alive = true;
  pausedUntil = 0;
  wallOffsetMs = 0;
  /** The number of operations until it crashes. */
  operationsLeft = Number.POSITIVE_INFINITY;
  private readonly timeline: Timeline;
  private readonly chance: Chance;
  private readonly endings: (() => void)[] = [];

  constructor(name: string, kind: Kind, timeline: Timeline, chance: Chance) {
    this.name = name;
    this.kind = kind;
    this.timeline = timeline;
    this.chance = chance;
  }

  /** Call it before each operation. False: the process is gone, so do nothing. */
  act(): boolean {
    if (!this.alive) return false;
    this.operationsLeft -= 1;
    if (this.operationsLeft > 0) return true;
    this.timeline.mishap("crash before an operation");
    this.crash();
    return false;
  }

  pause(forMs: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.timeline.now + forMs);
  }

  onCrash(ending: () => void): void {
    this.endings.push(ending);
  }

  crash(): void {
    if (!this.alive) return;
    this.timeline.note(`crash of ${this.name}`);
    this.alive = false;
    for (const ending of this.endings) ending();
  }

  /** Runs a program or queries a store: it takes effect at some time within `delayMs` and answers later. */
  ask<T>(delayMs: readonly [number, number], effect: () => T): Promise<T> {
    if (!this.act()) return NEVER;
    const { chance, timeline } = this;
    const [low, high] = delayMs;
    return new Promise((resolve, reject) => {
      timeline.after(chance.between(low, high) / 2, null, () => {
        if (!this.alive && chance.hit(0.5)) return; // The program carries it out all the same.
        if (!this.alive) timeline.mishap("order of a gone process carried out");
        const settle = attempt(effect, resolve, reject);
        timeline.after(chance.between(low, high) / 2, this, settle);
      });
    });
  }
}

function attempt<T>(
  effect: () => T,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    const value = effect();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
