import { BASE, check } from "@antiphon/run/testing/record-log";
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
  away: RoomOutcome,
  bare: RoomOutcome = ended(1),
  change = ended(0),
) {
  const asked: RoomRequest[] = [];
  const room: CleanRoomPort = {
    check: (request) => {
      asked.push(request);
      return Promise.resolve(request.purpose === "base" ? bare : away);
    },
  };
  const moved = { request: REQUEST, elsewhere: "/tmp/a/tree" };
  const found = await triedElsewhere(moved, { change, base }, room, new AbortController().signal);
  return { found, asked };
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
});
