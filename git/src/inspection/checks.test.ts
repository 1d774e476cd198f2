import { describe, expect, it } from "vitest";
import { DISCOVERED_FROM, discoverChecks, otherChecks } from "./checks.ts";

const checks = (files: Record<string, string>): Promise<string[]> =>
  discoverChecks(Object.keys(files), (path) => files[path] ?? null);
const check = async (files: Record<string, string>): Promise<string | null> => {
  const found = await checks(files);
  expect(found.length).toBeLessThan(2);
  return found[0] ?? null;
};
const scripts = (test: string): string => JSON.stringify({ scripts: { test } });

describe("the fastest obvious check", () => {
  it.each([
    [
      "what antiphon.yaml says",
      { "antiphon.yaml": "check: ./ci.sh --fast\n", "package.json": scripts("jest") },
      "./ci.sh --fast",
    ],
    ["npm test", { "package.json": scripts("node --test") }, "npm test"],
    ["yarn test", { "package.json": scripts("jest"), "yarn.lock": "" }, "yarn test"],
    ["pnpm test", { "package.json": scripts("jest"), "pnpm-lock.yaml": "" }, "pnpm test"],
    ["make test", { Makefile: "all: x\n\ntest: all\n\t./t\n" }, "make test"],
    ["make check", { GNUmakefile: "check::\n\t./t\n", Makefile: "test:\n" }, "make check"],
    ["pytest by its configuration", { "pytest.ini": "[pytest]\n" }, "python3 -m pytest -q"],
    ["pytest by pyproject", { "pyproject.toml": "[tool.pytest.ini_options]\n" }, "python3 -m pytest -q"],
    ["pytest by its tests", { "tests/test_a.py": "import pytest\n" }, "python3 -m pytest -q"],
    ["unittest", { "test_a.py": "import unittest\n" }, "python3 -m unittest discover -q"],
    ["cargo", { "Cargo.toml": "" }, "cargo test --offline"],
    [
      "cargo, with the members of a workspace whose root is a package",
      { "Cargo.toml": "[package]\nname = 'a'\n[workspace]\nmembers = ['b']\n" },
      "cargo test --workspace --offline",
    ],
    [
      "cargo, with the members that the workspace names",
      { "Cargo.toml": "[package]\n[workspace]\nmembers = ['b', 'c']\ndefault-members = ['b']\n" },
      "cargo test --offline",
    ],
    ["cargo, for a workspace alone", { "Cargo.toml": "[workspace]\n" }, "cargo test --offline"],
    ["go", { "go.mod": "", "a_test.go": "" }, "go test ./..."],
    ["Maven", { "pom.xml": "" }, "mvn -B -o test"],
    ["Maven's wrapper", { "pom.xml": "", mvnw: "" }, "sh ./mvnw -B -o test"],
    ["Gradle", { "build.gradle.kts": "" }, "gradle --no-daemon --offline -q test"],
    ["RSpec", { Gemfile: "", "spec/a_spec.rb": "" }, "bundle exec rspec"],
    ["Rake", { Rakefile: "Rake::TestTask.new\n" }, "rake test"],
    ["Rake's default task", { Rakefile: "task default: :all\n", "test/test_a.rb": "" }, "rake"],
    ["Composer's script", { "composer.json": '{"scripts":{"test":"phpunit"}}' }, "composer test"],
    ["PHPUnit", { "composer.json": "{}", "phpunit.xml.dist": "" }, "phpunit"],
    [
      "PHPUnit of Composer",
      { "composer.json": '{"require-dev":{"phpunit/phpunit":"*"}}', "phpunit.xml": "" },
      "vendor/bin/phpunit",
    ],
    [
      "PHPUnit of Composer without a configuration",
      { "composer.json": '{"require-dev":{"phpunit/phpunit":"*"}}', "tests/Unit/ParserTest.php": "" },
      "vendor/bin/phpunit tests",
    ],
    [
      "CTest",
      { "CMakeLists.txt": "enable_testing()\n" },
      "cmake -S . -B /tmp/build && cmake --build /tmp/build -j2 && ctest --test-dir /tmp/build --output-on-failure",
    ],
    ["prove", { "t/basic.t": "" }, "prove -lr t"],
    ["Bats", { "test/a.bats": "" }, "bats test"],
    ["Bats for directories", { "tests/unit/a.bats": "", "tests/b.bats": "" }, "bats -r tests"],
    ["the Bats of a repository of its own", { "bin/bats": "", "test/a.bats": "" }, "bin/bats test"],
    ["a script beside the tests", { "tests/run.sh": "" }, "sh ./tests/run.sh"],
    ["a script", { "scripts/test.sh": "" }, "sh ./scripts/test.sh"],
  ])("is %s", async (_name, files, expected) => {
    expect(await check(files)).toBe(expected);
  });

  it.each([
    ["the placeholder of npm init", { "package.json": scripts('echo "Error: no test specified" && exit 1') }],
    ["a package.json without a test", { "package.json": "{}" }],
    ["a package.json that does not parse", { "package.json": "{" }],
    ["a test script that is not a string", { "package.json": '{"scripts":{"test":1}}' }],
    ["a variable called test in a Makefile", { Makefile: "test := 1\ntests: x\n" }],
    ["an antiphon.yaml without a check", { "antiphon.yaml": "image: x\n" }],
    ["an antiphon.yaml that does not parse", { "antiphon.yaml": "check: [\n" }],
    ["a CMakeLists.txt without tests", { "CMakeLists.txt": "project(x)\n" }],
    ["a Gemfile alone", { Gemfile: "" }],
    ["a composer.json without a test", { "composer.json": '{"scripts":{"lint":"x"}}' }],
    ["a go.mod without tests", { "go.mod": "" }],
    ["nothing", {}],
  ])("is not %s", async (_name, files) => {
    expect(await check(files)).toBeNull();
  });
});

