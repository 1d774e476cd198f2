import { limits, type SandboxWritten } from "@antiphon/contracts";
import { expect, test } from "vitest";
import type { Survey } from "../ports.ts";
import { repeatTrials, UNTRACED, type Traced, type TrialGround } from "./trials.ts";

const ONCE = { least: 1, most: 1, withinMs: 0 };
const NOTHING = { made: [], changed: [], restored: [], read: [] };

/** The report of a single trial. */
async function reported(written: Survey["written"], traced?: Traced): Promise<SandboxWritten> {
  const none = (): never => {
    throw new Error("there is one trial");
  };
  const survey = (clear: boolean): Promise<Survey> => Promise.resolve({ written, cleared: clear });
  const ground: TrialGround = { run: none, survey, refill: none, now: () => 0 };
  return repeatTrials(ONCE, { exits: [0], tookMs: 1 }, ground, traced);
}

const tree = (paths: readonly string[]): Traced => ({
  has: (path) => paths.includes(path),
  size: paths.length,
  whole: true,
});
const named = (paths: readonly string[]): Traced => ({ ...tree(paths), whole: false });

test("of the files that were opened, those of the tree are told, or the named ones", async () => {
  const written = { ...NOTHING, read: ["b", "a", "node_modules/x"] };
  expect((await reported(written, tree(["a", "b", "c"]))).read).toEqual(["a", "b"]);
  expect((await reported(written, named(["b"]))).read).toEqual(["b"]);
  expect((await reported(written)).read).toBeUndefined();
  expect((await reported(written, UNTRACED)).read).toBeUndefined();
});

test("no list is told of a tree of which more was opened than a message holds, or of which the supervisor saw too little", async () => {
  const many = Array.from({ length: limits.writtenPaths + 1 }, (_, i) => `f${i}`);
  const all: Traced = { has: () => true, size: many.length, whole: true };
  const { read, complete } = await reported({ ...NOTHING, read: many }, all);
  expect([read, complete]).toEqual([undefined, true]);
  expect((await reported(null, tree(["a"]))).read).toBeUndefined();
});
