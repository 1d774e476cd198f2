/**
 * The warm pool: sandboxes of the default image and limits that are started and inspected before a job asks for one, with
 * the most recently requested base tree in them, or mounted over the most recently requested layers. One of the latter also
 * holds the most recently requested repository. pool-plan.ts, pool-kinds.ts and pool-demand.ts decide; this shell carries the
 * decisions out.
 *
 * Lifecycle: open -> closed. Closing destroys the ready sandboxes and reports any that could not be removed; a leased
 * sandbox belongs to its job.
 *
 * Because a used sandbox may hold anything its job left, each is handed out once and then destroyed, and a ready one is
 * alive, recent, and holds at most a base tree and its repository, which its lease names (sandbox-runner/S3).
 */
import { allDone } from "@antiphon/runtime";
import type { Sandbox, SandboxOrder, SandboxProvider } from "../ports.ts";
import { closest, NOTHING, type Held, type Lease, type Wanted } from "./lease.ts";
import { afterStart, afterTake, noDemand, worthHaving, type Demand } from "./pool-demand.ts";
import { kindsToDrop, kindToStart } from "./pool-kinds.ts";
import { hasRoom, pauseMs, type PoolBounds } from "./pool-plan.ts";
import { RefillTimer } from "./refill-timer.ts";

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
  readonly preload?: (
    sandbox: Sandbox,
    order: SandboxOrder,
    others: ReadonlySet<string | null>,
  ) => Promise<Held>;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
}

interface Ready {
  readonly sandbox: Sandbox;
  readonly key: string;
  readonly holds: Held;
  readonly bornMs: number;
  dead: boolean;
}

const STOPPED = { kind: "canceled", reason: "the runner stops" } as const;

export class WarmPool {
  readonly #options: PoolOptions;
  readonly #refills: RefillTimer;
  #demand: Demand;
  #taken = { warm: 0, cold: 0 };
  #ready: readonly Ready[] = [];
  #starting: Promise<void> | null = null;
  #leased = 0;
  /** Failed starts in a row. */
  #failures = 0;
  /** So that a broken engine is not flooded with requests. */
  #pausedUntilMs = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#demand = noDemand(options.now());
    this.#refills = new RefillTimer(() => this.refill(), options.now);
  }

  get counts(): { readonly ready: number; readonly starting: number; readonly leased: number } {
    return { ready: this.#ready.length, starting: this.#starting === null ? 0 : 1, leased: this.#leased };
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
    if (this.#isClosed || this.#starting !== null) return;
    this.#refills.begun();
    const places = this.#wanted();
    const wanted = this.#options.orders().slice(0, places);
    const orders = new Map(wanted.map((order) => [keyOf(order), order]));
    const kinds = [...orders.keys()];
    this.#dropUnwanted(kinds, places);
    const order = orders.get(kindToStart(kinds, this.#kinds()) ?? "");
    const { bounds, now } = this.#options;
    const counts = { ready: this.#ready.length, leased: this.#leased };
    if (order === undefined || !hasRoom(counts, { ...bounds, warm: places })) return;
    const leftMs = this.#pausedUntilMs - now();
    if (leftMs > 0) return this.#refills.in(leftMs);
    this.#starting = this.#startOne(order).finally(() => {
      this.#starting = null;
      this.refill();
    });
  }

  /**
   * A sandbox that holds the wanted tree is handed out first, then an empty one; among these, one with the wanted repository or,
   * if none is wanted, without any. `leave`: so many ready ones, of any kind, are left to others.
   */
  async take(order: SandboxOrder, wanted: Wanted = NOTHING, leave = 0): Promise<Lease> {
    const { now, provider } = this.#options;
    const key = keyOf(order);
    this.#dropStale();
    const fitting = this.#ready.length > leave ? this.#ready.filter((one) => one.key === key) : [];
    const ready = closest(fitting, wanted);
    this.#ready = this.#ready.filter((one) => one !== ready);
    this.#leased += 1;
    this.#taken[ready === undefined ? "cold" : "warm"] += 1;
    this.#demand = afterTake(this.#demand, now());
    try {
      const sandbox = ready?.sandbox ?? (await provider.start(order));
      this.#refills.taken(this.#ready.length === 0);
      const held = ready?.holds ?? NOTHING;
      if (order.layers === undefined) return this.#lease(sandbox, ready !== undefined, held);
      sandbox.compareWith?.(wanted.tree?.baseline ?? new Map()); // the key says that it is mounted
      return this.#lease(sandbox, ready !== undefined, { ...held, tree: wanted.tree });
    } catch (error) {
      this.#leased -= 1;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refills.close();
    await this.#starting;
    const gone = this.#ready.map(({ sandbox }) => sandbox.destroy(STOPPED));
    this.#ready = [];
    for (const one of gone) one.catch(this.#options.onFailure);
    await allDone(gone);
  }

  #lease(sandbox: Sandbox, warm: boolean, { tree, repository }: Held): Lease {
    let released: Promise<void> | null = null;
    const release = (): Promise<void> => {
      if (released !== null) return released;
      released = sandbox
        .destroy({ kind: "canceled", reason: "the job is over" })
        .finally(() => (this.#leased -= 1));
      released.catch(this.#options.onFailure);
      return released;
    };
    return { sandbox, warm, holds: tree, repository, release }; // sandbox-runner/S3
  }

  async #startOne(order: SandboxOrder): Promise<void> {
    const { now, provider, onFailure } = this.#options;
    try {
      const begun = now();
      const sandbox = await provider.start(order);
      const holds = await this.#preload(sandbox, order);
      this.#failures = 0;
      this.#demand = afterStart(this.#demand, now() - begun);
      const ready: Ready = { sandbox, key: keyOf(order), holds, bornMs: now(), dead: false };
      this.#ready = [...this.#ready, ready];
      void sandbox.gone.finally(() => {
        ready.dead = true;
        if (this.#ready.includes(ready)) this.#refills.in();
      });
    } catch (error) {
      this.#failures += 1;
      this.#pausedUntilMs = now() + pauseMs(this.#failures);
      onFailure(error);
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
    this.#drop("too old", (one) => one.dead || one.bornMs < oldest); // sandbox-runner/S3
  }

  /** Sandboxes over other layers than those wanted now would keep the places of those that are. */
  #dropUnwanted(kinds: readonly string[], places: number): void {
    this.#dropStale();
    if (kinds.length > 0) this.#drop("others are wanted", ({ key }) => !kinds.includes(key));
    for (const kind of kindsToDrop(kinds, this.#kinds(), places)) {
      const oldest = this.#ready.find(({ key }) => key === kind);
      this.#drop("more were ready than needed", (one) => one === oldest);
    }
  }

  #kinds(): string[] {
    return this.#ready.map(({ key }) => key);
  }

  #drop(reason: string, isUnwanted: (one: Ready) => boolean): void {
    const unwanted = this.#ready.filter(isUnwanted);
    this.#ready = this.#ready.filter((one) => !unwanted.includes(one));
    for (const { sandbox } of unwanted)
      void sandbox.destroy({ kind: "canceled", reason }).catch(this.#options.onFailure);
  }
}

function keyOf(order: SandboxOrder): string {
  const { tree = null, environment = null, owned = false } = order.layers ?? {};
  return JSON.stringify([order.imageId, Object.entries(order.limits).sort(), tree, environment, owned]);
}
