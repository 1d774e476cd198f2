/** Protected places of build tools, and of languages that are built before they run. Pure data. */
import { MAKEFILES } from "../inspection/checks.ts";
import type { ProtectedPlace } from "./protected-place.ts";

const JVM = /^(mvn|mvnw|mvnd|gradle|gradlew|sbt|ant|lein|clojure|clj)$/;

export const BUILD_PLACES: readonly ProtectedPlace[] = [
  {
    what: "a makefile",
    globs: {
      ...Object.fromEntries(
        MAKEFILES.map((name) => [`**/${name}`, [`app/${name}`, `app/${name}.md`] as const]),
      ),
      "**/*.mk": ["build/rules.mk", "build/rules.mk.md"],
      "**/{Makefile,makefile}.{inc,in,am}": ["app/Makefile.am", "app/Makefile.txt"],
    },
    when: /^g?make$/,
  },
  {
    what: "a justfile",
    globs: {
      "**/{justfile,Justfile,.justfile,JUSTFILE}": ["app/justfile", "app/justfile.md"],
      "**/*.just": ["build/release.just", "build/justice.ts"],
    },
    when: /^just$/,
  },
  {
    what: "a file of tasks",
    globs: { "**/{Taskfile,taskfile}*.{yml,yaml}": ["Taskfile.dist.yml", "src/tasks.yml"] },
    when: /^(task|go-task)$/,
  },
  {
    what: "the configuration of cargo",
    globs: {
      "**/Cargo.toml": ["crates/a/Cargo.toml", "crates/a/Freight.toml"],
      "**/.cargo/**": [".cargo/config.toml", "src/cargo/config.rs"],
      "build.rs": ["build.rs", "src/build.rs"],
      "**/rust-toolchain*": ["rust-toolchain.toml", "src/toolchain.rs"],
      "**/{clippy,.clippy,rustfmt,.rustfmt}.toml": [".rustfmt.toml", "src/rustfmt.rs"],
      "**/.config/nextest.toml": ["crates/a/.config/nextest.toml", "crates/a/nextest.toml"],
    },
    when: /^(cargo|rustc|cross)$/,
  },
  {
    what: "the modules of Go",
    globs: {
      "**/go.{mod,work}": ["tools/go.mod", "tools/mod.go"],
      "**/vendor/**": ["vendor/example.org/a/a.go", "src/vendors/a.go"],
    },
    when: /^go$/,
  },
  {
    what: "the configuration of Maven",
    globs: {
      "**/pom.xml": ["app/pom.xml", "app/poms.xml"],
      "**/.mvn/**": [".mvn/maven.config", "src/mvn/maven.config"],
      "**/mvnw*": ["mvnw.cmd", "src/mvn.md"],
    },
    when: JVM,
  },
  {
    what: "the configuration of Gradle",
    globs: {
      "**/*.gradle*": ["app/build.gradle.kts", "app/src/Gradle.kt"],
      "**/gradle.properties": ["app/gradle.properties", "app/app.properties"],
      "**/gradle/**": ["gradle/libs.versions.toml", "src/grade/Libs.java"],
      "**/gradlew*": ["gradlew.bat", "src/Gradle.md"],
      "{buildSrc,build-logic}/**": ["buildSrc/src/A.kt", "src/build/A.kt"],
    },
    when: JVM,
  },
  {
    what: "the configuration of a JVM build",
    globs: {
      "**/build.{sbt,xml}": ["app/build.sbt", "app/builds.xml"],
      "**/project/*.{sbt,properties}": ["project/plugins.sbt", "projects/plugins.sbt"],
      "**/{project.clj,deps.edn}": ["app/deps.edn", "app/data.edn"],
      "**/junit-platform.properties": ["src/junit-platform.properties", "src/platform.properties"],
      "**/META-INF/services/org.junit*": [
        "src/META-INF/services/org.junit.platform.launcher.LauncherSessionListener",
        "src/META-INF/services/java.sql.Driver",
      ],
    },
    when: JVM,
  },
  {
    what: "the configuration of a native build",
    globs: {
      "**/CMakeLists.txt": ["src/CMakeLists.txt", "src/Lists.txt"],
      "**/*.cmake": ["cmake/warnings.cmake", "cmake/warnings.md"],
      "**/CMakePresets.json": ["app/CMakePresets.json", "app/Presets.json"],
      "**/CMakeUserPresets.json": ["app/CMakeUserPresets.json", "app/UserPresets.json"],
      "**/meson.build": ["src/meson.build", "src/mason.build"],
      "**/meson_options.txt": ["app/meson_options.txt", "app/options.txt"],
    },
    when: /^(cmake|ctest|ninja|meson)$/,
  },
  {
    what: "the configuration of .NET",
    globs: {
      "**/*.{csproj,fsproj,vbproj,sln,slnx,props,targets,runsettings}": ["app/App.csproj", "app/App.cs"],
      "**/{NuGet.Config,nuget.config,global.json}": ["global.json", "src/globals.json"],
    },
    when: /^dotnet$/,
  },
  {
    what: "the configuration of Swift",
    globs: { "**/Package*.swift": ["Package@swift-6.0.swift", "Sources/Parcel.swift"] },
    when: /^swift$/,
  },
  {
    what: "the configuration of Dart",
    globs: { "**/{pubspec,dart_test,analysis_options}.yaml": ["app/pubspec.yaml", "app/spec.yaml"] },
    when: /^(dart|flutter)$/,
  },
  {
    what: "the configuration of Bazel",
    globs: {
      "**/{BUILD,WORKSPACE,MODULE}{,.bazel}": ["src/BUILD.bazel", "src/BUILD.md"],
      "**/*.bzl": ["rules/defs.bzl", "rules/defs.md"],
      "**/.bazelrc": ["app/.bazelrc", "app/bazelrc.md"],
      ".bazelversion": [".bazelversion", "docs/.bazelversion"],
    },
    when: /^(bazel|bazelisk|buck2)$/,
  },
  {
    what: "the configuration of Nix",
    globs: { "**/{flake,default,shell}.nix": ["app/flake.nix", "app/package.nix"] },
    when: /^nix(-build|-shell)?$/,
  },
];
