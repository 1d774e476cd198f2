import { describe, expect, it } from "vitest";
import { openedFiles } from "./opened-files.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "test/all.test.js": 'for (const n of names) require("../rules/" + n); require("../lib2/parse.js")',
  "src/index.js": 'for (const n of names) import("./plugins/" + n); open("pages/" + n)',
  "test/pages.test.js": 'open("pages/home.js".slice(1))',
  "web.config.js": 'input: "views/"',
};

interface Case {
  paths?: readonly string[];
  opened?: readonly string[];
  grants?: readonly string[];
}

async function found(path: string, more: Case = {}): Promise<string[]> {
  const paths = [...(more.paths ?? ["src/rates.js"]), path];
  const files = paths.map((one) => ({ path: one, change: "modify" as const }));
  const opened = new Set(more.opened ?? paths);
  return openedFiles(files, opened, [], more.grants ?? [], (words) =>
    Promise.resolve(
      Object.keys(TEXTS).filter((file) => words.some((word) => TEXTS[file]?.includes(word) === true)),
    ),
  );
}

describe("a file that the check opened, of a change with other files", () => {
  it.each([
    ["data that no code names", "answers/seven.json"],
    ["a file without an ending", "answers/sums"],
    ["code in a directory that only a test names", "rules/empty.js"],
  ])("is also tried as it was if it is %s", async (_name, path) => {
    expect(await found(path)).toEqual([path]);
  });

  it.each([
    ["data below sources", "src/tables/vat.csv"],
    ["code below sources", "src/plugins/one.js"],
    ["code whose directory a source names", "pages/about.js"],
    ["code whose directory only a configuration names", "views/about.js"],
    ["code that a test names", "lib2/parse.js"],
    ["code that nothing names", "server.js"],
    ["code of a language that loads a directory as a whole", "rules/empty.go"],
    ["a source that a Makefile compiles by a pattern", "util.c"],
    ["a document", "answers/README.md"],
  ])("belongs to the product if it is %s", async (_name, path) => {
    expect(await found(path)).toEqual([]);
  });

  it("is what the change is about if there is nothing else in it", async () => {
    expect(await found("answers/seven.json", { paths: [] })).toEqual([]);
  });

  it("belongs to the product if the check did not open it", async () => {
    expect(await found("answers/seven.json", { opened: ["src/rates.js"] })).toEqual([]);
  });

  it("may change by a grant", async () => {
    expect(await found("answers/seven.json", { grants: ["answers/**"] })).toEqual([]);
  });
});
