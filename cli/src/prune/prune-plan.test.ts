import { expect, test } from "vitest";
import { prunePlan, type RunBranch } from "./prune-plan.ts";

const NOW = 10_000_000_000;
const DAY = 86_400_000;
const branch = (over: Partial<RunBranch> = {}): RunBranch => ({
  ref: "refs/heads/antiphon/run_1",
  runId: "run_1",
  commit: "a".repeat(40),
  committedAt: NOW - 1_000,
  isMerged: true,
  isCheckedOut: false,
  ...over,
});

test.each([
  ["a merged branch", {}, null, "delete"],
  ["a merged branch that is checked out", { isCheckedOut: true }, null, "keep"],
  ["a branch that is not merged", { isMerged: false }, null, "keep"],
  ["a young branch that is not merged", { isMerged: false }, 1_000, "keep"],
  ["an old branch that is not merged", { isMerged: false }, 999, "delete"],
] as const)("%s with --older-than %j", (_what, over, olderThanMs, kind) => {
  expect(prunePlan([branch(over)], { olderThanMs }, new Map([["run_1", true]]), NOW)[0]?.kind).toBe(kind);
});

test("never deletes the branch of a run that has not ended", () => {
  const [decision] = prunePlan([branch()], { olderThanMs: 0 }, new Map([["run_1", false]]), NOW);
  expect(decision).toMatchObject({ kind: "keep", why: "its run has not ended" });
});

test("keeps a young branch of a run that the gateway does not list, because another deployment may have it open", () => {
  const plan = (committedAt: number) =>
    prunePlan([branch({ committedAt })], { olderThanMs: null }, new Map(), NOW)[0]?.kind;
  expect([plan(NOW - 6 * DAY), plan(NOW - 8 * DAY)]).toEqual(["keep", "delete"]);
});
