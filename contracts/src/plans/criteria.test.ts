import { describe, expect, test } from "vitest";
import { allChecks, criterionText, mapCriteria } from "./criteria.ts";

describe("an acceptance criterion", () => {
  test.each([
    ["npm test passes", "npm test"],
    ["The page shows, see `npm test`", "npm test"],
    ["The page shows (check: make)", "make"],
    ["The page shows", null],
    ["make it shine", null],
    ["npm test passes now and then", null],
  ])("%j is decided by %j", (criterion, check) => {
    expect(mapCriteria([criterion], ["npm test", "make"])).toEqual([{ criterion, check }]);
  });

  test("names its own check, which becomes a check of the task", () => {
    const criteria = [{ criterion: "It works", check: "make test" }, "make test passes"];
    expect(allChecks(criteria, ["npm test"])).toEqual(["npm test", "make test"]);
    expect(mapCriteria(criteria, []).map(({ check }) => check)).toEqual(["make test", "make test"]);
  });

  test("as a text names its check, so that it is mapped again", () => {
    const mapped = mapCriteria([{ criterion: "It works", check: "make" }], []);
    const texts = mapped.map((one) => criterionText(one, 2048));
    expect(texts).toEqual(["It works (check: make)"]);
    expect(mapCriteria(texts, ["make"])[0]?.check).toBe("make");
    expect(criterionText({ criterion: "x".repeat(30), check: "make" }, 32)).toBe("x".repeat(30));
  });
});
