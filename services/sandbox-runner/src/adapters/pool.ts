/**
 * The warm pool: sandboxes of the default image and limits that are started, inspected and, with the base tree that was
 * asked for last in them, ready before anybody asks. Decisions are core/pool-plan.ts; this is the shell that performs them.
 *
 * Lifecycle: open -> closed. Closing destroys what is ready; what is leased belongs to its job.
 *
 * Invariants:
 *   W3  A sandbox is handed out once and destroyed by its taker; nothing comes back.
 *   W4  A ready sandbox whose container died, or that is older than `maxAgeMs`, is never handed out.
 *   W5  Nothing but a base tree is ever in a ready sandbox, and its lease says which.
 */
import type { Sandbox, SandboxOrder, SandboxProvider } from "../ports.ts";
import {
  EMPTY_POOL,
  pauseMs,
  poolAfter,
  startsWanted,
  type PoolBounds,
  type PoolEvent,
} from "../core/pool-plan.ts";
import type { Tree } from "./tree-archive.ts";

/** Refilling competes with the job that emptied the place for the same cores: it lets it begin first. */
const REFILL_DELAY_MS = 250;

export interface PoolOptions {
  readonly provider: SandboxProvider;
  readonly bounds: PoolBounds;
  readonly maxAgeMs: number;
  /** What a warm sandbox is ordered as; asked each time, for its deadline label. Null: nothing can be warm now. */
  readonly order: () => SandboxOrder | null;
  /** Puts a base tree into an empty sandbox that nobody has asked for yet; answers which. */
  readonly furnish?: (sandbox: Sandbox) => Promise<HeldTree | null>;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
}

/** What can be told, and undone, of a tree that is in a sandbox, whatever became of the tree since. */
type HeldTree = Pick<Tree, "name" | "baseline">;

export interface Lease {
  readonly sandbox: Sandbox;
  readonly warm: boolean;
  /** The base tree that is in it already. */
  readonly holds: HeldTree | null;
  /** Destroys the sandbox. Idempotent. */
  release(): Promise<void>;
}

interface Ready {
  readonly sandbox: Sandbox;
  readonly key: string;
  readonly holds: HeldTree | null;
  readonly bornMs: number;
  dead: boolean;
}

export class WarmPool {
  readonly #options: PoolOptions;
  #state = EMPTY_POOL;
  #ready: Ready[] = [];
  #starting = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get counts(): { readonly ready: number; readonly starting: number; readonly leased: number } {
    return this.#state;
  }

  /** Starts what is missing, one after the other. */
  refill(): void {
    if (this.#closed || this.#starting.size > 0) return;
    const order = this.#options.order();
    this.#dropStale();
    if (order === null || startsWanted(this.#state, this.#options.bounds, this.#options.now()) === 0) return;
    this.#after({ kind: "start-begun" });
    const work = this.#startOne(order).finally(() => {
      this.#starting.delete(work);
      const wait = pauseMs(this.#state.failures);
      if (wait === 0) this.refill();
      else this.#refillLater(wait);
    });
    this.#starting.add(work);
  }

  /** `tree`: the base tree wanted in it; one that holds it is handed out first, then an empty one. */
  async take(order: SandboxOrder, tree: string | null = null): Promise<Lease> {
    const key = keyOf(order);
    this.#dropStale();
    const fits = this.#ready.filter((one) => one.key === key);
    const best = [tree, null].flatMap(
      (wanted) => fits.find((one) => (one.holds?.name ?? null) === wanted) ?? [],
    );
    const chosen = best[0] ?? fits[0];
    const at = chosen === undefined ? -1 : this.#ready.indexOf(chosen);
    const [ready] = at < 0 ? [] : this.#ready.splice(at, 1);
    this.#after({ kind: ready === undefined ? "cold-leased" : "ready-leased" });
    try {
      const sandbox = ready?.sandbox ?? (await this.#options.provider.start(order));
      this.#refillLater(REFILL_DELAY_MS);
      return this.#lease(sandbox, ready ?? null);
    } catch (error) {
      this.#after({ kind: "lease-ended" });
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all(this.#starting);
    const left = this.#ready.splice(0);
    await Promise.all(
      left.map((one) => one.sandbox.destroy({ kind: "canceled", reason: "the runner stops" })),
    );
  }

  #lease(sandbox: Sandbox, ready: Ready | null): Lease {
    let released: Promise<void> | null = null;
    const release = (): Promise<void> => {
      if (released !== null) return released;
      released = sandbox.destroy({ kind: "canceled", reason: "the job is over" }).finally(() => {
        this.#after({ kind: "lease-ended" });
      });
      released.catch(this.#options.onFailure);
      return released;
    };
    return { sandbox, warm: ready !== null, holds: ready?.holds ?? null, release }; // W3, W5
  }

  async #startOne(order: SandboxOrder): Promise<void> {
    try {
      const sandbox = await this.#options.provider.start(order);
      const holds = await this.#furnish(sandbox);
      this.#after({ kind: "start-succeeded" });
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

  async #furnish(sandbox: Sandbox): Promise<HeldTree | null> {
    try {
      return (await this.#options.furnish?.(sandbox)) ?? null;
    } catch (error) {
      await sandbox.destroy({ kind: "canceled", reason: "it could not be furnished" });
      throw error;
    }
  }

  #dropStale(): void {
    const oldest = this.#options.now() - this.#options.maxAgeMs;
    const stale = this.#ready.filter((one) => one.dead || one.bornMs < oldest); // W4
    if (stale.length === 0) return;
    this.#ready = this.#ready.filter((one) => !stale.includes(one));
    for (const one of stale) {
      this.#after({ kind: "ready-lost" });
      void one.sandbox.destroy({ kind: "canceled", reason: "too old" }).catch(this.#options.onFailure);
    }
  }

  #refillLater(delayMs: number): void {
    if (this.#closed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.refill();
    }, delayMs);
    this.#timer.unref();
  }

  #after(event: PoolEvent): void {
    this.#state = poolAfter(this.#state, event);
  }
}

function keyOf(order: SandboxOrder): string {
  return JSON.stringify([order.imageId, Object.entries(order.limits).sort()]);
}
