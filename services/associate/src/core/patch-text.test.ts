import { describe, expect, test } from "vitest";
import { patchText, undeclaredPaths } from "./patch-text.ts";

const HUNK = "@@ -1 +1 @@\n-a\n+b\n";
const headed = "diff --git a/x.txt b/x.txt\n--- a/x.txt\n+++ b/x.txt\n";

describe("patchText", () => {
  test.each([
    ["a git diff", `${headed}${HUNK}`],
    ["a plain unified diff", `--- a/x.txt\t2026-01-01\n+++ b/x.txt\n${HUNK}`],
    ["bare hunks", HUNK],
    ["a diff without its last newline", `${headed}${HUNK}`.trimEnd()],
    ["a diff with chatter in front", `Here you are:\n${headed}${HUNK}`],
  ])("%s gets one git header", (_name, diff) => {
    expect(patchText({ files: [{ path: "x.txt", diff }] })).toBe(`${headed}${HUNK}`);
  });

  test("a new file and a deleted one keep their meaning", () => {
    const added = patchText({ files: [{ path: "n", diff: "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n" }] });
    expect(added).toBe(
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
    );
    const gone = patchText({ files: [{ path: "n", diff: "--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" }] });
    expect(gone).toContain("deleted file mode 100644\n--- a/n\n+++ /dev/null\n");
  });

  test("files are joined in the order given", () => {
    const text = patchText({
      files: [
        { path: "b", diff: HUNK },
        { path: "a", diff: HUNK },
      ],
    });
    expect(text.match(/^diff --git .*$/gm)).toEqual(["diff --git a/b b/b", "diff --git a/a b/a"]);
  });

  test("a diff without a hunk is ANT_PATCH_MALFORMED and names the file", () => {
    expect(() => patchText({ files: [{ path: "x.txt", diff: "hello" }] })).toThrow(
      expect.objectContaining({ code: "ANT_PATCH_MALFORMED", detail: expect.stringContaining("x.txt") }),
    );
  });
});

test("a path the patch touches but does not declare is found", () => {
  const patch = { files: [{ path: "a", diff: "" }] };
  expect(undeclaredPaths(patch, ["a", "b"])).toEqual(["b"]);
});
