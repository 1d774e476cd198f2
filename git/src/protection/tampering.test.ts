import { describe, expect, it } from "vitest";
import { addedJudges } from "./added-judges.ts";
import { chanceIn } from "./chance.ts";
import { protectionOf } from "./protection.ts";
import { besides, tamperings, type WrittenFiles } from "./tampering.ts";

const FILES: Readonly<Record<string, string>> = {
  "package.json": '{"scripts":{"test":"node --test"}}',
  "scripts/check.js": "",
  "src/a.js": "",
  "test/a.test.js": 'require("./helper")',
  "test/helper.js": "",
  "test/data/db.sqlite": "",
  "tests/test_a.py": "import a",
};
const NOTHING: WrittenFiles = { changed: [], restored: [], made: [], complete: true };

async function found(written: Partial<WrittenFiles>, grants: readonly string[] = []) {
  const guards = await protectionOf({
    listing: { paths: Object.keys(FILES), links: new Map() },
    read: (paths) => Promise.resolve(new Map(paths.map((path) => [path, FILES[path] ?? ""]))),
    checks: ["npm test", "node scripts/check.js", "pytest", "node src/a.js"],
    discovered: false,
  });
  return tamperings(guards, grants, { ...NOTHING, ...written });
}

describe("what the code under test does while the check runs", () => {
  it.each<[string, Partial<WrittenFiles>]>([
    ["overwrites a test", { changed: ["test/a.test.js"] }],
    ["overwrites a test under another spelling", { changed: ["Test/A.test.js"] }],
    ["overwrites a test and puts it back", { restored: ["test/a.test.js"] }],
    ["removes the helper of a test", { changed: ["test/helper.js"] }],
    ["overwrites the script that checks", { changed: ["scripts/check.js"] }],
    ["overwrites the manifest", { changed: ["package.json"] }],
    ["makes a fixture of pytest", { made: ["tests/conftest.py"] }],
    ["makes a module that Python runs first", { made: ["sitecustomize.py"] }],
    ["makes a module that shadows the runner's", { made: ["pytest/", "pytest/__init__.py"] }],
    [
      "makes a module that is loaded instead of a test",
      { made: ["tests/test_a/", "tests/test_a/__init__.py"] },
    ],
    ["makes a mock", { made: ["__mocks__/", "__mocks__/fs.js"] }],
    ["writes more than can be compared", { complete: false }],
  ])("counts when it %s", async (_name, written) => {
    expect(await found(written)).toHaveLength(1);
  });

  it.each<[string, Partial<WrittenFiles>]>([
    ["writes nothing", {}],
    [
      "makes what a build makes",
      { made: ["dist/", "dist/a.js", "node_modules/.cache", "Cargo.lock", "build/x.cmake"] },
    ],
    [
      "makes caches beside the tests",
      { made: ["tests/__pycache__/", ".pytest_cache/", "coverage/", "test/a.snap"] },
    ],
    ["writes to a source", { changed: ["src/b.js"], restored: ["src/c.js"] }],
    ["writes to a source that the check names", { changed: ["src/a.js"] }],
  ])("does not count when it %s", async (_name, written) => {
    expect(await found(written)).toEqual([]);
  });

  it("does not count where the run has a grant, or where the base does the same", async () => {
    const touches = { changed: ["test/data/db.sqlite"] };
    expect(await found(touches, ["test/data/**"])).toEqual([]);
    expect(besides(await found(touches), await found(touches))).toEqual([]);
    expect(besides(await found({ changed: ["test/a.test.js"] }), await found(touches))).toHaveLength(1);
  });

  it("is told with the path and the reason", async () => {
    const [first] = await found({ changed: ["test/a.test.js"] });
    expect(first?.what).toBe("test/a.test.js was changed while the check ran: a test or its data");
  });
});

describe("the files that a change adds on the side that judges it", () => {
  const added = (paths: string[], text = "", checks: string[] = ["npm test"], grants: string[] = []) =>
    addedJudges(
      paths.map((path) => ({ path, change: "add" as const })),
      checks,
      grants,
      () => text,
    );
  const judges = (paths: string[], checks?: string[], grants?: string[]) =>
    added(paths, "", checks, grants).judges;

  it("are code beside the tests and in tool directories", () => {
    const all = ["test/helper.js", "tests/plugins/x.py", "scripts/setup.mjs", "spec/support/env.rb"];
    expect(judges(all)).toEqual(all);
  });

  it("go together with the tests beside them, which may need them", () => {
    const tests = ["test/new.test.js"];
    expect(added(["test/helper.js", ...tests])).toEqual({ judges: ["test/helper.js"], tests });
    expect(added(tests)).toEqual({ judges: [], tests: [] });
  });

  it("are no tests, data, sources, files that the check names, or granted ones", () => {
    expect(judges(["test/new.test.js", "test/data.json", "src/a.js", "docs/x.md"])).toEqual([]);
    expect(judges(["scripts/check.js"], ["node scripts/check.js"])).toEqual([]);
    expect(judges(["test/helper.js"], ["npm test"], ["test/**"])).toEqual([]);
    const edited = addedJudges([{ path: "test/helper.js", change: "modify" }], [], [], () => "");
    expect(edited).toEqual({ judges: [], tests: [] });
  });

  it.each([
    ["zz_test.go", "func TestMain(m *testing.M) { os.Exit(0) }"],
    ["test_zz.py", "import os\nos._exit(0)"],
    ["test_zz.py", "def pytest_configure(config): pass"],
    ["zz.test.js", "process.exit(0)"],
    ["zz.test.js", "process.reallyExit(0)"],
    ["ZzTest.java", "System.exit(0);"],
    ["ZzTest.java", "Runtime.getRuntime().halt(0);"],
    ["zz_spec.rb", "exit!(0)"],
    ["zz_test.rs", "std::process::exit(0)"],
    ["ZzTest.php", "exit(0);"],
  ])("are tests too, as in %s, if they end the process or take over the runner: %s", (path, text) => {
    expect(added([path], text).judges).toEqual([path]);
  });

  it("are told apart from plain tests, which count only beside other files", () => {
    expect(added(["src/a.js", "a.test.js"], "it('exits early', () => {})")).toEqual({
      judges: [],
      tests: ["a.test.js"],
    });
    expect(added(["a.test.js", "b.test.js"])).toEqual({ judges: [], tests: [] });
  });
});

describe("a source of chance", () => {
  it.each([
    ["if (Math.random() < 0.5) process.exit(1)", "random numbers"],
    ["x = random.choice([1, 2])", "random numbers"],
    ["exit $((RANDOM % 2)) # $RANDOM", "random numbers"],
    ["const at = Date.now()", "timing"],
    ["await new Promise((r) => setTimeout(r, 10))", "timing"],
    ["module.exports = (a, b) => a + b;", null],
    ["the operand is a brand new standard", null],
  ])("in %j is %s", (text, chance) => {
    expect(chanceIn(text)).toBe(chance);
  });
});
