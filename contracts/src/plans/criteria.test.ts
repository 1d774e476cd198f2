import { describe, expect, test } from "vitest";
import { allChecks, criterionText, isOfCheckAlone, mapCriteria } from "./criteria.ts";

describe("an acceptance criterion", () => {
  test.each([
    ["npm test passes", "npm test", true],
    ["`npm test` passes.", "npm test", true],
    ["The page shows, see `npm test`", "npm test", true],
    ["The page shows (check: make)", "make", false],
    ["Keeps `npm test` green (check: make)", "make", false],
    ["The page shows", null, false],
    ["make it shine", null, false],
    ["npm test passes now and then", null, false],
  ])("%j is decided by %j; its words quote it: %j", (criterion, check, isQuoted) => {
    const mapped = { criterion, check, ...(isQuoted ? { quoted: true } : {}) };
    expect(mapCriteria([criterion], ["npm test", "make"])).toEqual([mapped]);
  });

  test.each([
    ["npm test passes", true],
    [" `npm test` passes. ", true],
    ["`npm test`", false],
    ["Nothing else breaks: `npm test` passes", false],
    ["It works (check: npm test)", false],
    [{ criterion: "npm test passes", check: "npm test" }, false],
  ])("%j says nothing but that its check passes: %j", (criterion, isAlone) => {
    expect(mapCriteria([criterion], ["npm test"]).map(isOfCheckAlone)).toEqual([isAlone]);
  });

  test("names its own check, which becomes a check of the task", () => {
    const criteria = [{ criterion: "It works", check: "make test" }, "make test passes"];
    expect(allChecks(criteria, ["npm test"])).toEqual(["npm test", "make test"]);
    expect(mapCriteria(criteria, []).map(({ check }) => check)).toEqual(["make test", "make test"]);
  });

  test("as a text names its check, so that it is mapped again", () => {
    const named = [
      { criterion: "It works", check: "make" },
      { criterion: "make passes", check: "make" },
      "`make` passes",
    ];
    const texts = mapCriteria(named, []).map((one) => criterionText(one, 2048));
    expect(texts).toEqual(["It works (check: make)", "make passes (check: make)", "`make` passes"]);
    const again = mapCriteria(texts, ["make"]);
    expect(again.map(({ check, quoted = false }) => [check, quoted])).toEqual([
      ["make", false],
      ["make", false],
      ["make", true],
    ]);
    expect(criterionText({ criterion: "x".repeat(30), check: "make" }, 32)).toBe("x".repeat(30));
  });
});
