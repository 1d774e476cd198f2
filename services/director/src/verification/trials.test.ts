import { limits } from "@antiphon/contracts";
import { check } from "@antiphon/run/testing/record-log";
import { describe, expect, it } from "vitest";
import type { RoomOutcome, RoomRequest } from "../ports.ts";
import { ONCE, runTrials, trialsFor } from "./trials.ts";

const CALM = { asked: undefined, atLeast: undefined, chance: null, wasFlaky: false } as const;

describe("the number of trials", () => {
  it.each([
    ["two, and more while they are short", CALM, { least: 2, most: 16, withinMs: limits.verifyTrialsMs }],
    ["more with timing", { ...CALM, chance: "timing" as const }, { withinMs: limits.verifyTimingMs }],
    [
      "most with random numbers",
      { ...CALM, chance: "random numbers" as const },
      { withinMs: limits.verifyRandomMs },
    ],
    ["most after a flaky verdict", { ...CALM, wasFlaky: true }, { withinMs: limits.verifyRandomMs }],
    ["as asked", { ...CALM, asked: 1 }, ONCE],
    ["as asked, but not below the policy", { ...CALM, asked: 1, atLeast: 3 }, { least: 3, most: 3 }],
    ["at least what the policy says", { ...CALM, atLeast: 20 }, { least: 20, most: 20 }],
  ])("is %s", (_name, wariness, trials) => {
    expect(trialsFor(wariness)).toMatchObject(trials);
  });
});

describe("trials that a clean room cannot repeat", () => {
  const request = { trials: { least: 3, most: 8, withinMs: 0 } } as RoomRequest;
  async function runs(...rooms: number[][]) {
    const asked: RoomRequest["trials"][] = [];
    const left = [...rooms];
    const check1 = (exits: number[]): RoomOutcome => ({
      trials: exits.map((exit) => [check(exit)]),
      written: null,
    });
    const room = {
      check: ({ trials }: RoomRequest) => {
        asked.push(trials);
        return Promise.resolve(check1(left.shift() ?? []));
      },
    };
    const { trials } = await runTrials(request, room, new AbortController().signal);
    return { exits: trials.map(([one]) => one?.exitCode), asked };
  }

  it("run in fresh ones", async () => {
    expect(await runs([0], [0], [0])).toEqual({ exits: [0, 0, 0], asked: [request.trials, ONCE, ONCE] });
  });

  it("end when two of them differ", async () => {
    expect((await runs([0], [1], [0])).exits).toEqual([0, 1]);
  });

  it("are not missed when the first room ran them all", async () => {
    expect((await runs([0, 0, 0])).asked).toEqual([request.trials]);
  });
});
