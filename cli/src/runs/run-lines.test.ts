import { describe, expect, it } from "vitest";
import { widthOf } from "../screen/colours.ts";
import { fitted, table } from "../screen/table.ts";
import { age, LEAST_WIDTHS, matches, runRows, sinceTime, type RunFilter, type RunLine } from "./run-lines.ts";

const NOW = Date.parse("2026-01-02T12:00:00Z");
const run = (over: Partial<RunLine> = {}): RunLine => ({
  runId: "run_1",
  status: "running",
  paused: false,
  goal: "Fix\nit \u001b[31m",
  repo: "/src/app",
  startedAt: "2026-01-02T11:00:00Z",
  endedAt: null,
  code: null,
  ...over,
});
const ALL: RunFilter = { status: null, repo: null, since: null };

describe("the list of runs", () => {
  it("has a header, and shows age, repository and intent in one line", () => {
    expect(runRows([run(), run({ status: "failed", code: "ANT_X", startedAt: null })], NOW)).toEqual([
      ["RUN", "AGE", "STATUS", "REPOSITORY", "INTENT"],
      ["run_1", "1h", "running", "app", "Fix it \u001b[31m"],
      ["run_1", "?", "failed (ANT_X)", "app", "Fix it \u001b[31m"],
    ]);
  });

  it.each([30, 60, 80])("fits a terminal of %d columns, and cuts no id", (width) => {
    const runId = "run_4f0c2k9s0x7d2m1q8z3a";
    const long = {
      runId,
      goal: "g".repeat(100),
      repo: `/src/${"r".repeat(30)}`,
      code: "ANT_VERIFY_NO_PROGRAM",
    };
    const rows = runRows([run({ ...long, status: "failed" }), run({ ...long, goal: "ぎ".repeat(50) })], NOW);
    const lines = table(fitted(rows, width, LEAST_WIDTHS));
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
    for (const line of lines.slice(1)) expect(line).toContain(runId);
    if (width >= 60) expect(lines[1]).toMatch(/failed .*…/);
  });

  it("is not shortened where it fits", () => {
    const rows = runRows([run({ goal: "g".repeat(100) })], NOW);
    expect(fitted(rows, 200, LEAST_WIDTHS)).toEqual(rows);
  });

  it.each([
    [{ status: "running" }, true],
    [{ status: "open" }, true],
    [{ status: "failed" }, false],
    [{ repo: "/src/app" }, true],
    [{ repo: "/src" }, false],
    [{ since: NOW - 3_600_000 }, true],
    [{ since: NOW - 3_599_999 }, false],
  ])("filters by %j: %s", (filter, shown) => {
    expect(matches(run(), { ...ALL, ...filter })).toBe(shown);
  });

  it("does not count an ended run as open, nor one that cannot be read", () => {
    expect(matches(run({ endedAt: "2026-01-02T11:30:00Z" }), { ...ALL, status: "open" })).toBe(false);
    expect(matches(run({ status: "corrupt" }), { ...ALL, status: "open" })).toBe(false);
  });

  it.each([
    [0, "0s"],
    [-5_000, "0s"],
    [59_999, "59s"],
    [310_000, "5m10s"],
    [3_600_000, "1h"],
    [3_605_000, "1h"],
    [100 * 3_600_000, "4d4h"],
  ])("says %d ms as %s", (ms, text) => {
    expect(age(ms)).toBe(text);
  });

  it.each([
    ["2h", NOW - 7_200_000],
    ["7d", NOW - 604_800_000],
    ["2026-01-01", Date.parse("2026-01-01")],
    ["2026-01-01T10:00:00Z", Date.parse("2026-01-01T10:00:00Z")],
    ["yesterday", null],
    ["5", null],
    ["2026-13-01", null],
  ])("reads --since %s", (text, at) => {
    expect(sinceTime(text, NOW)).toBe(at);
  });
});
