import { describe, expect, test } from "vitest";
import { check } from "./check.ts";
import { emptyHistory } from "./history.ts";
import { HEALTHY } from "./testing/healthy-runs.ts";
import { proven } from "./testing/proven.ts";
import { together } from "./testing/scene.ts";

describe("a legal history has no violation", () => {
  test.each(Object.entries(HEALTHY))("%s", (_, build) => {
    expect(check(build().history()).violations).toEqual([]);
  });

  test("all legal runs side by side", () => {
    const history = together(Object.values(HEALTHY).map((build) => build()));
    const { violations, runs } = check(history);
    expect(violations).toEqual([]);
    expect(runs).toBe(Object.keys(HEALTHY).length);
  });

  test("a run with its evidence and its containers", () => {
    expect(check(proven().history({ evidence: true, engine: true })).violations).toEqual([]);
  });

  test("an empty history", () => {
    expect(check(emptyHistory()).violations).toEqual([]);
  });
});
