/**
 * SimNode: one process of the simulated world, and everything it does to the outside.
 *
 * Lifecycle: alive -> gone for ever (the process that is started in its place is another node).
 *
 * Invariants:
 *   N1 What a process does to the outside is a sequence of operations. A crash comes before one of them, and then
 *      that one and all later ones do not happen: so every await point is a place to crash.
 *   N2 What was asked of another program (git) may still happen after the one who asked is gone.
 *   N3 A pause that begins in another one does not end it: what waits for the end of the longer one stays in order.
 */
import type { Chance } from "./chance.ts";
import type { Actor, Timeline } from "./timeline.ts";

export type Kind = "client" | "gateway" | "router" | "director" | "associate" | "runner" | "server";

/** What never comes: the answer to a process that is gone. */
const NEVER = new Promise<never>(() => undefined);

export class SimNode implements Actor {
  readonly name: string;
  readonly kind: Kind;
  alive = true;
  pausedUntil = 0;
  wallOffsetMs = 0;
  /** Operations until it crashes. */
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

  /** Before anything is done to the outside. False: the process is gone, do nothing. */
  act(): boolean {
    if (!this.alive) return false;
    this.operationsLeft -= 1;
    if (this.operationsLeft > 0) return true;
    this.timeline.mishap("crash before an operation");
    this.crash(); // N1
    return false;
  }

  pause(forMs: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.timeline.now + forMs); // N3
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

  /** A program that is run, or a question to a store: takes its effect somewhere in `delayMs`, answers later. */
  ask<T>(delayMs: readonly [number, number], effect: () => T): Promise<T> {
    if (!this.act()) return NEVER;
    const { chance, timeline } = this;
    const [low, high] = delayMs;
    return new Promise((resolve, reject) => {
      timeline.after(chance.between(low, high) / 2, null, () => {
        if (!this.alive && chance.hit(0.5)) return; // N2
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
