/**
 * Finds places where a new file would be loaded instead of a class, module or header of a test framework. Pure.
 *
 * Compiled classes, `lib/` and include directories of the repository come before the packages of the image. A repository
 * that has such files already extends the framework, so there they are sources.
 */
import type { TreeListing } from "../reach/check-tree.ts";
import type { Reached } from "../reach/reached-files.ts";
import type { Guard } from "./guard.ts";

interface Framework {
  readonly programs: RegExp;
  /** Directory in which the names are searched, `**` for any. */
  readonly below: "**" | "lib" | "";
  readonly names: readonly string[];
  readonly endings: readonly string[];
}

const FRAMEWORKS: readonly Framework[] = [
  {
    programs: /^(mvn|mvnw|mvnd|gradle|gradlew|sbt|ant|java|javac|kotlinc)$/,
    below: "**",
    names: [
      ...["org/junit", "junit/framework", "org/hamcrest", "org/assertj", "org/mockito", "org/testng"],
      ...["org/easymock", "com/google/common/truth", "org/scalatest", "io/kotest", "kotlin/test"],
      ...["org/spockframework", "spock/lang", "io/mockk"],
    ],
    endings: ["/**"],
  },
  {
    programs: /^(ruby|rake|rspec|bundle|minitest|cucumber)$/,
    below: "lib",
    names: [
      "minitest",
      "rspec",
      "test/unit",
      "bundler",
      "rake",
      "simplecov",
      "mocha",
      "rubygems",
      "cucumber",
    ],
    endings: [".rb", "/**"],
  },
  {
    programs: /^(php[0-9.]*|phpunit|pest|composer)$/,
    below: "**",
    names: ["PHPUnit/Framework", "PHPUnit/TextUI", "PHPUnit/Runner", "Mockery"],
    endings: ["/**"],
  },
  {
    programs: /^(busted|lua[0-9.]*|luajit|luarocks)$/,
    below: "",
    names: ["busted", "luassert", "say", "luaunit"],
    endings: [".lua", "/**"],
  },
];

/** Headers by which a test in C or C++ judges. Only those count that a test includes. */
const HEADERS =
  /^(assert|cassert|cmocka|check|unity|minunit|munit|greatest|utest|doctest|catch|tap)(\.h|\.hpp)?$|^(gtest|gmock|catch2|criterion|CUnit|doctest|cmocka|boost\/test|cpputest|CppUTest)\//;

export function frameworkShadows({ paths }: TreeListing, { programs, imports }: Reached): Guard[] {
  const running = [...programs];
  const frameworks = FRAMEWORKS.filter((one) => running.some((program) => one.programs.test(program)));
  const own = new Set(
    imports.filter(({ language, name }) => language === "c" && HEADERS.test(name)).map(({ name }) => name),
  );
  const known = namesIn(paths, [...frameworks.flatMap(({ names }) => names), ...own]);
  const guards = frameworks.flatMap(({ below, names, endings }) =>
    names
      .filter((name) => !known.has(name))
      .flatMap((name) =>
        endings.map((end) => guardOf(`${below === "" ? "" : `${below}/`}${name}${end}`, name)),
      ),
  );
  return [
    ...guards,
    ...[...own].filter((name) => !known.has(name)).map((name) => guardOf(`**/${name}`, name)),
  ];
}

function guardOf(glob: string, name: string): Guard {
  return {
    rule: "protected.shadow",
    glob,
    why: `it would be loaded instead of ${name} of the test framework`,
  };
}

/** Those of the names that a path of the base has as one of its parts. */
function namesIn(paths: readonly string[], names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  if (names.length === 0) return found;
  const form = new RegExp(
    `(?:^|/)(${names.map((name) => name.replace(/[.+]/g, "\\$&")).join("|")})(?=[/.]|$)`,
  );
  for (const path of paths) {
    const name = form.exec(path)?.[1];
    if (name !== undefined) found.add(name);
  }
  return found;
}
