import { describe, expect, it } from "vitest";
import { buildCommand } from "./build-command.ts";

const FILES = [
  ...["package.json", "src/App/App.csproj", "native/CMakeLists.txt", "rust/Cargo.toml", "go/go.mod"],
  ...["java/pom.xml", "kt/build.gradle.kts", "c/Makefile", "with space/Makefile", "README.md"],
];

describe("the command that builds a project", () => {
  it.each([
    [
      {
        projectPath: "src/App/App.csproj",
        configuration: "Release",
        targetFramework: "net8.0",
        targets: ["A", "B"],
      },
      "dotnet build ./src/App/App.csproj -c Release -f net8.0 '-t:A;B'",
    ],
    [{ projectPath: "." }, "cd . && npm run build"],
    [{ projectPath: "package.json", targets: ["lint", "pack"] }, "cd . && npm run lint && npm run pack"],
    [
      { projectPath: "rust/", configuration: "Debug", targets: ["core"] },
      "cargo build --offline --manifest-path ./rust/Cargo.toml --profile dev -p core",
    ],
    [{ projectPath: "go" }, "cd ./go && go build ./..."],
    [{ projectPath: "java", configuration: "ci" }, "mvn -o -B -q -f ./java/pom.xml -P ci package"],
    [{ projectPath: "kt/build.gradle.kts" }, "gradle --offline -q -p ./kt build"],
    [
      { projectPath: "native", configuration: "Release", targets: ["app"] },
      "cmake -S ./native -B ./native/build -DCMAKE_BUILD_TYPE=Release && cmake --build ./native/build --target app",
    ],
    [{ projectPath: "with space", targets: ["a b"] }, "make -C './with space' 'a b'"],
  ])("follows from its project file: %j", (order, expected) => {
    expect(buildCommand(order, FILES)).toBe(expected);
  });

  it.each([
    [{ projectPath: "README.md" }, "README.md is no project file of a known build tool"],
    [{ projectPath: "nowhere" }, "there is no project file at nowhere"],
    [{ projectPath: "../etc" }, "there is no project file at ../etc"],
    [{ projectPath: "c", configuration: "Release" }, "the build of c/Makefile has no configuration"],
    [{ projectPath: "c", targets: ["--eval=x"] }, '"--eval=x" is an option, not a name'],
    [{ projectPath: "c", targets: [""] }, '"" is an option, not a name'],
  ])("is refused instead of being another build: %j", (order, message) => {
    expect(() => buildCommand(order, FILES)).toThrow(
      expect.objectContaining({ code: "ANT_SESSION_BUILD", detail: message }) as Error,
    );
  });
});
