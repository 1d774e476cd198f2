import { BASE, check } from "@antiphon/run/testing/record-log";
import { limits } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { triedElsewhere } from "./elsewhere.ts";
import { readTestReport } from "./reports/test-report.ts";

const REQUEST: RoomRequest = {
  ...{ run: "run_a", task: "T-001", epoch: 1, purpose: "verify", history: null },
  candidate: { tree: BASE, objects: [], overlay: [], deletions: [] },
  tree: { commit: BASE, tree: BASE, object: "tree.tar", bytes: 1, files: 1 },
  ...{ checks: ["npm test"], image: null, budgetMs: 60_000, trials: { least: 2, most: 5, withinMs: 9 } },
};
const ONE_FAILS = "# pass 0\n# fail 1\n";
const ended = (exit: number | null, output = ONE_FAILS): RoomOutcome => ({
  trials: exit === null ? [] : [[check(exit)]],
  written: null,
  reports: [readTestReport(output)],
});

/** `away`: how the change ends elsewhere; `bare`: how the base does. */
async function tried(
  base: RoomOutcome | null,
  away: RoomOutcome | readonly RoomOutcome[],
  bare: RoomOutcome = ended(1),
  change = ended(0),
  request = REQUEST,
) {
  const asked: RoomRequest[] = [];
  const ends = [away].flat();
  const room: CleanRoomPort = {
    check: (request) => {
      asked.push(request);
      const one = request.purpose === "base" ? bare : (ends[asked.length - 1] ?? ends[0]);
      return one === undefined ? Promise.reject(new Error("no outcome")) : Promise.resolve(one);
    },
  };
  const moved = { request, elsewhere: "/tmp/a/tree" };
  const found = await triedElsewhere(moved, { change, base }, room, new AbortController().signal);
  return { found: found?.trials ?? null, asked };
}

describe("checks that pass at /workspace", () => {
  it("run once in another directory, and the base is not asked where they pass there", async () => {
    const { found, asked } = await tried(ended(1), ended(0));
    expect(found).toBeNull();
    expect(asked).toMatchObject([
      { elsewhere: "/tmp/a/tree", purpose: "verify", trials: { least: 1, most: 1 } },
    ]);
  });

  it.each([
    ["the base passes at both", ended(0), ended(0)],
    ["the base fails at both with the same report", ended(1), ended(1)],
  ])("are held against the change if they fail there and %s", async (_, base, bare) => {
    const { found, asked } = await tried(base, ended(1), bare);
    expect(found).toEqual(ended(1).trials);
    expect(asked.map(({ purpose, candidate }) => [purpose, candidate === null])).toEqual([
      ["verify", false],
      ["verify", false],
      ["base", true],
    ]);
  });

  it.each([
    ["the base passes at /workspace alone", ended(0), ended(1), ended(1)],
    ["another number of tests of the base fails", ended(1), ended(1), ended(1, "# pass 0\n# fail 2\n")],
    ["the base fails and no runner reports how", ended(1, "no"), ended(1, "no"), ended(1, "no")],
    ["the base could not be moved", ended(1), ended(1), ended(null)],
    ["the tree could not be moved", ended(1), ended(null), ended(1)],
  ])("decide nothing where %s", async (_, base, away, bare) => {
    expect((await tried(base, away, bare)).found).toBeNull();
  });

  it("are not tried elsewhere in an environment, or without the base", async () => {
    const report = { key: "k", reused: true, seconds: 0 } as unknown as NonNullable<
      RoomOutcome["environment"]
    >;
    const inEnvironment = await tried(ended(1), ended(1), ended(1), { ...ended(0), environment: report });
    const alone = await tried(null, ended(1));
    expect([inEnvironment.asked, inEnvironment.found, alone.asked, alone.found]).toEqual([
      [],
      null,
      [],
      null,
    ]);
  });

  it("decide nothing where they fail there once and then pass, and the base is not asked", async () => {
    const { found, asked } = await tried(ended(0), [ended(1), ended(0)], ended(0));
    expect([found, asked.map(({ purpose }) => purpose)]).toEqual([null, ["verify", "verify"]]);
  });

  it.each<[string, RoomRequest, number]>([
    ["a variable of the run names it", { ...REQUEST, room: { env: { PYTHONPATH: "/workspace/src" } } }, 1],
    ["a check names it", { ...REQUEST, checks: ["sh /workspace/check.sh"] }, 1],
    ["they are slow", REQUEST, limits.verifyElsewhereMs + 1],
  ])("are not tried elsewhere where %s", async (_, request, durationMs) => {
    const change = { ...ended(0), trials: [[{ ...check(0), durationMs }]] };
    const { asked } = await tried(ended(1), ended(1), ended(1), change, request);
    expect(asked).toEqual([]);
  });
});
