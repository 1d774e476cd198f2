/**
 * Timeline: the one scheduler of a simulated world. Whatever happens, happens in an event of it: a message that
 * arrives, a timer that fires, a git process that ends, a crash.
 *
 * Lifecycle of an event: due -> (its actor is paused: held back until it goes on) -> run to the last microtask,
 * or dropped because its actor is gone.
 *
 * Invariants:
 *   Y1 Events run in order of time, and of birth where the time is the same. Nothing else decides.
 *   Y2 An event and all microtasks it leads to end before the next event begins, so at any moment one actor's code
 *      runs, and it is `current`.
 *   Y3 Nothing of an actor that is gone runs again: neither its timers nor what it awaits.
 *   Y4 An actor that is paused runs nothing; time goes on without it.
 */
import type { Mishap } from "./mishap.ts";

export interface Actor {
  readonly name: string;
  alive: boolean;
  /** Virtual milliseconds; in the past: not paused. */
  pausedUntil: number;
  /** How far its wall clock is off, in milliseconds. */
  wallOffsetMs: number;
}

export interface Scheduled {
  readonly actor: Actor | null;
  time: number;
  readonly order: number;
  run: (() => void) | null;
}

/** Node's own way to run all microtasks now; the loop is called from a macrotask, where that is allowed. */
const tick = (process as unknown as { _tickCallback?: () => void })._tickCallback;

export function runMicrotasks(): void {
  if (tick === undefined) throw new Error("this Node cannot run its microtasks on demand");
  tick.call(process);
}

export class Timeline {
  now = 0;
  /** Whose code runs now; null: the world itself. */
  current: Actor | null = null;
  steps = 0;
  readonly trace: string[] = [];
  /** What went wrong, by kind: how often it really happened. */
  readonly mishaps = new Map<Mishap, number>();
  private born = 0;
  private readonly heap: Scheduled[] = [];

  /** `actor` null: an event of the world, which never crashes. */
  after(delayMs: number, actor: Actor | null, run: () => void): Scheduled {
    this.born += 1;
    const event: Scheduled = { actor, time: this.now + Math.max(0, delayMs), order: this.born, run };
    this.push(event);
    return event;
  }

  cancel(event: Scheduled): void {
    event.run = null;
  }

  note(line: string): void {
    this.trace.push(`${this.now.toFixed(3)} ${this.current?.name ?? "-"} ${line}`);
  }

  mishap(kind: Mishap): void {
    this.mishaps.set(kind, (this.mishaps.get(kind) ?? 0) + 1);
  }

  /** Runs what is due until `done` says so or nothing is left before `untilMs`. True: `done` said so. */
  run(untilMs: number, done: () => boolean): boolean {
    for (let event = this.heap[0]; event !== undefined; event = this.heap[0]) {
      if (event.time > untilMs) break;
      this.pop();
      const { run, actor } = event;
      if (run === null || actor?.alive === false) continue; // Y3
      if (event.time > this.now) this.now = event.time; // Y1
      if (actor !== null && actor.pausedUntil > this.now) {
        event.time = actor.pausedUntil; // Y4
        this.push(event);
        continue;
      }
      this.current = actor;
      this.steps += 1;
      run();
      runMicrotasks(); // Y2
      this.current = null;
      if (done()) return true;
    }
    return false;
  }

  private push(event: Scheduled): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !earlier(event, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      let child = heap[down];
      if (child === undefined) break;
      const other = heap[down + 1];
      if (other !== undefined && earlier(other, child)) {
        child = other;
        down += 1;
      }
      if (!earlier(child, last)) break;
      heap[at] = child;
      at = down;
    }
    heap[at] = last;
  }
}

function earlier(a: Scheduled, b: Scheduled): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order);
}
