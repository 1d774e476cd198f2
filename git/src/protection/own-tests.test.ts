import { describe, expect, it } from "vitest";
import { ownTests } from "./own-tests.ts";

type File = Parameters<typeof ownTests>[0][number];
const file = (path: string, change: File["change"] = "add", from: string | null = null): File => ({
  path,
  change,
  from,
});

describe("ownTests", () => {
  it.each([
    ["test/add.test.js", ""],
    ["tests/test_add.py", "assert add(1, 2) == 3"],
    ["add_test.go", 'func TestAdd(t *testing.T) { t.Fatal("no") }'],
    ["tests/add.rs", "#[test] fn two() { assert_eq!(x::add(2, 2), 4); }"],
    ["t/add.t", "is(Add::add(1, 2), 3);"],
    ["__tests__/add.js", "it('adds', () => {});"],
    ["src/test/java/AddTest.java", "@Test void adds() {}"],
    ["spec/add_spec.rb", "it 'adds' do"],
    ["test/main_test.go", "func TestMain(m *testing.M) {}\nfunc TestAdd(t *testing.T) {}"],
  ])("%s is a test of the change", (path, text) => {
    expect(ownTests([file(path)], () => text)).toEqual({ added: [path], edited: [], sources: [] });
  });

  it.each([
    ["main_test.go", "func TestMain(m *testing.M) { os.Exit(m.Run()) }"],
    ["test/support/sums.js", "exports.same = (a, b) => assert.equal(a, b);"],
    ["test/test_helper.rb", "require 'minitest'"],
    ["tests/cases.py", "CASES = [(2, 1, 1)]"],
    ["test/fixtures/a.json", "{}"],
    ["test/__snapshots__/a.test.js.snap", "exports[`it(1)`] = `1`;"],
    ["README.md", "it('adds')"],
    ["CHANGELOG", "tests"],
    [".gitignore", "test"],
  ])("%s asks nothing and is no source", (path, text) => {
    expect(ownTests([file(path)], () => text)).toEqual({ added: [], edited: [], sources: [] });
  });

  it("a moved or deleted test is no new one, and an edited one may hold new ones", () => {
    const files = [
      file("test/b.test.js", "rename", "test/a.test.js"),
      file("test/c.test.js", "delete"),
      file("test/d.test.js", "modify"),
    ];
    expect(ownTests(files, () => "")).toEqual({ added: [], edited: ["test/d.test.js"], sources: [] });
  });

  it("a moved source is a source at both places", () => {
    const files = [file("src/b.js", "rename", "src/a.js"), file("lib/c.js", "delete"), file("config/d.json")];
    expect(ownTests(files, () => "").sources).toEqual(["src/b.js", "src/a.js", "lib/c.js", "config/d.json"]);
  });

  it("a program in a directory of tools is a source if there is no other", () => {
    const tools = [file("scripts/release.js"), file("scripts/test-helpers.js"), file("test/release.test.js")];
    expect(ownTests(tools, () => "").sources).toEqual(["scripts/release.js"]);
    expect(ownTests([...tools, file("src/a.js")], () => "").sources).toEqual(["src/a.js"]);
  });
});
