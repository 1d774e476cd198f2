import { expect, test } from "vitest";
import { breachOf } from "./policy-bounds.ts";

const file = (path: string, more: object = {}) => ({
  path,
  from: null,
  change: "modify" as const,
  added: 1,
  removed: 1,
  ...more,
});
const bounds = { profiles: ["strict"] };

test("director/D10: a change that breaks a bound is refused with profile, rule and value", () => {
  const two = [file("a"), file("b")];
  expect(breachOf(two, undefined)).toBeNull();
  expect(breachOf(two, { ...bounds, max_files: 2, max_lines: 4, protected_paths: ["c"] })).toBeNull();
  expect(breachOf(two, { ...bounds, max_files: 1 })).toBe(
    "2 files, at most 1 are allowed (policy strict, rule maxFilesPerCommit)",
  );
  expect(breachOf(two, { ...bounds, max_lines: 3 })).toContain("4 lines, at most 3");
});

test("director/D10: a protected path is refused in another case, below it, and when it is moved away", () => {
  const guarded = { ...bounds, protected_paths: ["deploy", "*.lock"] };
  const gone = file("x", { from: "deploy/a", change: "rename" });
  for (const touched of [file("Deploy/prod.yaml"), file("yarn.LOCK"), gone])
    expect(breachOf([touched], guarded)).toContain("may not be touched (policy strict, rule protectedPaths)");
  expect(breachOf([file("x", { from: "deploy/a", change: "copy" })], guarded)).toBeNull();
  expect(breachOf([file("redeploy/a")], guarded)).toBeNull();
});

test("director/D10: each path of a long list is protected, and a glob that cannot be written out protects all", () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `generated/part-${i}/**/*.lock`);
  const long = { ...bounds, protected_paths: [...many, "**/*.tf"] };
  expect(breachOf([file("deploy/main.tf")], long)).toContain("may not be touched");
  expect(breachOf([file("deploy/main.ts")], long)).toBeNull();
  const wide = { ...bounds, protected_paths: ["{a,b}".repeat(30)] };
  expect(breachOf([file("deploy/main.ts")], wide)).toContain("may not be touched");
});
