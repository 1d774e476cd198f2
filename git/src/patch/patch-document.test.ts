import { describe, expect, it } from "vitest";
import { patchText } from "./patch-document.ts";
import { checkPatch } from "./patch-policy.ts";

const one = (path: string, diff: string): string => patchText({ files: [{ path, diff }] });
const HUNK = "@@ -1 +1 @@\n-a\n+b\n";

describe("a Patch.v0 document", () => {
  it.each([
    ["as git writes it", "a.js", `diff --git a/a.js b/a.js\n--- a/a.js\n+++ b/a.js\n${HUNK}`],
    [
      "as diff -u writes it",
      "a.js",
      `--- a/a.js\t2026-01-01 00:00:00\n+++ b/a.js\t2026-01-01 00:00:00\n${HUNK}`,
    ],
    ["without prefixes", "a.js", `--- a.js\n+++ a.js\n${HUNK}`],
    ["with spaces in its name", "my file.js", `--- a/my file.js\n+++ b/my file.js\n${HUNK}`],
    ["with a name to be quoted", "ü.js", `--- a/ü.js\n+++ b/ü.js\n${HUNK}`],
    ["without a final line feed", "a.js", `--- a/a.js\n+++ b/a.js\n${HUNK}`.trimEnd()],
    [
      "as a mail",
      "a.js",
      `From 123 Mon Sep 17\nSubject: [PATCH] x\n\n---\n a.js | 2 +-\n\ndiff --git a/a.js b/a.js\n--- a/a.js\n+++ b/a.js\n${HUNK}-- \n2.39.5\n\n`,
    ],
  ])("is read %s", (_name, path, diff) => {
    expect(checkPatch(one(path, diff))).toMatchObject({ ok: true, files: [{ path, change: "modify" }] });
  });

  it("adds and deletes files", () => {
    const added = one("n.js", "--- /dev/null\n+++ b/n.js\n@@ -0,0 +1 @@\n+x\n");
    const deleted = one("o.js", "--- a/o.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n");
    expect(checkPatch(added + deleted)).toMatchObject({
      ok: true,
      files: [{ change: "add" }, { change: "delete" }],
    });
  });

  it("is refused when a diff names another file than its entry, or is not a diff", () => {
    expect(() => one("a.js", `--- a/b.js\n+++ b/b.js\n${HUNK}`)).toThrow(
      expect.objectContaining({ code: "ANT_PATCH_HEADER" }) as Error,
    );
    expect(() => one("a.js", "just words")).toThrow(
      expect.objectContaining({ code: "ANT_PATCH_MALFORMED" }) as Error,
    );
    expect(() =>
      one("a.js", `diff --git a/.github/x b/.github/x\n--- a/.github/x\n+++ b/.github/x\n${HUNK}`),
    ).toThrow(expect.objectContaining({ code: "ANT_PATCH_HEADER" }) as Error);
  });

  it("keeps carriage returns in the text and drops them from the headers", () => {
    const diff = `--- a/a.js\r\n+++ b/a.js\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n`;
    const text = one("a.js", diff);
    expect(text).toContain("-a\r\n+b\r\n");
    expect(checkPatch(text)).toMatchObject({ ok: true });
  });
});
