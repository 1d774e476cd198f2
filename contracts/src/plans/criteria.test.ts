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
  });

  test("keeps its check when it is cut, and with it the way it is mapped", () => {
    const words = "x".repeat(30);
    const named = criterionText({ criterion: words, check: "make" }, 32);
    expect(named).toBe(`${"x".repeat(18)} (check: make)`);
    const quoted = criterionText({ criterion: `${words} \`make\``, check: "make", quoted: true }, 32);
    expect(quoted).toBe(`${"x".repeat(25)} \`make\``);
    expect(mapCriteria([named, quoted], ["make"])).toEqual([
      { criterion: named, check: "make" },
      { criterion: quoted, check: "make", quoted: true },
    ]);
    const own = criterionText({ criterion: `${words} (check: make)`, check: "make" }, 32);
    expect(own).toBe(named);
    expect(criterionText({ criterion: words, check: null }, 20)).toBe("x".repeat(20));
    expect(criterionText({ criterion: words, check: "m".repeat(40) }, 32)).toBe(words);
  });
});
