import { AntiphonError, limits, type CheckOutcome } from "@antiphon/contracts";
import { BASE, check } from "@antiphon/run/testing/record-log";
import { describe, expect, it } from "vitest";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { silent } from "../testing/directing.ts";
import type { BaseOrder } from "./base-order.ts";
import { BaseTrials } from "./base-trials.ts";

const ONCE = { least: 1, most: 1, withinMs: 0 };
const MANY = { least: 2, most: 16, withinMs: 50 };
const REPO = { name: "app", path: "/repo" };

const request = (over: Partial<RoomRequest> = {}): RoomRequest => ({
  ...{ run: "run_a", task: "T-001", epoch: 1, purpose: "base", history: null, candidate: null },
  tree: { commit: BASE, tree: BASE, object: "tree.tar", bytes: 1, files: 1 },
  checks: ["npm test"],
  image: null,
  room: {},
  budgetMs: 60_000,
  trials: ONCE,
  setup: { repo: REPO, base: BASE },
  ...over,
});
const order = (over: Partial<RoomRequest> = {}, tenant = "default"): BaseOrder => ({
  tenant,
  request: request(over),
});
const outcomeOf = (outcome: CheckOutcome): RoomOutcome => ({ trials: [[outcome]], written: null });

interface Asked {
  readonly request: RoomRequest;
  readonly signal: AbortSignal;
  end(outcome: RoomOutcome): void;
  fail(code: "ANT_SANDBOX_BUSY" | "ANT_SANDBOX_RUNNER_LOST"): void;
}

