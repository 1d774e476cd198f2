import { AntiphonError } from "@antiphon/contracts";
import { BASE, check } from "@antiphon/run/testing/record-log";
import { describe, expect, it, vi } from "vitest";
import type { Candidate, CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import type { KeptBase } from "./kept-base.ts";
import type { Touched } from "./touched.ts";
import { tryOut } from "./rooms.ts";
import type { Subject, TriedOut } from "./tried-out.ts";

const ONCE = { least: 1, most: 1, withinMs: 0 };
const TWICE = { least: 2, most: 2, withinMs: 0 };
const CANDIDATE: Candidate = {
  tree: "c".repeat(40),
  objects: [],
  overlay: [{ path: "data/a", mode: "100644", content: Buffer.from("a") }],
  deletions: [],
};
const REQUEST: RoomRequest = {
  ...{ run: "run_a", task: "T-001", epoch: 1, purpose: "verify", history: null, candidate: CANDIDATE },
  tree: { commit: BASE, tree: BASE, object: "tree.tar", bytes: 1, files: 1 },
  ...{ checks: ["npm test"], image: null, budgetMs: 60_000, trials: TWICE },
};

const UNTOUCHED: Touched = { sources: [], beside: [], alone: false, removes: false };
const DATA = new Set(["data/a"]);

const ended = (exits: readonly number[], read?: string[]): RoomOutcome => ({
  trials: exits.map((exit) => [check(exit)]),
  written: { changed: [], restored: [], made: [], complete: true, ...(read === undefined ? {} : { read }) },
  image: "sha256:a",
});

interface World {
  readonly kept?: KeptBase | null | "stopped";
  readonly change?: number;
  /** The files that the changed tree opens. */
  readonly opens?: string[];
  readonly base?: number;
  /** Without the files of the change. */
  readonly hollow?: number;
  readonly over?: Partial<Subject>;
}

/** Tries a change; `rooms` are the purposes of those that were opened, with their number of trials. */
async function triedIn({ kept = null, change = 0, opens, base = 1, hollow = base, over = {} }: World) {
  const rooms: string[] = [];
  const looked: string[][] = [];
  const room: CleanRoomPort = {
    check: ({ purpose, trials, candidate, emptied = false }) => {
      const name = emptied ? "emptied" : candidate?.deletions.length === 1 ? "hollow" : purpose;
      rooms.push(`${name} ${trials.least}`);
      const exit = name === "hollow" ? hollow : name === "emptied" ? 0 : purpose === "base" ? base : change;
      const exits = Array.from({ length: trials.least }, () => exit);
      return Promise.resolve(ended(exits, purpose === "base" ? undefined : opens));
    },
  };
  const subject: Subject = {
    request: REQUEST,
    judges: [],
    own: null,
    unnamed: (opened) => {
      looked.push([...opened]);
      return Promise.resolve([]);
    },
    ...{ waitForBase: true, mayOpen: new Set<string>(), touched: UNTOUCHED, needsEmptied: () => true },
    ...over,
  };
  const bases = {
    take: () =>
      kept === "stopped"
        ? Promise.reject(new AntiphonError("ANT_SANDBOX_CANCELED", "stopped"))
        : Promise.resolve(kept),
  };
  const outcome = await tryOut(subject, { room, kept: bases }, new AbortController().signal);
  return { outcome, rooms, looked };
}

/** Tries a change whose base nobody waits for longer than needed, in virtual time. */
async function slowlyTried(room: CleanRoomPort, touched = UNTOUCHED): Promise<TriedOut> {
  vi.useFakeTimers();
  try {
    const tried = tryOut(
      {
        ...{ request: { ...REQUEST, trials: ONCE }, judges: [], own: null, mayOpen: new Set<string>() },
        ...{ waitForBase: false, unnamed: () => Promise.resolve([]), touched, needsEmptied: () => true },
      },
      { room },
      new AbortController().signal,
    );
    await vi.runAllTimersAsync();
    return await tried;
  } finally {
    vi.useRealTimers();
  }
}

describe("the base of a verification", () => {
  it.each([
    [0, 1],
    [0, 0],
    [1, 1],
    [1, 0],
  ])(
    "is the kept one, with the same outcome as a fresh one, where the change exits %i and the base %i",
    async (change, base) => {
      const fresh = await triedIn({ change, base });
      const kept = await triedIn({ change, base, kept: { asked: TWICE, outcome: ended([base, base]) } });
      expect(kept.outcome).toEqual(fresh.outcome);
      expect(fresh.rooms).toContain("base 2");
      expect(kept.rooms).toEqual(fresh.rooms.filter((one) => one !== "base 2"));
    },
  );

  it.each<[string, World]>([
    ["nothing is kept", {}],
    ["the kept one ran less often than is wanted", { kept: { asked: ONCE, outcome: ended([1]) } }],
    [
      "a file of the change may count, the changed tree did not open it, and the kept one does not tell",
      { kept: { asked: TWICE, outcome: ended([1, 1]) }, over: { mayOpen: DATA } },
    ],
    [
      "the name of the image means another one by now",
      { kept: { asked: TWICE, outcome: { ...ended([1, 1]), image: "sha256:b" } } },
    ],
  ])("runs in the verification where %s", async (_, world) => {
    const { rooms, outcome } = await triedIn(world);
    expect(rooms).toEqual(["verify 2", "base 2"]);
    expect(outcome.base).toEqual(ended([1, 1]));
  });

  it("is the kept one where its trials differ, however many are wanted now", async () => {
    const flaky = { asked: ONCE, outcome: ended([1, 0]) };
    const { rooms, outcome } = await triedIn({ kept: flaky });
    expect([rooms, outcome.base]).toEqual([["verify 2"], flaky.outcome]);
  });

  it("tells of the files of the change alone, although a kept one tells of the tree", async () => {
    const kept = { asked: TWICE, outcome: ended([1, 1], ["data/a", "src/b"]) };
    const { rooms, looked } = await triedIn({ kept, over: { mayOpen: DATA } });
    expect([rooms, looked]).toEqual([["verify 2"], [["data/a"]]]);
  });

  it("is not asked which files it opened where the changed tree opened them, or failed", async () => {
    const kept = { asked: TWICE, outcome: ended([1, 1]) };
    const opens = await triedIn({ kept, opens: ["data/a"], over: { mayOpen: DATA } });
    expect([opens.rooms, opens.looked]).toEqual([["verify 2"], [["data/a"]]]);
    const fails = await triedIn({ kept, change: 1, over: { mayOpen: DATA } });
    expect([fails.rooms, fails.looked]).toEqual([["verify 2"], []]);
  });

  it("is no answer where the wait for it was stopped", async () => {
    await expect(triedIn({ kept: "stopped" })).rejects.toMatchObject({ code: "ANT_SANDBOX_CANCELED" });
  });
});

describe("checks that pass", () => {
  it("run without any file only if they pass on the base without the files of the change", async () => {
    const vacuous = await triedIn({ base: 0 });
    expect(vacuous.rooms).toEqual(["verify 2", "base 2", "hollow 1", "emptied 1"]);
    expect(vacuous.outcome.emptied?.trials).toHaveLength(1);
    for (const world of [{ base: 1 }, { base: 0, hollow: 1 }, { base: 0, change: 1 }]) {
      const { rooms, outcome } = await triedIn(world);
      expect([rooms.includes("emptied 1"), outcome.emptied]).toEqual([false, null]);
    }
  });

  it("run without any file only if the change would land or be tried again", async () => {
    const seen: TriedOut[] = [];
    const lands = (tried: TriedOut): boolean => {
      seen.push(tried);
      return false;
    };
    const { rooms, outcome } = await triedIn({ base: 0, over: { needsEmptied: lands } });
    expect(rooms).toEqual(["verify 2", "base 2", "hollow 1"]);
    expect([outcome.emptied, seen]).toEqual([null, [outcome]]);
  });

  it("and pass without its sources are held against a change only after the slow base has ended", async () => {
    for (const [base, hollow] of [
      [0, 0],
      [1, 0],
      [0, 1],
    ] as const) {
      const asked: string[] = [];
      const room: CleanRoomPort = {
        check: ({ purpose, candidate, emptied = false }, signal) => {
          const name = emptied ? "emptied" : candidate?.deletions.length === 1 ? "hollow" : purpose;
          asked.push(name);
          if (name === "base" && !asked.includes("hollow"))
            return new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
            });
          const exits = { verify: 0, hollow, base, emptied: 1 } as Partial<Record<string, number>>;
          return Promise.resolve(ended([exits[name] ?? 1]));
        },
      };
      const outcome = await slowlyTried(room, { ...UNTOUCHED, sources: ["data/a"] });
      const after = hollow === 1 ? [] : base === 1 ? ["base"] : ["base", "emptied"];
      expect(asked).toEqual(["verify", "base", "hollow", ...after]);
      expect(outcome.base?.trials ?? null).toEqual(hollow === 1 ? null : [[check(base)]]);
      expect(outcome.hollow?.trials).toEqual([[check(hollow)]]);
    }
  });

  it("are not tried without the files of a change that only removes some, which is the change itself", async () => {
    const { rooms, outcome } = await triedIn({ base: 0, over: { touched: { ...UNTOUCHED, removes: true } } });
    expect([rooms, outcome.hollow]).toEqual([["verify 2", "base 2", "emptied 1"], null]);
  });

  it("and pass without any file are held against a change only after the slow base has ended", async () => {
    for (const [base, emptied] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const asked: string[] = [];
      const room: CleanRoomPort = {
        check: ({ purpose, emptied: isEmptied = false }, signal) => {
          asked.push(isEmptied ? "emptied" : purpose);
          if (purpose === "verify" || asked.includes("emptied")) {
            return Promise.resolve(ended([isEmptied ? 0 : purpose === "verify" ? 0 : base]));
          }
          return new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
          });
        },
      };
      const outcome = await slowlyTried(room);
      expect(asked).toEqual(["verify", "base", "emptied", "base"]);
      expect(outcome.base?.trials).toEqual([[check(base)]]);
      expect(outcome.emptied?.trials.length ?? 0).toBe(emptied);
    }
  });
});
