import { BASE, check } from "@antiphon/run/testing/record-log";
import { describe, expect, it } from "vitest";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { passesEmptied, triedEmptied } from "./emptied.ts";
import { readTestReport } from "./reports/test-report.ts";

const REQUEST: RoomRequest = {
  ...{ run: "run_a", task: "T-001", epoch: 1, purpose: "base", history: null },
  candidate: { tree: BASE, objects: [], overlay: [], deletions: ["src/a"] },
  tree: { commit: BASE, tree: BASE, object: "tree.tar", bytes: 1, files: 1 },
  ...{ checks: ["npm test"], image: null, budgetMs: 60_000, trials: { least: 2, most: 5, withinMs: 9 } },
  setup: { repo: { name: "app", path: "/srv/app" }, base: BASE },
};
const ended = (exit: number, output?: string): RoomOutcome => ({
  trials: [[check(exit)]],
  written: null,
  ...(output === undefined ? {} : { reports: [readTestReport(output)] }),
});
const counted = (tests: number): RoomOutcome => ended(0, `# tests ${tests}\n# pass ${tests}\n# fail 0\n`);

async function tried(change: RoomOutcome, emptied: RoomOutcome, others: (RoomOutcome | null)[] = []) {
  const asked: RoomRequest[] = [];
  const room: CleanRoomPort = {
    check: (request) => {
      asked.push(request);
      return Promise.resolve(emptied);
    },
  };
  const [base = null, hollow = null, ownOnBase = null] = others;
  const of = { change, base, hollow, ownOnBase };
  const found = await triedEmptied(REQUEST, of, room, new AbortController().signal);
  return { found: passesEmptied(found?.trials ?? null), asked };
}

describe("checks that nothing shows to depend on a change", () => {
  it("run once in a workspace without any file, without the change and without a setup", async () => {
    const { found, asked } = await tried(ended(0), ended(0));
    expect(found).toBe(true);
    expect(asked).toMatchObject([{ emptied: true, candidate: null, trials: { least: 1, most: 1 } }]);
    expect(asked[0]?.setup).toBeUndefined();
  });

  it("depend on files if they fail there, or if the workspace could not be emptied", async () => {
    expect((await tried(ended(0), ended(1))).found).toBe(false);
    expect((await tried(ended(0), { trials: [], written: null })).found).toBe(false);
  });

  it("depend on files if their runner counts fewer tests there, and not if it counts as many", async () => {
    expect((await tried(counted(2), counted(0))).found).toBe(false);
    expect((await tried(counted(2), ended(0, "nothing to do"))).found).toBe(false);
    expect((await tried(counted(2), counted(2))).found).toBe(true);
    expect((await tried(ended(0, "fine"), ended(0, "fine"))).found).toBe(true);
  });

  it.each([
    ["they fail", ended(1), []],
    ["they fail on the base", ended(0), [ended(1)]],
    ["they fail without the files of the change", ended(0), [ended(0), ended(1)]],
    ["the own tests of the change fail on the base", ended(0), [ended(0), ended(0), ended(1)]],
  ])("do not run there where %s", async (_, change, others) => {
    expect((await tried(change, ended(0), others)).asked).toEqual([]);
  });
});
