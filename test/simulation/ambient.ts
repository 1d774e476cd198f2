/**
 * Ambient: replaces every global clock, timer and source of randomness by a simulated one while it is installed, so the
 * services run unmodified and the seed determines what the platform gives them.
 *
 * A call outside any actor throws instead of reaching the platform. A timer belongs to the actor that set it and dies with
 * it. `remove` restores the platform, also after a throw.
 */
import type { Chance } from "./chance.ts";
import type { Actor, Scheduled, Timeline } from "./timeline.ts";

/** Start of virtual time as wall clock. */
export const WALL_START_MS = Date.UTC(2026, 0, 1);

class VirtualTimer {
  scheduled: Scheduled | null = null;
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

type Callback = (...args: unknown[]) => void;

const RealDate = Date;
const SETTLED = Promise.resolve();

/** The current world, or null. Its clocks and timers are created once, so that they stay compiled. */
let world: { readonly timeline: Timeline; readonly chance: Chance } | null = null;

function here(): Timeline {
  if (world === null) throw new Error("no world is played");
  return world.timeline;
}

function actor(): Actor {
  const { current } = here();
  if (current === null) throw new Error("a clock or timer was used outside of any actor");
  return current;
}

function wallNow(): number {
  const { now, current } = here();
  return Math.floor(WALL_START_MS + now + (current?.wallOffsetMs ?? 0));
}

function chance(): number {
  if (world === null) throw new Error("no world is played");
  return world.chance.next();
}

class VirtualDate extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0) super(wallNow());
    else super(...(args as [number]));
  }
  static override now(): number {
    return wallNow();
  }
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === "[object Date]";
  }
}

function start(callback: Callback, ms: unknown, args: unknown[], repeat: boolean): VirtualTimer {
  const timeline = here();
  const owner = actor();
  const timer = new VirtualTimer();
  const delay = Math.max(1, Number(ms ?? 1) || 1);
  const fire = (): void => {
    timer.scheduled = repeat ? timeline.after(delay, owner, fire) : null;
    callback(...args);
  };
  timer.scheduled = timeline.after(delay, owner, fire);
  return timer;
}

function stop(timer: unknown): void {
  if (!(timer instanceof VirtualTimer) || timer.scheduled === null) return;
  here().cancel(timer.scheduled);
  timer.scheduled = null;
}

const REPLACED: readonly (readonly [object, string, unknown])[] = [
  [globalThis, "setTimeout", (fn: Callback, ms?: number, ...args: unknown[]) => start(fn, ms, args, false)],
  [globalThis, "setInterval", (fn: Callback, ms?: number, ...args: unknown[]) => start(fn, ms, args, true)],
  [
    globalThis,
    "setImmediate",
    (fn: Callback, ...args: unknown[]) => {
      const timer = new VirtualTimer();
      timer.scheduled = here().after(0, actor(), () => fn(...args));
      return timer;
    },
  ],
  [globalThis, "clearTimeout", stop],
  [globalThis, "clearInterval", stop],
  [globalThis, "clearImmediate", stop],
  // The platform's own creates an async resource for each.
  [globalThis, "queueMicrotask", (run: () => void) => void SETTLED.then(run)],
  [globalThis, "Date", VirtualDate],
  [Math, "random", chance],
  [performance, "now", () => here().now],
  [
    AbortSignal,
    "timeout",
    (ms: number) => {
      const abort = new AbortController();
      start(() => abort.abort(new DOMException("timed out", "TimeoutError")), ms, [], false);
      return abort.signal;
    },
  ],
  [
    globalThis.crypto,
    "getRandomValues",
    (bytes: Uint8Array) => {
      for (let i = 0; i < bytes.length; i += 1) bytes[i] = Math.floor(chance() * 256);
      return bytes;
    },
  ],
];

export function installAmbient(timeline: Timeline, drawn: Chance): () => void {
  const before = world;
  world = { timeline, chance: drawn };
  const restores = REPLACED.map(([holder, name, value]) => replace(holder, name, value));
  return () => {
    for (const restore of restores) restore();
    world = before;
  };
}

function replace(holder: object, name: string, value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { value, configurable: true, writable: true });
  return () => {
    if (own === undefined) Reflect.deleteProperty(holder, name);
    else Object.defineProperty(holder, name, own);
  };
}
