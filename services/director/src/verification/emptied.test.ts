import { limits } from "@antiphon/contracts";
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

interface World {
  readonly others?: readonly (RoomOutcome | null)[];
  /** The base, where it is run to its end. */
  readonly slow?: RoomOutcome;
}

async function tried(
  change: RoomOutcome,
  emptied: RoomOutcome,
  { others = [ended(0)], slow = ended(0) }: World = {},
) {
  const asked: RoomRequest[] = [];
  let waited = 0;
  const room: CleanRoomPort = {
    check: (request) => {
      asked.push(request);
      return Promise.resolve(emptied);
    },
  };
  const base = (): Promise<RoomOutcome> => {
    waited += 1;
    return Promise.resolve(slow);
  };
  const [known = null, hollow = null, ownOnBase = null] = others;
  const of = { change, base: known, hollow, ownOnBase };
  const end = await triedEmptied(REQUEST, of, { room, base }, new AbortController().signal);
  return { found: passesEmptied(end.emptied?.trials ?? null), asked, base: end.base, waited };
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

  it.each([126, 127])(
    "show nothing where their program is missing or cannot be started, exit %i",
    async (exit) => {
      for (const others of [[ended(0), ended(0)], [null]]) {
        const { found, base, waited } = await tried(ended(0), ended(exit), { others });
        expect([found, base, waited]).toEqual([false, others[0], 0]);
      }
    },
  );

  it("get a little more than twice the time there that they took with files, and never more than their task has", async () => {
    const took = (durationMs: number): RoomOutcome => ({
      trials: [[{ ...check(0), durationMs }]],
      written: null,
    });
    const quick = await tried(took(700.2), ended(1));
    expect(quick.asked[0]?.budgetMs).toBe(limits.verifyEmptiedGraceMs + 1_401);
    const slow = await tried(took(50_000), ended(1));
    expect(slow.asked[0]?.budgetMs).toBe(REQUEST.budgetMs);
  });

  it.each([
    ["they fail", ended(1), []],
    ["they fail on the base", ended(0), [ended(1)]],
    ["they fail without the files of the change", ended(0), [ended(0), ended(1)]],
    ["the own tests of the change fail on the base", ended(0), [ended(0), ended(0), ended(1)]],
  ])("do not run there where %s", async (_, change, others) => {
    expect((await tried(change, ended(0), { others })).asked).toEqual([]);
  });
});

describe("a base that was too slow to tell", () => {
  const others = [null];

  it("is run to its end before a pass without files counts, and a failure there counts more", async () => {
    const passes = await tried(ended(0), ended(0), { others });
    expect(passes).toMatchObject({ found: true, base: ended(0), waited: 1 });
    const fails = await tried(ended(0), ended(0), { others, slow: ended(1) });
    expect(fails).toMatchObject({ found: false, base: ended(1), waited: 1 });
  });

  it("is left alone where the checks fail without files", async () => {
    const { found, base, waited } = await tried(ended(0), ended(1), { others });
    expect([found, base, waited]).toEqual([false, null, 0]);
  });
});
