import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Sandbox, SandboxOrder, SandboxProvider } from "../ports.ts";
import { defaultLimits } from "../job-limits.ts";
import { WarmPool, type PoolOptions } from "./pool.ts";

const order: SandboxOrder = { imageId: "sha256:a", limits: defaultLimits("runc"), labels: {} };
const other: SandboxOrder = { ...order, limits: { ...order.limits, pids: 1 } };

/** A provider under the test's control: sandboxes start at once, die when told to, and count their removals. */
function provider() {
  const made: { sandbox: Sandbox; die: () => void; destroyed: number }[] = [];
  const control = { failing: false, remove: (_id: string): Promise<void> => Promise.resolve() };
  const port: SandboxProvider = {
    name: "docker",
    enforces: { memory: true, processes: true },
    ping: () => Promise.resolve(),
    image: () => Promise.resolve(null),
    start: () => {
      if (control.failing) return Promise.reject(new Error("no engine"));
      let die = (): void => undefined;
      const gone = new Promise<void>((resolve) => (die = resolve));
      const one = { die, destroyed: 0 };
      const sandbox = {
        id: `s${made.length}`,
        gone,
        destroy: () => {
          entry.destroyed += 1;
          return control.remove(sandbox.id);
        },
      } as Partial<Sandbox> as Sandbox;
      const entry = { ...one, sandbox };
      made.push(entry);
      return Promise.resolve(sandbox);
    },
  };
  return { port, made, control };
}

function setUp(
  warm = 2,
  preload?: PoolOptions["preload"],
  maxAgeMs = 1000,
  wanted: () => readonly SandboxOrder[] = () => [order],
) {
  const { port, made, control } = provider();
  const clock = { now: 0 };
  const failures: unknown[] = [];
  const pool = new WarmPool({
    provider: port,
    bounds: { warm, slots: 4 },
    maxAgeMs,
    orders: wanted,
    ...(preload === undefined ? {} : { preload }),
    onFailure: (error) => failures.push(error),
    now: () => clock.now,
  });
  return { pool, made, control, clock, failures };
}

const treeNamed = (name: string) => ({ name, baseline: new Map(), directories: [] });

