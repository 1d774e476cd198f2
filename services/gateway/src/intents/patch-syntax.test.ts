import { describe, expect, it } from "vitest";
import { checkPatchSyntax } from "./patch-syntax.ts";

const GOOD = "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ fn\n a\n-b\n+c\n+d\n\\ No newline at end of file\n";

describe("the syntax of a patch", () => {
  it.each([
    ["a hunk with correct counts", GOOD],
    ["omitted counts, which mean one", "@@ -1 +1 @@\n-a\n+b\n"],
    ["an empty context line without its space", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"],
    ["Windows line ends", "@@ -1,2 +1,2 @@\r\n-a\r\n+b\r\n \r\n"],
    ["two hunks", "@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-a\n+b\n"],
    ["a removed line that looks like a header", "@@ -1 +0,0 @@\n---- x\n"],
    ["a rename without a hunk", "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"],
    ["a change of mode", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"],
    ["a binary patch", "diff --git a/x b/x\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n"],
  ])("accepts %s", (_what, diff) => {
    expect(checkPatchSyntax(diff)).toEqual({ ok: true });
  });

  it.each([
    ["prose", "please change x to y\n", 1, /no hunk/],
    ["nothing", "", 1, /no hunk/],
    ["headers alone", "--- a/x\n+++ b/x\n", 1, /no hunk/],
    ["a hunk cut short", "@@ -1,3 +1,3 @@\n a\n-b\n", 3, /fewer lines/],
    ["a line that cannot be part of a hunk", "@@ -1,2 +1,2 @@\n a\nb\n", 3, /begins with/],
    ["a broken header", "@@ -1,x +1 @@\n-a\n+b\n", 1, /malformed hunk header/],
    ["more lines than announced", "@@ -1,1 +1,2 @@\n a\n-b\n+c\n", 3, /more lines/],
  ])("refuses %s and says where", (_what, diff, line, message) => {
    expect(checkPatchSyntax(diff)).toEqual({
      ok: false,
      line,
      message: expect.stringMatching(message) as string,
    });
  });
});
