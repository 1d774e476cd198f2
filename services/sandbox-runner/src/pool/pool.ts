/**
 * The warm pool: sandboxes of the default image and limits that are started and inspected before a job asks for one, with
 * the most recently requested base tree in them, or mounted over the most recently requested layers. One of the latter also
 * holds the most recently requested repository. pool-plan.ts and pool-kinds.ts decide; this shell carries the decisions out.
 *
 * Lifecycle: open -> closed. Closing destroys the ready sandboxes and reports any that could not be removed; a leased
 * sandbox belongs to its job.
 *
 * Because a used sandbox may hold anything its job left, each is handed out once and then destroyed, and a ready one is
 * alive, recent, and holds at most a base tree and its repository, which its lease names (sandbox-runner/S3).
 */
import { allDone } from "@antiphon/runtime";
import type { Sandbox, SandboxOrder, SandboxProvider } from "../ports.ts";
import {
  EMPTY_POOL,
  pauseMs,
  poolAfter,
  startsWanted,
  type PoolBounds,
  type PoolEvent,
} from "./pool-plan.ts";
import { kindsToDrop, kindToStart } from "./pool-kinds.ts";
import { afterStart, afterTake, noDemand, worthHaving, type Demand } from "./pool-demand.ts";
import type { Tree } from "../workspace/tree-archive.ts";

/** A refill would compete with the job that emptied the place for the same cores, so the job gets a head start. */
const REFILL_DELAY_MS = 250;
/** A longer one while others are ready; each further take begins it anew, for as long as in all. */
const UNHURRIED_MS = 600;
const UNHURRIED_IN_ALL_MS = 1_200;

export interface PoolOptions {
  readonly provider: SandboxProvider;
  readonly bounds: PoolBounds;
  readonly maxAgeMs: number;
  /**
   * An order for each kind of warm sandbox, the latest first; asked for each start, because the deadline label changes. Empty: none
   * can be warm now.
   */
  readonly orders: () => readonly SandboxOrder[];
  /** Prepares a sandbox that has no job yet. `others`: the repositories that ready ones hold. Resolves to what it holds. */
  readonly preload?: (sandbox: Sandbox, order: SandboxOrder, others: Repositories) => Promise<Held>;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
}

/** The facts needed to report or remove a tree in a sandbox, even if the tree itself was evicted. */
export type HeldTree = Pick<Tree, "name" | "baseline" | "directories">;

export interface Held {
  /** The base tree that was put in. Null: none, or it is mounted. */
  readonly tree: HeldTree | null;
  /** The archive of the `.git` directory. */
  readonly repository: string | null;
}

type Repositories = ReadonlySet<string | null>;

/** What a job would like to find in its sandbox. */
export interface Wanted {
  /** When the order has layers, it is the tree among them. */
  readonly tree: HeldTree | null;
  readonly repository: string | null;
}

export const NOTHING: Held = { tree: null, repository: null };

export interface Lease {
  readonly sandbox: Sandbox;
  readonly warm: boolean;
  /** The base tree that is already in the sandbox. */
  readonly holds: HeldTree | null;
  /** The archive of the `.git` directory that is already in the sandbox. */
  readonly repository: string | null;
  /** Destroys the sandbox. Idempotent. */
  release(): Promise<void>;
}

interface Ready {
  readonly sandbox: Sandbox;
  readonly key: string;
  readonly holds: Held;
  readonly bornMs: number;
  dead: boolean;
}

