import { describe, expect, it } from "vitest";
import { besideSources, onlyRemovesSources, onlySources, sourcesLeft } from "./sources.ts";

type File = Parameters<typeof sourcesLeft>[0][number];
const file = (path: string, change: File["change"] = "add", more: Partial<File> = {}): File => ({
  ...{ path, change, from: null, added: 1, removed: 0, binary: false },
  ...more,
});
const NO_TEXT = (): string => "";

describe("the sources that a change leaves", () => {
  it.each([
    "src/a.js",
    "a.py",
    "lib/a.d.ts",
    "src/a.vue",
    "src/test-data.rs",
    "scripts/release.sh",
    "tools/a.py",
    "src/config.ts",
    "shop/conf.py",
    "docs/a/b/conf.py",
    "docs/extension.py",
  ])("%s is one", (path) => {
    expect(sourcesLeft([file(path)], NO_TEXT)).toEqual([path]);
  });

  it.each([
    ...["README.md", "docs/a.html", "docs/a.mdx", "data/rates.json", "src/a.css", "Makefile"],
    ...[
      "test/a.test.js",
      "test/support/sums.js",
      "a_test.go",
      "src/a.spec.ts",
      "types/index.tst.ts",
      "scripts/test-helpers.js",
    ],
    ...["eslint.config.js", "vite.config.ts", "conftest.py", ".github/scripts/a.js", "scripts/hosts.json"],
    ...["docs/conf.py", "doc/source/conf.py"],
  ])("%s is none", (path) => {
    expect(sourcesLeft([file(path)], NO_TEXT)).toEqual([]);
  });

  it("a script without an ending is one, by its first line", () => {
    const textOf = (path: string): string => (path === "bin/list" ? "#!/usr/bin/env node\n" : "list\n");
    expect(sourcesLeft([file("bin/list"), file("bin/other")], textOf)).toEqual(["bin/list"]);
  });

  it("a moved, copied or edited source is one; a removed one, and one whose mode alone changes, is none", () => {
    const files = [
      file("src/a.js", "rename", { added: 0 }),
      file("src/b.js", "copy", { added: 0 }),
      file("src/c.js", "modify"),
      file("src/d.js", "delete", { removed: 3 }),
      file("src/e.sh", "modify", { added: 0 }),
    ];
    expect(sourcesLeft(files, NO_TEXT)).toEqual(["src/a.js", "src/b.js", "src/c.js"]);
  });
});

it("a change only removes sources if each of its files goes, and one of them is a source", () => {
  const gone = [file("src/a.js", "delete"), file("docs/a.md", "delete")];
  expect(onlyRemovesSources(gone)).toBe(true);
  expect(onlyRemovesSources([...gone, file("README.md", "modify")])).toBe(false);
  expect(onlyRemovesSources([file("docs/a.md", "delete")])).toBe(false);
});

it("sources and documents alone bring no tests but their own", () => {
  expect(onlySources([file("src/a.py"), file("README.md")], NO_TEXT)).toBe(true);
  for (const other of ["test/cases.py", "data/cases.json", "pytest.ini"])
    expect(onlySources([file("src/a.py"), file(other)], NO_TEXT)).toBe(false);
});

it("tests, their data and configuration stand beside sources, and documents do not", () => {
  const beside = ["test/a.test.js", "test/data.json", "pytest.ini"];
  const files = ["src/a.py", ...beside, "README.md", "tools/a.py"].map((path) => file(path));
  expect(besideSources(files, NO_TEXT)).toEqual(beside);
});

it("a test that moves stands beside sources at both of its places", () => {
  const moved = file("test/new.test.js", "rename", { from: "test/old.test.js", added: 0 });
  expect(besideSources([file("src/a.js"), moved], NO_TEXT)).toEqual(["test/new.test.js", "test/old.test.js"]);
});
