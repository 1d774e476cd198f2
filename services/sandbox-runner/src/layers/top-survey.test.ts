import { describe, expect, it } from "vitest";
import type { Baseline, BaselineEntry } from "../workspace/collected.ts";
import { TopReader } from "./top-survey.ts";

const file: BaselineEntry = { kind: "file", mode: "100644", size: 1, sha256: "1" };
const layer: Baseline = new Map(
  ["a", "d/e/f", "d/e/g", "d/h", "d-e", "x/y"].map((path) => [path, file] as const),
);

/** What is missing and what changed, by the records of a top. */
function read(...records: string[]): { changed: readonly string[]; missing: readonly string[] } {
  const reader = new TopReader(10);
  reader.push(Buffer.from(records.map((record) => `${record}\0`).join("")));
  const { changed, missing } = reader.result(layer);
  return { changed, missing: [...missing].sort() };
}

describe("what the top of a layered sandbox holds", () => {
  it.each([
    ["nothing", ["/"], [], []],
    ["a changed and a new file", ["/", "+a", "+new"], ["a", "new"], []],
    ["a removed file", ["/", "-a"], [], ["a"]],
    ["a removed directory", ["/", "-d"], [], ["d/e/f", "d/e/g", "d/h"]],
    ["a removed name that the layer never had", ["/", "-other"], [], []],
    ["a directory with a change below", ["/", "/d/", "/d/e/", "+d/e/f"], ["d/e/f"], []],
    ["a directory that was removed and made again", ["/", "=d/", "+d/h"], ["d/h"], ["d/e/f", "d/e/g"]],
    [
      "a directory that was made again with a directory of the same name",
      ["/", "=d/", "=d/e/", "+d/e/f"],
      ["d/e/f"],
      ["d/e/g", "d/h"],
    ],
    ["a file in the place of a directory", ["/", "+d"], ["d"], ["d/e/f", "d/e/g", "d/h"]],
    ["a directory in the place of a file", ["/", "=a/", "+a/b"], ["a/b"], ["a"]],
    ["everything made again", ["=", "+a"], ["a"], ["d-e", "d/e/f", "d/e/g", "d/h", "x/y"]],
    ["a directory whose files are all changed", ["/", "=x/", "+x/y"], ["x/y"], []],
  ] as const)("tells of %s", (_name, records, changed, missing) => {
    expect(read(...records)).toEqual({ changed, missing });
  });

  it("is refused when it is too long or stops early", () => {
    expect(() => read(...Array.from({ length: 11 }, (_, at) => `+${at}`))).toThrow("too-many-entries");
    expect(() => read(...Array.from({ length: 11 }, (_, at) => `/${at}/`))).toThrow("too-many-entries");
    const reader = new TopReader(10);
    reader.push(Buffer.from("+half"));
    expect(() => reader.result(layer)).toThrow("tar-truncated");
  });
});