export class WarmPool {
  readonly #options: PoolOptions;
  #state = EMPTY_POOL;
  #demand: Demand;
  #taken = { warm: 0, cold: 0 };
  #ready: Ready[] = [];
  #starting = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  /** When the timer ends. */
  #dueMs: number | null = null;
  /** Since when places are empty that no refill was begun for; null: there are none. */
  #owedSinceMs: number | null = null;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#demand = noDemand(options.now());
  }

  get counts(): { readonly ready: number; readonly starting: number; readonly leased: number } {
    return this.#state;
  }

  /**
   * The number of sandboxes the pool wants ready, and the numbers taken so far: ready ones, and ones that had to be
   * started.
   */
  get measures(): { readonly wanted: number; readonly warm: number; readonly cold: number } {
    return { wanted: this.#wanted(), ...this.#taken };
  }

  /** Starts the missing sandboxes, one after the other. */
  refill(): void {
    if (this.#closed || this.#starting.size > 0) return;
    this.#owedSinceMs = null;
    const places = this.#wanted();
    const orders = new Map(
      this.#options
        .orders()
        .slice(0, places)
        .map((order) => [keyOf(order), order]),
    );
    const kinds = [...orders.keys()];
    this.#dropStale();
    if (kinds.length > 0) this.#dropOthers(kinds);
    this.#dropSurplus(kinds, places);
    const order = orders.get(kindToStart(kinds, this.#kinds()) ?? "");
    const bounds = { ...this.#options.bounds, warm: places };
    if (order === undefined || startsWanted(this.#state, bounds, this.#options.now()) === 0) return;
    this.#after({ kind: "start-begun" });
    const work = this.#startOne(order).finally(() => {
      this.#starting.delete(work);
      const wait = pauseMs(this.#state.failures);
      if (wait === 0) this.refill();
      else this.#refillLater(wait);
    });
    this.#starting.add(work);
  }

  /**
   * A sandbox that holds the wanted tree is handed out first, then an empty one; among these, one with the wanted repository or,
   * if none is wanted, without any. `leave`: so many ready ones, of any kind, are left to others.
   */
  async take(order: SandboxOrder, wanted: Wanted = NOTHING, leave = 0): Promise<Lease> {
    const key = keyOf(order);
    this.#dropStale();
    const fitting = this.#ready.filter((one) => one.key === key);
    const fits = this.#ready.length > leave ? fitting : [];
    const chosen = closest(fits, wanted);
    const at = chosen === undefined ? -1 : this.#ready.indexOf(chosen);
    const [ready] = at < 0 ? [] : this.#ready.splice(at, 1);
    this.#after({ kind: ready === undefined ? "cold-leased" : "ready-leased" });
    this.#taken[ready === undefined ? "cold" : "warm"] += 1;
    this.#demand = afterTake(this.#demand, this.#options.now());
    try {
      const sandbox = ready?.sandbox ?? (await this.#options.provider.start(order));
      this.#refillAfterTake();
      const isLayered = order.layers !== undefined;
      const held = ready?.holds ?? NOTHING;
      if (!isLayered) return this.#lease(sandbox, ready !== undefined, held);
      sandbox.compareWith?.(wanted.tree?.baseline ?? new Map()); // the key says that it is mounted
      return this.#lease(sandbox, ready !== undefined, { ...held, tree: wanted.tree });
    } catch (error) {
      this.#after({ kind: "lease-ended" });
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopWaiting();
    await Promise.allSettled(this.#starting);
    const gone = this.#ready
      .splice(0)
      .map(({ sandbox }) => sandbox.destroy({ kind: "canceled", reason: "the runner stops" }));
    for (const one of gone) one.catch(this.#options.onFailure);
    await allDone(gone);
  }

  #lease(sandbox: Sandbox, warm: boolean, { tree, repository }: Held): Lease {
    let released: Promise<void> | null = null;
    const release = (): Promise<void> => {
      if (released !== null) return released;
      released = sandbox.destroy({ kind: "canceled", reason: "the job is over" }).finally(() => {
        this.#after({ kind: "lease-ended" });
      });
      released.catch(this.#options.onFailure);
      return released;
    };
    return { sandbox, warm, holds: tree, repository, release }; // sandbox-runner/S3
  }

  async #startOne(order: SandboxOrder): Promise<void> {
    try {
      const begun = this.#options.now();
      const sandbox = await this.#options.provider.start(order);
      const holds = await this.#preload(sandbox, order);
      this.#after({ kind: "start-succeeded" });
      this.#demand = afterStart(this.#demand, this.#options.now() - begun);
      const ready: Ready = { sandbox, key: keyOf(order), holds, bornMs: this.#options.now(), dead: false };
      this.#ready.push(ready);
      void sandbox.gone.finally(() => {
        ready.dead = true;
        if (this.#ready.includes(ready)) this.#refillLater(REFILL_DELAY_MS);
      });
      if (this.#closed) await sandbox.destroy({ kind: "canceled", reason: "the runner stops" });
    } catch (error) {
      this.#after({ kind: "start-failed", atMs: this.#options.now() });
      this.#options.onFailure(error);
    }
  }

  async #preload(sandbox: Sandbox, order: SandboxOrder): Promise<Held> {
    const key = keyOf(order);
    const alike = this.#ready.filter((one) => one.key === key);
    const others = new Set(alike.map(({ holds }) => holds.repository));
    try {
      return (await this.#options.preload?.(sandbox, order, others)) ?? NOTHING;
    } catch (error) {
      await sandbox.destroy({ kind: "canceled", reason: "its base tree could not be put in" });
      throw error;
    }
  }

  #wanted(): number {
    return worthHaving(this.#demand, this.#options.bounds.warm, this.#options.now());
  }

  #dropStale(): void {
    const oldest = this.#options.now() - this.#options.maxAgeMs;
    this.#drop(
      this.#ready.filter((one) => one.dead || one.bornMs < oldest), // sandbox-runner/S3
      "too old",
    );
  }

  /** Sandboxes over other layers than those wanted now would keep the places of those that are. */
  #dropOthers(kinds: readonly string[]): void {
    this.#drop(
      this.#ready.filter((one) => !kinds.includes(one.key)),
      "others are wanted",
    );
  }

  /** The oldest of each kind go first. */
  #dropSurplus(kinds: readonly string[], places: number): void {
    const left = [...this.#ready];
    const surplus = kindsToDrop(kinds, this.#kinds(), places).flatMap((kind) =>
      left.splice(
        left.findIndex(({ key }) => key === kind),
        1,
      ),
    );
    this.#drop(surplus, "more were ready than needed");
  }

  #kinds(): string[] {
    return this.#ready.map(({ key }) => key);
  }

  #drop(unwanted: readonly Ready[], reason: string): void {
    if (unwanted.length === 0) return;
    this.#ready = this.#ready.filter((one) => !unwanted.includes(one));
    for (const one of unwanted) {
      this.#after({ kind: "ready-lost" });
      void one.sandbox.destroy({ kind: "canceled", reason }).catch(this.#options.onFailure);
    }
  }

  /** Takes in quick succession do not put off the refill of a pool that has none ready. */
  #refillAfterTake(): void {
    const now = this.#options.now();
    this.#owedSinceMs ??= now;
    const isDry = this.#ready.length === 0;
    const dueMs = isDry
      ? Math.min(this.#dueMs ?? Infinity, now + REFILL_DELAY_MS)
      : Math.min(this.#owedSinceMs + UNHURRIED_IN_ALL_MS, now + UNHURRIED_MS);
    this.#stopWaiting();
    this.#refillLater(Math.max(0, dueMs - now));
  }

  #stopWaiting(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = this.#dueMs = null;
  }

  #refillLater(delayMs: number): void {
    if (this.#closed || this.#timer !== null) return;
    this.#dueMs = this.#options.now() + delayMs;
    this.#timer = setTimeout(() => {
      this.#timer = this.#dueMs = null;
      this.refill();
    }, delayMs);
    this.#timer.unref();
  }

  #after(event: PoolEvent): void {
    this.#state = poolAfter(this.#state, event);
  }
}

function closest(ready: readonly Ready[], { tree, repository }: Wanted): Ready | undefined {
  const distance = ({ holds }: Ready): number => {
    const held = holds.tree?.name ?? null;
    const ofTree = held === (tree?.name ?? null) ? 0 : held === null ? 1 : 2;
    return 2 * ofTree + (holds.repository === repository ? 0 : 1);
  };
  return [...ready].sort((a, b) => distance(a) - distance(b))[0];
}

function keyOf(order: SandboxOrder): string {
  const { tree = null, environment = null, owned = false } = order.layers ?? {};
  return JSON.stringify([order.imageId, Object.entries(order.limits).sort(), tree, environment, owned]);
}
