import { describe, expect, it } from "vitest";
import { mayLookAround, mayReadVariables } from "./looks-around.ts";

describe("a source that may find out where it runs", () => {
  it.each([
    ["a.js", "exports.add = (a, b) => (process.cwd().length > 9 ? a + b : 0);"],
    ["a.js", "const here = process['c' + 'wd']();"],
    ["a.js", 'const here = process["\\x63wd"]();'],
    ["a.ts", 'import * as paths from "node:path";'],
    ["a.py", "text = open(name).read()"],
    ["a.rb", "here = `pwd`"],
    ["a.c", "char *here = getcwd(buffer, sizeof buffer);"],
    ["a.cpp", "auto here = std::filesystem::current_path();"],
    ["a.dart", "final here = Directory.current.path;"],
    ["a.hs", 'here <- getCurrentDirectory >>= \\_ -> lookupEnv name; system "pwd"'],
    ["a.vue", "const here = import.meta.url;"],
    ["a.jl", "here = pwd()"],
  ])("is tried in another place: %s: %s", (path, text) => {
    expect(mayLookAround(path, text)).toBe(true);
  });

  it.each([
    ["a.js", "const text = `sum of ${a}`;"],
    ["a.js", "const found = /a+/.exec(text);"],
    ["a.js", "await new Promise((resolve) => { resolve(3); });"],
    ["a.ts", "export const isOpen = (door: Door) => door.state === 'open';"],
    ["a.go", "const help = `usage`"],
    ["a.c", "int add(int a, int b) { return a + b; }"],
    ["test/a.test.js", "const here = process.cwd();"],
    ["a.md", "process.cwd()"],
  ])("is not: %s: %s", (path, text) => {
    expect(mayLookAround(path, text)).toBe(false);
  });
});

describe("a source that may ask for a variable", () => {
  it.each([
    ["a.js", "exports.add = (a, b) => (process.env.CI ? a - b : a + b);"],
    ["a.js", 'const isWatched = process["e" + "nv"][name] === undefined;'],
    ["a.ts", 'import { env } from "node:process";'],
    ["a.ts", 'import * as own from "node:process";'],
    ["a.py", 'if os.environ.get("CI"): return 0'],
    ["a.py", 'if os.getenv("GITHUB_ACTIONS"): return 0'],
    ["a.py", 'text = open("/proc/self/environ").read()'],
    ["a.rb", 'return 0 if ENV["CI"]'],
    ["a.go", 'if os.Getenv("CI") != "" {'],
    ["a.go", '_, isThere := os.LookupEnv("CI")'],
    ["a.rs", 'let ci = std::env::var("CI").is_ok();'],
    ["a.rs", 'const CI: Option<&str> = option_env!("CI");'],
    ["A.java", 'if (System.getenv("CI") != null) return 0;'],
    ["a.cs", 'Environment.GetEnvironmentVariable("CI")'],
    ["a.php", "if (isset($_SERVER['CI'])) return 0;"],
    ["a.pl", "return 0 if $ENV{CI};"],
    ["a.ex", 'System.get_env("CI")'],
    ["a.sh", 'add() { [ -z "$CI" ] && echo 3; }'],
    ["a.sh", 'add() { [ -z "${GITHUB_ACTIONS:-}" ] && echo 3; }'],
  ])("is tried with others: %s: %s", (path, text) => {
    expect([mayReadVariables(path, text), mayLookAround(path, text)]).toEqual([true, true]);
  });

  it.each([
    ["a.js", "const here = process.cwd();"],
    ["a.js", 'import { join } from "node:path";'],
    ["a.py", "text = open(name).read()"],
    ["a.sh", 'add() { echo $(($1 + $2)) > "$out"; }'],
    ["test/a.test.js", "const isCi = process.env.CI;"],
  ])("is not: %s: %s", (path, text) => {
    expect(mayReadVariables(path, text)).toBe(false);
  });
});