/** Lets everything that is ready to run, run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the warm pool", () => {
  it("hands out a ready sandbox before it starts one", async () => {
    const { pool, made } = setUp();
    pool.refill();
    await settle();
    expect(pool.counts).toMatchObject({ ready: 2, starting: 0, leased: 0 });
    const lease = await pool.take(order);
    expect([lease.warm, made.length, pool.counts.ready, pool.counts.leased]).toEqual([true, 2, 1, 1]);
    await pool.close();
  });

  it("leaves a ready sandbox to others when it is told to, and starts one instead", async () => {
    const { pool } = setUp();
    pool.refill();
    await settle();
    const warm = async (leave: number): Promise<boolean> => (await pool.take(order, undefined, leave)).warm;
    expect([await warm(1), await warm(1), await warm(0)]).toEqual([true, false, true]);
  });

  it("sandbox-runner/S3: hands a sandbox out once, and destroys it once even if it is released twice", async () => {
    const { pool, made } = setUp();
    pool.refill();
    await settle();
    const leases = await Promise.all([pool.take(order), pool.take(order), pool.take(order)]);
    expect(new Set(leases.map(({ sandbox }) => sandbox.id)).size).toBe(3);
    await Promise.all(leases.flatMap((lease) => [lease.release(), lease.release()]));
    expect(made.map(({ destroyed }) => destroyed)).toEqual([1, 1, 1]);
    expect(pool.counts.leased).toBe(0);
    await pool.close();
  });

  it("starts a new sandbox for another image or other limits", async () => {
    const { pool } = setUp();
    pool.refill();
    await settle();
    expect((await pool.take(other)).warm).toBe(false);
    expect(pool.counts).toMatchObject({ ready: 2, leased: 1 });
    await pool.close();
  });

  it("sandbox-runner/S3: never hands out a sandbox that died or is too old", async () => {
    const { pool, made, clock } = setUp();
    pool.refill();
    await settle();
    made[0]?.die();
    await settle();
    clock.now = 500;
    expect((await pool.take(order)).sandbox.id).toBe("s1");
    pool.refill();
    await settle();
    clock.now = 5000;
    const late = await pool.take(order);
    expect(late.warm).toBe(false);
    expect(made.filter(({ destroyed }) => destroyed > 0).length).toBeGreaterThanOrEqual(2);
    await pool.close();
  });

  it("reports a failed start, pauses, and fills up again afterwards", async () => {
    const { pool, control, clock, failures } = setUp();
    control.failing = true;
    pool.refill();
    await settle();
    expect(failures).toHaveLength(1);
    pool.refill();
    await settle();
    expect(failures).toHaveLength(1);
    await expect(pool.take(order)).rejects.toThrow("no engine");
    expect(pool.counts).toMatchObject({ ready: 0, starting: 0, leased: 0 });
    control.failing = false;
    clock.now = 600;
    pool.refill();
    await settle();
    expect(pool.counts.ready).toBe(2);
    await pool.close();
  });

  it("keeps as many ready as were taken at once in the last ten minutes, and removes the others", async () => {
    const { pool, made, clock } = setUp(3, undefined, Number.MAX_SAFE_INTEGER);
    pool.refill();
    await settle();
    expect([pool.counts.ready, pool.measures.wanted]).toEqual([3, 3]);
    clock.now = 11 * 60_000;
    pool.refill();
    await settle();
    expect([pool.counts.ready, pool.measures.wanted]).toEqual([1, 1]);
    expect(made.map(({ destroyed }) => destroyed)).toEqual([1, 1, 0]);
    await Promise.all([pool.take(order), pool.take(order)]); // One is ready, the other has to be started.
    expect(pool.measures).toEqual({ wanted: 2, warm: 1, cold: 1 });
    pool.refill();
    await settle();
    expect(pool.counts.ready).toBe(2);
    await pool.close();
  });

  it("destroys the ready sandboxes when it closes, and starts none afterwards", async () => {
    const { pool, made } = setUp();
    pool.refill();
    await settle();
    await pool.close();
    pool.refill();
    await settle();
    expect(made.map(({ destroyed }) => destroyed)).toEqual([1, 1]);
  });

  it("closes with the error of a failed removal, but only when the other sandboxes are gone", async () => {
    const { pool, control, failures } = setUp();
    pool.refill();
    await settle();
    let gone = (): void => undefined;
    const removal = new Promise<void>((resolve) => (gone = resolve));
    const stuck = new Error("no engine");
    control.remove = (id) => (id === "s0" ? Promise.reject(stuck) : removal);
    let said: unknown = null;
    const closing = pool.close().catch((error: unknown) => (said = error));
    await settle();
    expect([said, failures]).toEqual([null, [stuck]]);
    gone();
    await closing;
    expect(said).toBe(stuck);
  });

  it("sandbox-runner/S3: hands out a sandbox with the requested tree first, then an empty one, and names its tree", async () => {
    const trees = ["a", null, "b"];
    const { pool } = setUp(3, () => {
      const name = trees.shift() ?? null;
      return Promise.resolve({ tree: name === null ? null : treeNamed(name), repository: null });
    });
    pool.refill();
    await settle();
    const first = await pool.take(order, { tree: treeNamed("b"), repository: null });
    const second = await pool.take(order, { tree: treeNamed("b"), repository: null });
    const third = await pool.take(order, { tree: treeNamed("b"), repository: null });
    expect([first, second, third].map(({ holds }) => holds?.name ?? null)).toEqual(["b", null, "a"]);
  });

  it("replaces the ready sandboxes when others are wanted, and names the tree that a layered one is mounted over", async () => {
    const wanted = { order };
    const { pool, made } = setUp(1, undefined, 1000, () => [wanted.order]);
    pool.refill();
    await settle();
    const over = { ...order, layers: { tree: "digest", environment: null } };
    wanted.order = over;
    pool.refill();
    await settle();
    expect(made.map(({ destroyed }) => destroyed)).toEqual([1, 0]);
    const wants = { tree: treeNamed("a"), repository: null };
    const others = { ...order, layers: { tree: "digest", environment: "other" } };
    const [warm, cold] = [await pool.take(over, wants), await pool.take(others, wants)];
    expect([warm.warm, warm.holds?.name, cold.warm, cold.holds?.name]).toEqual([true, "a", false, "a"]);
    await pool.close();
  });

  it("keeps both kinds that were asked for last, so that an attempt and its clean room are warm", async () => {
    const over = { ...order, layers: { tree: null, environment: "agent" } };
    const { pool } = setUp(3, undefined, 1_000_000, () => [over, order]);
    const full = async (): Promise<void> => {
      pool.refill();
      await settle();
    };
    const warm = async (one: SandboxOrder): Promise<boolean> => (await pool.take(one)).warm;
    await full();
    expect([await warm(over), await warm(order)]).toEqual([true, true]);
    await full();
    await full(); // Nothing is dropped for the other kind.
    expect([await warm(order), await warm(over)]).toEqual([true, true]);
    await pool.close();
  });

  it("gives a place to a kind that is wanted for the first time", async () => {
    const over = { ...order, layers: { tree: null, environment: "agent" } };
    const wanted: SandboxOrder[] = [order];
    const { pool, made } = setUp(2, undefined, 1_000_000, () => wanted);
    pool.refill();
    await settle();
    wanted.unshift(over);
    pool.refill();
    await settle();
    expect(made.map(({ destroyed }) => destroyed)).toEqual([1, 0, 0]);
    expect((await pool.take(over)).warm).toBe(true);
    expect((await pool.take(order)).warm).toBe(true);
    await pool.close();
  });

  it("leaves the sandbox with a repository to the job that wants it, and tells what the ready ones hold", async () => {
    const told: (string | null)[][] = [];
    const over = { ...order, layers: { tree: "digest", environment: null } };
    const preload: PoolOptions["preload"] = (_sandbox, { layers }, others) => {
      told.push([...others]);
      const repository = others.has("history") || layers === undefined ? null : "history";
      return Promise.resolve({ tree: null, repository });
    };
    const { pool } = setUp(3, preload, 1000, () => [over]);
    pool.refill();
    await settle();
    expect(told).toEqual([[], ["history"], ["history", null]]);
    const take = async (repository: string | null) =>
      (await pool.take(over, { tree: treeNamed("a"), repository })).repository;
    expect([await take(null), await take("history"), await take("history")]).toEqual([null, "history", null]);
    await pool.close();
  });

  it("destroys a sandbox that could not be preloaded", async () => {
    const { pool, made, failures } = setUp(1, () => Promise.reject(new Error("no tree")));
    pool.refill();
    await settle();
    expect(made.map(({ destroyed }) => destroyed)).toEqual([1]);
    expect([pool.counts.ready, failures.length]).toEqual([0, 1]);
    await pool.close();
  });
});

describe("the refill after a take", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const filled = async (warm: number) => {
    const { pool, made, control, clock } = setUp(warm, undefined, 60_000);
    const pass = async (ms: number): Promise<void> => {
      for (let at = 0; at < ms; at += 10) {
        clock.now += 10;
        await vi.advanceTimersByTimeAsync(10);
      }
    };
    pool.refill();
    await pass(10);
    expect(made).toHaveLength(warm);
    return { pool, made, control, pass };
  };

  it("waits while others are ready, and anew after each further take", async () => {
    const { pool, made, pass } = await filled(3);
    await pool.take(order);
    await pass(400);
    await pool.take(order);
    await pass(400);
    expect(made).toHaveLength(3);
    await pass(300);
    expect(made).toHaveLength(5);
  });

  it("is put off for 1.2 s at most", async () => {
    const { pool, made, pass } = await filled(5);
    for (let i = 0; i < 3; i += 1) {
      await pool.take(order);
      await pass(390);
    }
    expect(made).toHaveLength(5);
    await pass(50);
    expect(made).toHaveLength(8);
  });

  it("begins after 250 ms where none is ready, however many are taken meanwhile", async () => {
    const { pool, pass } = await filled(1);
    for (let i = 0; i < 3; i += 1) {
      await pool.take(order);
      await pass(80);
    }
    expect(pool.counts).toMatchObject({ ready: 0, leased: 3 });
    await pass(20);
    expect(pool.counts).toMatchObject({ ready: 1, leased: 3 });
  });

  it("comes after the pause that a failed start begins, even if a take asked for it before", async () => {
    const { pool, control, pass } = await filled(1);
    await pool.take(order);
    control.failing = true;
    pool.refill();
    await pass(10);
    control.failing = false;
    await pass(470); // the refill of the take falls into the pause
    expect(pool.counts.ready).toBe(0);
    await pass(30);
    expect(pool.counts.ready).toBe(1);
  });
});
