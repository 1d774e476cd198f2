/**
 * Timeline: the only scheduler of a simulated world. Everything happens in one of its events: a message arrives, a timer
 * fires, a git process ends, a process crashes.
 *
 * Lifecycle of an event: due -> (its actor is paused: held back until it resumes) -> run to the last microtask,
 * or dropped because its actor is gone.
 *
 * Events run in order of time; events of the same time run in order of creation. An event and all its microtasks end before
 * the next event begins, so only the code of `current` runs at any moment. No code of an actor that is gone runs again,
 * neither its timers nor its continuations. A paused actor runs nothing while time passes.
 */
import type { Mishap } from "./mishap.ts";

export interface Actor {
  readonly name: string;
  alive: boolean;
  /** Virtual milliseconds; in the past: not paused. */
  pausedUntil: number;
  /** The error of its wall clock, in milliseconds. */
  wallOffsetMs: number;
}

export interface Scheduled {
  readonly actor: Actor | null;
  time: number;
  readonly order: number;
  run: (() => void) | null;
}

/** Node's own way to run all microtasks now; that is allowed because the loop is called from a macrotask. */
const tick = (process as unknown as { _tickCallback?: () => void })._tickCallback;

export function runMicrotasks(): void {
  if (tick === undefined) throw new Error("this Node cannot run its microtasks on demand");
  tick.call(process);
}

export class Timeline {
  now = 0;
  /** The actor whose code runs now; null: the world itself. */
  current: Actor | null = null;
  steps = 0;
  readonly trace: string[] = [];
  /** How often each kind of mishap really happened. */
  readonly mishaps = new Map<Mishap, number>();
  private born = 0;
  private readonly heap: Scheduled[] = [];

  /** `actor` null: an event of the world itself, which never crashes. */
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

  /** Runs events until `done` returns true (then it answers true) or none is left before `untilMs`. */
  run(untilMs: number, done: () => boolean): boolean {
    for (let event = this.heap[0]; event !== undefined; event = this.heap[0]) {
      if (event.time > untilMs) break;
      this.pop();
      const { run, actor } = event;
      if (run === null || actor?.alive === false) continue;
      if (event.time > this.now) this.now = event.time;
      if (actor !== null && actor.pausedUntil > this.now) {
        event.time = actor.pausedUntil;
        this.push(event);
        continue;
      }
      this.current = actor;
      this.steps += 1;
      run();
      runMicrotasks();
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
