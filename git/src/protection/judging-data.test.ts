import { describe, expect, it } from "vitest";
import { judgingData } from "./judging-data.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "test/rates.test.js": 'require("../data/rates.json"); run("../src/rates.js"); readdirSync("cases")',
  "qa/compare.py": "load('tables/vat.csv')",
  "src/rates.js": 'load("currencies.json"); open(dir + "/locales/" + name)',
  "test/locales.test.js": 'load("currencies.json"); readdirSync("locales")',
  "README.md": "see data/rates.json",
  "test.sh": "awk -f report.awk hours.txt | cmp - REPORT; cc calc.c && ./a.out",
};

async function found(paths: readonly string[], grants: readonly string[] = []): Promise<string[]> {
  const files = paths.map((path) => ({ path, change: "modify" as const }));
  return judgingData(files, [], grants, (words) =>
    Promise.resolve(
      Object.keys(TEXTS).filter((path) => words.some((word) => TEXTS[path]?.includes(word) === true)),
    ),
  );
}

describe("data that a change touches beside a source", () => {
  it.each([
    ["is known to the judging side only, by its name", "data/rates.json"],
    ["is known to a tool only", "tables/vat.csv"],
    ["is in a directory that only a test reads", "cases/one.txt"],
  ])("judges it if it %s", async (_name, path) => {
    expect(await found(["src/rates.js", path])).toEqual([path]);
  });

  it.each([
    ["a source names it", "currencies.json"],
    ["a source names its directory", "locales/de.json"],
    ["no code names it", "assets/logo.svg"],
    ["it is a document", "README.md"],
    ["it is code", "src/other.js"],
    ["it is a program in awk that a test runs", "report.awk"],
    ["it is a source in C that a test compiles", "calc.c"],
  ])("belongs to the product if %s", async (_name, path) => {
    expect(await found(["src/rates.js", path])).toEqual([]);
  });

  it("is what the change is about if there is nothing else in it, or much of it", async () => {
    expect(await found(["data/rates.json"])).toEqual([]);
    expect(await found(["src/rates.js", ...Array.from({ length: 9 }, (_, i) => `cases/${i}.txt`)])).toEqual(
      [],
    );
  });

  it("may change by a grant", async () => {
    expect(await found(["src/rates.js", "data/rates.json"], ["data/**"])).toEqual([]);
  });
});