describe("the checks that antiphon.yaml names", () => {
  it.each([
    [
      "a list: each a command of its own, so that `cd` ends with its command",
      "checks:\n  - cd web && npm test\n  - cd api && npm test\n",
      ["cd web && npm test", "cd api && npm test"],
    ],
    ["`check` and `checks`", "checks: [npm test]\ncheck: npm run lint\n", ["npm run lint", "npm test"]],
    ["the same command twice, once", "checks: [npm test]\ncheck: npm test\n", ["npm test"]],
  ])("are all of them, with %s", async (_name, text, expected) => {
    expect(await checks({ "antiphon.yaml": text, "package.json": scripts("jest") })).toEqual(expected);
  });
});

describe("the other checks", () => {
  const others = (files: Record<string, string>): Promise<string[]> =>
    otherChecks(Object.keys(files), (path) => files[path] ?? null);

  it("are those of each ecosystem, after the obvious one", async () => {
    const files = { Makefile: "test:\n\tgotestsum\n", "go.mod": "", "a_test.go": "", "tests/a.bats": "" };
    expect(await others(files)).toEqual(["go test ./...", "bats tests"]);
  });

  it("hold the part of a test script that runs the tests alone", async () => {
    const text = JSON.stringify({
      scripts: { test: "npm run tests-only && npm audit", "tests-only": "tape" },
    });
    expect(await others({ "package.json": text })).toEqual(["npm run tests-only"]);
    expect(await others({ "package.json": text, "yarn.lock": "" })).toEqual(["yarn run tests-only"]);
  });

  it("run the tests of Ruby without Rake", async () => {
    const files = { Rakefile: "Rake::TestTask.new\n", "test/a_test.rb": "" };
    expect(await others(files)).toEqual([
      `ruby -Ilib -Itest -e 'Dir["./test/**/{test_*,*_test}.rb"].sort.each { |file| require file }'`,
    ]);
  });

  it("are none where the repository declares its check", async () => {
    expect(await others({ "antiphon.yaml": "check: make test\n", "go.mod": "", "a_test.go": "" })).toEqual(
      [],
    );
  });

  it("never hold the check that was found, and a repository with one check has none", async () => {
    expect(await others({ "Cargo.toml": "" })).toEqual([]);
    expect(await others({ "Cargo.toml": "[package]\n[workspace]\n" })).toEqual(["cargo test --offline"]);
    expect(await others({})).toEqual([]);
  });
});

it("every file with a fixed name that discovery reads or looks for is listed", async () => {
  const asked = new Set<string>();
  const listing = [...DISCOVERED_FROM, "tests/test_a.py", "a_test.go", "t/a.t"];
  // Each round removes one more file from the listing, so that every probe gets its turn.
  for (let from = 0; from <= listing.length; from += 1) {
    await discoverChecks(listing.slice(from), (path) => {
      asked.add(path);
      return "";
    });
  }
  const fixed = [...asked].filter((path) => !/test_a|_test\.go|\.t$/.test(path));
  expect(fixed.filter((path) => !DISCOVERED_FROM.includes(path))).toEqual([]);
  expect(fixed.length).toBeGreaterThan(6);
});
