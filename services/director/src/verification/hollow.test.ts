import { limits } from "@antiphon/contracts";
import { BASE, check } from "@antiphon/run/testing/record-log";
import { describe, expect, it } from "vitest";
import type { Candidate, CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { triedHollow } from "./hollow.ts";
import { readTestReport } from "./reports/test-report.ts";
import type { Touched } from "./touched.ts";

const CANDIDATE: Candidate = {
  tree: "c".repeat(40),
  objects: [],
  overlay: [{ path: "src/b.py", mode: "100644", content: Buffer.from("b") }],
  deletions: ["src/a.py"],
};
const BARE: RoomRequest = {
  ...{ run: "run_a", task: "T-001", epoch: 1, purpose: "base", history: null, candidate: null },
  tree: { commit: BASE, tree: BASE, object: "tree.tar", bytes: 1, files: 1 },
  ...{ checks: ["pytest"], image: null, budgetMs: 60_000, trials: { least: 2, most: 2, withinMs: 0 } },
};
const SOURCES: Touched = { sources: ["src/b.py"], beside: [], alone: true, removes: false };

const ended = (exit: number, durationMs = 1): RoomOutcome => ({
  trials: [[{ ...check(exit), durationMs }]],
  written: null,
});
const counted = (ran: number): RoomOutcome => ({
  ...ended(0),
  reports: [readTestReport(`# pass ${ran}\n# fail 0`)],
});

interface World {
  readonly change?: RoomOutcome;
  readonly base?: RoomOutcome | null;
  readonly touched?: Touched;
  readonly candidate?: Candidate;
}

async function hollow(found: RoomOutcome, world: World) {
  const { change = ended(0), base = ended(0), touched = SOURCES, candidate = CANDIDATE } = world;
  const asked: RoomRequest[] = [];
  const room: CleanRoomPort = {
    check: (request) => {
      asked.push(request);
      return Promise.resolve(found);
    },
  };
  const { signal } = new AbortController();
  const outcome = await triedHollow(BARE, candidate, touched, { change, base }, room, signal);
  return { outcome, asked };
}

describe("the base without the files of a change", () => {
  it("lacks each file that the change adds, edits or removes, and is tried once", async () => {
    const { outcome, asked } = await hollow(ended(0), {});
    expect(outcome).toEqual(ended(0));
    expect(asked).toMatchObject([{ purpose: "base", trials: { most: 1 }, budgetMs: 60_000 }]);
    expect(asked[0]?.candidate).toMatchObject({ overlay: [], deletions: ["src/b.py", "src/a.py"] });
  });

  it("has the tests that the change edits beside its sources, as they were", async () => {
    const { asked } = await hollow(ended(1), { touched: { ...SOURCES, beside: ["src/a.py"], alone: false } });
    expect(asked[0]?.candidate).toMatchObject({ overlay: [], deletions: ["src/b.py"] });
  });

  it("has an empty file where a package of Python begins, or an installed package of its name would stand for it", async () => {
    const content = Buffer.from("from .b import b");
    const overlay = ["lib/__init__.py", "src/b.py"].map((path) => ({
      path,
      mode: "100644" as const,
      content,
    }));
    const { asked } = await hollow(ended(1), { candidate: { ...CANDIDATE, overlay } });
    expect(asked[0]?.candidate).toMatchObject({
      overlay: [{ path: "lib/__init__.py", content: Buffer.alloc(0) }],
      deletions: ["src/b.py", "src/a.py"],
    });
  });

  it.each<[string, World]>([
    ["the checks fail with the change", { change: ended(1) }],
    ["they fail on the base", { base: ended(1) }],
    ["the change only removes sources", { touched: { ...SOURCES, removes: true } }],
    [
      "the base was too slow, and the change has no source",
      { base: null, touched: { ...SOURCES, sources: [] } },
    ],
  ])("is not tried where %s", async (_, world) => {
    expect((await hollow(ended(0), world)).asked).toEqual([]);
  });

  it("is tried beside a slow base for little more than twice the time of the checks", async () => {
    const { asked } = await hollow(ended(0), { base: null, change: ended(0, 700.2) });
    expect(asked.map(({ budgetMs }) => budgetMs)).toEqual([limits.verifyEmptiedGraceMs + 1401]);
    const long = await hollow(ended(0), { base: null, change: ended(0, 50_000) });
    expect(long.asked.map(({ budgetMs }) => budgetMs)).toEqual([60_000]);
  });

  it("tells nothing of sources that bring their own tests, and does where others may bring them", async () => {
    expect((await hollow(counted(2), { change: counted(3) })).outcome).toBeNull();
    expect((await hollow(counted(3), { change: counted(3) })).outcome).not.toBeNull();
    const beside = { ...SOURCES, alone: false };
    expect((await hollow(counted(2), { change: counted(3), touched: beside })).outcome).not.toBeNull();
  });
});
