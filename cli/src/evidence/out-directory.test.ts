import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeBelow } from "./out-directory.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-out-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("a file of an export", () => {
  it("gets the directories that it needs, and is written again the second time", () => {
    const file = join(directory, "a/b/c.txt");
    writeBelow(file, "one");
    writeBelow(file, "two");
    expect(readFileSync(file, "utf8")).toBe("two");
  });

  it.each([
    ["a file in the place of the directory", "taken", /not a directory|file already exists/],
    ["a directory that the kernel does not make", "/proc/antiphon-out", /no such file or directory/],
  ])("is refused as a mistake of the caller below %s", (_what, place, why) => {
    writeFileSync(join(directory, "taken"), "");
    const root = place.startsWith("/") ? place : join(directory, place);
    expect(() => writeBelow(join(root, "tasks/T-001.yaml"), "")).toThrow(
      expect.objectContaining({
        code: "ANT_USAGE",
        exitCode: 2,
        message: expect.stringMatching(why) as string,
        remedy: "name a directory of your own, or one to be made: --out <dir>",
      }),
    );
  });
});
