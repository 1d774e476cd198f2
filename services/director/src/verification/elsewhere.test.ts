import { BASE, check } from "@antiphon/run/testing/record-log";
import { limits } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { triedElsewhere, type Asks } from "./elsewhere.ts";
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

const BOTH: Asks = { directory: "/tmp/a/tree", readsVariables: true };

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
  const moved = { request, elsewhere: { directory: "/tmp/a/tree", readsVariables: false } };
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

/** Whether checks fail, by their surroundings. */
type Fails = (at: { readonly isMoved: boolean; readonly hasVariables: boolean }) => boolean;

/** `change` and `base`: whether it fails; both run in rooms that tell where they are. */
async function inSurroundings(
  [change, base]: readonly [Fails, Fails],
  { asks = BOTH, request = REQUEST, here = {} }: { asks?: Asks; request?: RoomRequest; here?: object } = {},
) {
  const asked: string[] = [];
  const room: CleanRoomPort = {
    check: ({ purpose, elsewhere, room: options }) => {
      const at = { isMoved: elsewhere !== undefined, hasVariables: options?.env?.["CI"] === "true" };
      asked.push([purpose, at.isMoved && "moved", at.hasVariables && "variables"].filter(Boolean).join(" "));
      return Promise.resolve(ended((purpose === "base" ? base : change)(at) ? 1 : 0));
    },
  };
  const outcomes = { change: { ...ended(0), ...here }, base: ended(1) };
  const tried = { request, elsewhere: asks };
  const found = await triedElsewhere(tried, outcomes, room, new AbortController().signal);
  return { where: found?.where ?? null, asked };
}

describe("checks of a change that may look around and read variables", () => {
  const always: Fails = () => true;
  const never: Fails = () => false;

  it("run once with all differences", async () => {
    expect(await inSurroundings([never, always])).toEqual({
      where: null,
      asked: ["verify moved variables"],
    });
  });

  it.each<[string, Fails, string]>([
    ["the directory", ({ isMoved }) => isMoved, "in another directory"],
    ["the variables", ({ hasVariables }) => hasVariables, "where variables such as CI are set"],
    [
      "both together",
      ({ isMoved, hasVariables }) => isMoved && hasVariables,
      "in another directory, where variables such as CI are set",
    ],
  ])("are held against it if %s make them fail and the base fails as before", async (_, change, where) => {
    expect((await inSurroundings([change, always])).where).toBe(where);
  });

  it("decide nothing where the base passes with the variables", async () => {
    const { where, asked } = await inSurroundings([({ hasVariables }) => hasVariables, never]);
    expect([where, asked.filter((one) => one.startsWith("base"))]).toEqual([null, ["base variables"]]);
  });

  it("are held against it by the variables where the project depends on its place", async () => {
    const base: Fails = ({ isMoved }) => !isMoved;
    expect((await inSurroundings([always, base])).where).toBe("where variables such as CI are set");
  });

  it.each([
    ["in an environment", { here: { environment: { key: "k", reused: true, seconds: 0 } } }],
    ["where a check names their place", { request: { ...REQUEST, checks: ["sh /workspace/check.sh"] } }],
  ])("stay in their place %s, with the variables", async (_, parts) => {
    const found = await inSurroundings([({ hasVariables }) => hasVariables, always], parts);
    expect(found.where).toBe("where variables such as CI are set");
    expect(found.asked).toEqual(["verify variables", "verify variables", "base variables"]);
  });

  it("have no other variables where no source reads them, and keep those of the run", async () => {
    const asks = { ...BOTH, readsVariables: false };
    expect((await inSurroundings([never, always], { asks })).asked).toEqual(["verify moved"]);
    const request = { ...REQUEST, room: { env: { CI: "0" } } };
    expect((await inSurroundings([never, always], { request })).asked).toEqual(["verify moved"]);
  });
});