/** Base trials over rooms that end when the test says so, or when they are stopped. */
function setUp() {
  const asked: Asked[] = [];
  const clock = { now: 0 };
  const room: CleanRoomPort = {
    check: (request, signal) =>
      new Promise((resolve, reject) => {
        const canceled = (): void => reject(new AntiphonError("ANT_SANDBOX_CANCELED", "stopped"));
        signal.addEventListener("abort", canceled, { once: true });
        const fail: Asked["fail"] = (code) => reject(new AntiphonError(code, "no room"));
        asked.push({ request, signal, end: resolve, fail });
      }),
  };
  const bases = new BaseTrials({ room, log: silent, now: () => clock.now });
  const begin = (one: BaseOrder) => bases.begin(() => Promise.resolve(one));
  const begun = async (one: BaseOrder): Promise<Asked> => {
    const before = asked.length;
    void begin(one);
    await settle();
    expect(asked.length).toBe(before + 1);
    return asked[before]!;
  };
  const take = (one: BaseOrder, signal = new AbortController().signal) => bases.take(one, signal);
  return { bases, asked, clock, begin, begun, take };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("director/D5: a kept outcome of the base", () => {
  it.each(["ANT_SANDBOX_BUSY", "ANT_SANDBOX_RUNNER_LOST"] as const)(
    "is none where the room ended with %s, also for a verification that waits, and the next attempt begins another",
    async (code) => {
      const { begun, take } = setUp();
      const room = await begun(order());
      const waiting = take(order());
      room.fail(code);
      expect(await waiting).toBeNull();
      expect(await take(order())).toBeNull();
      await begun(order({ epoch: 2 }));
    },
  );

  it("is none if a check ran out of time, because beside an attempt the machine may be the reason", async () => {
    const { begun, take } = setUp();
    (await begun(order())).end(outcomeOf({ ...check(1), exitCode: null, timedOut: true }));
    expect(await take(order())).toBeNull();
  });

  it("is none if what is to be tried cannot be found, and nothing is asked", async () => {
    const { bases, asked, begin, take } = setUp();
    expect(
      await bases.begin(() => Promise.reject(new AntiphonError("ANT_REPO_UNREADABLE", "gone"))),
    ).toBeNull();
    expect(await bases.begin(() => Promise.resolve(null))).toBeNull();
    expect([asked.length, await take(order())]).toEqual([0, null]);
    await bases.close();
    expect(await begin(order())).toBeNull();
    expect(asked.length).toBe(0);
  });

  it("is asked for without a change, ahead of all others, and by nobody twice", async () => {
    const { asked, begin, begun, take } = setUp();
    const room = await begun(order());
    expect(room.request).toMatchObject({ purpose: "base", candidate: null, ahead: true });
    const also = [begin(order({ epoch: 2 })), begin(order({ run: "run_b" }))];
    await settle();
    const outcome = outcomeOf(check(1));
    const waiting = take(order({ run: "run_b" }));
    room.end(outcome);
    expect(await Promise.all(also)).toEqual([outcome, outcome]);
    expect(await waiting).toEqual({ asked: ONCE, outcome });
    expect(await take(order({ epoch: 3, run: "run_c" }))).toEqual({ asked: ONCE, outcome });
    expect(asked.length).toBe(1);
  });

  it.each<[string, BaseOrder]>([
    ["another tenant", order({}, "other")],
    ["another repository", order({ setup: { repo: { name: "app", path: "/other" }, base: BASE } })],
    ["another head", order({ tree: { ...request().tree, commit: "e".repeat(40) } })],
    ["other linked files", order({ tree: { ...request().tree, linked: "linked.tar" } })],
    ["other checks", order({ checks: ["npm run lint"] })],
    ["another image", order({ image: "other" })],
    ["other variables", order({ room: { env: { A: "1" } } })],
    ["other services", order({ room: { services: [{ name: "db" }] as never } })],
    ["another memory", order({ room: { memory_mib: 64 } })],
    ["another setup", order({ setup: { repo: REPO, base: BASE, named: ["make"] } })],
    ["another repository inside", order({ history: { object: "h", commits: 1, cut: false, bytes: 1 } })],
    ["another time", order({ budgetMs: 1 })],
  ])("is not that of %s", async (_, other) => {
    const { begun, take } = setUp();
    (await begun(order())).end(outcomeOf(check(0)));
    await settle();
    expect(await take(other)).toBeNull();
    expect(await take(order())).not.toBeNull();
  });

  it("with too few trials is replaced, and the verification that waited for it runs its own", async () => {
    const { begun, take } = setUp();
    const few = await begun(order());
    const waiting = take(order());
    const more = await begun(order({ trials: MANY }));
    expect(few.signal.aborted).toBe(true);
    expect(await waiting).toBeNull();
    const outcome = { trials: [[check(0)], [check(0)]], written: null };
    more.end(outcome);
    expect(await take(order())).toEqual({ asked: MANY, outcome });
  });

  it("is forgotten after a while, and where too many others are kept", async () => {
    const { begun, clock, take } = setUp();
    (await begun(order())).end(outcomeOf(check(0)));
    await settle();
    clock.now = limits.baseTrialKeepMs - 1;
    expect(await take(order())).not.toBeNull();
    clock.now += 1;
    expect(await take(order())).toBeNull();
    for (let i = 0; i <= limits.baseTrialsKept; i += 1)
      (await begun(order({ image: `i${i}`, run: `run_${i}` }))).end(outcomeOf(check(0)));
    expect(await take(order({ image: "i0" }))).toBeNull();
    expect(await take(order({ image: "i1" }))).not.toBeNull();
  });
});

describe("running trials", () => {
  it("are stopped when their run ends, but not while another run holds them or a verification waits", async () => {
    const { bases, begin, begun, take } = setUp();
    const room = await begun(order());
    void begin(order({ run: "run_b" }));
    await settle();
    bases.drop("run_a");
    expect(room.signal.aborted).toBe(false);
    const stop = new AbortController();
    const waiting = take(order({ run: "run_b" }), stop.signal);
    bases.drop("run_b");
    expect(room.signal.aborted).toBe(false);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ANT_SANDBOX_CANCELED" });
    expect(room.signal.aborted).toBe(true);
  });

  it("go on when a verification stops waiting whose run still goes on", async () => {
    const { begun, take } = setUp();
    const room = await begun(order());
    const stop = new AbortController();
    const waiting = take(order(), stop.signal);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: "ANT_SANDBOX_CANCELED" });
    expect(room.signal.aborted).toBe(false);
  });

  it("are stopped when the head of their run has moved", async () => {
    const { begun, take } = setUp();
    const room = await begun(order());
    const moved = order({ tree: { ...request().tree, commit: "e".repeat(40) } });
    expect(await take(moved)).toBeNull();
    expect(room.signal.aborted).toBe(true);
  });

  it("are stopped and waited for when the Director closes", async () => {
    const { bases, begun, take } = setUp();
    const room = await begun(order());
    const waiting = take(order());
    await bases.close();
    expect(room.signal.aborted).toBe(true);
    expect(await waiting).toBeNull();
  });
});
