import { describe, expect, it } from "vitest";
import { TOOLCHAIN_PROGRAMS } from "@antiphon/contracts";
import { neededPrograms } from "./needed-programs.ts";

const listing = (...paths: string[]): Buffer =>
  Buffer.from(paths.map((path) => `100644 blob ${"a".repeat(40)}\t${path}\0`).join(""));

describe("the programs that a repository needs", () => {
  it.each<[string, string[], string[]]>([
    ["a Go module", ["go.mod", "main.go"], ["go"]],
    ["a Go module one directory below", ["server/go.mod"], ["go"]],
    ["a crate", ["Cargo.toml"], ["cargo"]],
    ["Maven", ["pom.xml"], ["java", "mvn"]],
    ["Gradle", ["settings.gradle.kts"], ["java"]],
    ["a gem", ["rack.gemspec", "Gemfile"], ["bundle", "ruby"]],
    ["PHP", ["composer.json"], ["composer", "php"]],
    ["CMake", ["CMakeLists.txt"], ["cmake", "g++"]],
    ["two of them", ["Cargo.toml", "tools/go.mod"], ["cargo", "go"]],
  ])("are found for %s", (_name, paths, programs) => {
    expect(neededPrograms(listing("README.md", ...paths)).programs).toEqual(programs);
    expect(programs.filter((one) => !TOOLCHAIN_PROGRAMS.includes(one))).toEqual([]);
  });

  it.each<[string, string[]]>([
    ["a package of npm", ["package.json", "src/a.js"]],
    ["a manifest deep in a tree", ["test/fixtures/a/go.mod"]],
    ["a manifest in a hidden directory", [".cache/go.mod"]],
    ["a name that only ends in one", ["not-go.mod", "xCargo.toml"]],
  ])("are none for %s", (_name, paths) => {
    expect(neededPrograms(listing(...paths))).toEqual({ programs: [], because: [] });
  });

  it("are named with the file that decided", () => {
    expect(neededPrograms(listing("go.mod")).because).toEqual(["go.mod"]);
  });
});
