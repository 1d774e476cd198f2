import { describe, expect, it } from "vitest";
import { splitDiff } from "./unified-diff.ts";

const GIT = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1 +1 @@
-old
+new
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
`;

describe("a unified diff as a Patch.v0", () => {
  it("is one entry per file, with the path after the change", () => {
    expect(splitDiff(GIT).map((file) => file.path)).toEqual(["src/a.ts", "gone.txt", "new name.txt"]);
  });

  it("loses no line: the entries joined are the diff", () => {
    expect(
      splitDiff(GIT)
        .map((file) => file.diff)
        .join(""),
    ).toBe(GIT);
  });

  it("keeps the blank line that ends a binary part", () => {
    const binary =
      "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n";
    const text = `${binary}${GIT}`;
    const files = splitDiff(text);
    expect(files.map(({ diff }) => diff).join("")).toBe(text);
    expect(files[0]?.diff).toBe(binary);
  });

  it("may come without git's headers", () => {
    const plain = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
    expect(splitDiff(plain).map((file) => file.path)).toEqual(["x", "y"]);
  });

  it("does not mistake a removed line for a header", () => {
    const diff = "diff --git a/x.md b/x.md\n--- a/x.md\n+++ b/x.md\n@@ -1,2 +1 @@\n--- a/y\n-++ b/y\n+z\n";
    expect(splitDiff(diff)).toHaveLength(1);
  });

  it("reads names quoted by git", () => {
    const diff =
      'diff --git "a/\\303\\244.txt" "b/\\303\\244.txt"\n--- "a/\\303\\244.txt"\n+++ "b/\\303\\244.txt"\n@@ -1 +1 @@\n-a\n+b\n';
    expect(splitDiff(diff)[0]?.path).toBe("ä.txt");
  });

  it("is empty for a text without a diff", () => {
    expect(splitDiff("hello\nworld\n")).toEqual([]);
  });
});
