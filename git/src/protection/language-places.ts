/** Protected places of builders and test runners of languages with fewer users. Pure data. */
import type { ProtectedPlace } from "./protected-place.ts";

export const LANGUAGE_PLACES: readonly ProtectedPlace[] = [
  {
    what: "the configuration of a native build",
    globs: {
      "**/meson.options": ["app/meson.options", "app/options.txt"],
      "**/{configure,configure.ac,configure.in,aclocal.m4}": ["app/configure", "src/configure.c"],
      "m4/**": ["m4/ax.m4", "src/m4.c"],
      "{conanfile.txt,conanfile.py,vcpkg.json,vcpkg-configuration.json,wscript,SConstruct,xmake.lua,premake5.lua}":
        ["vcpkg.json", "src/vcpkg.json"],
      "**/SConscript": ["src/SConscript", "src/Script.py"],
    },
    when: /^(cmake|ctest|ninja|meson|g?make|configure|conan|scons|waf|xmake|premake5)$/,
    ambiguous: true,
  },
  {
    what: "the configuration of Lua's tests",
    globs: {
      "**/{.busted,.luacov}": [".busted", "src/busted.lua"],
      "*.rockspec": ["a-1.rockspec", "src/rocks.lua"],
    },
    when: /^(busted|luarocks|lua[0-9.]*)$/,
  },
  {
    what: "the configuration of Haskell",
    globs: {
      "**/*.cabal": ["a/a.cabal", "src/Cabal.hs"],
      "**/cabal.project*": ["cabal.project.local", "src/project.hs"],
      "**/{stack.yaml,package.yaml}": ["stack.yaml", "src/stacks.yaml"],
      "**/{Setup.hs,.ghci}": ["Setup.hs", "src/Set.hs"],
    },
    when: /^(cabal|stack|runghc|runhaskell)$/,
    ambiguous: true,
  },
  {
    what: "the configuration of R",
    globs: {
      "**/{.Rprofile,.Renviron}": [".Rprofile", "R/profile.R"],
      DESCRIPTION: ["DESCRIPTION", "man/DESCRIPTION.md"],
      "tests/testthat/{setup,helper}*.R": ["tests/testthat/setup-a.R", "R/setup.R"],
    },
    when: /^(R|Rscript)$/,
    ambiguous: true,
  },
  {
    what: "the configuration of Zig",
    globs: { "**/build.zig{,.zon}": ["build.zig", "src/builder.zig"] },
    when: /^zig$/,
  },
  {
    what: "the configuration of OCaml",
    globs: {
      "**/{dune,dune-project,dune-workspace}": ["lib/dune", "lib/dune.ml"],
      "*.opam": ["a.opam", "lib/opam.ml"],
    },
    when: /^(dune|opam|esy)$/,
  },
  {
    what: "the configuration of Erlang",
    globs: { "**/rebar.config{,.script}": ["rebar.config", "src/rebar.erl"] },
    when: /^(rebar3|make)$/,
  },
  {
    what: "the configuration of contracts",
    globs: {
      "**/{foundry.toml,remappings.txt}": ["foundry.toml", "src/Foundry.sol"],
      "**/{hardhat,truffle}*.config.*": ["hardhat.config.ts", "src/hardhat.ts"],
    },
    when: /^(forge|npm|npx|yarn|pnpm|hardhat)$/,
  },
  {
    what: "the configuration of Julia",
    globs: { "**/{,Julia}{Project,Manifest}.toml": ["Project.toml", "src/Projects.jl"] },
    when: /^julia$/,
  },
  {
    what: "the configuration of Crystal, Nim or Elm",
    globs: {
      "shard.{yml,override.yml}": ["shard.yml", "src/shard.cr"],
      "{*.nimble,nim.cfg,config.nims}": ["a.nimble", "src/nim.nim"],
      "**/elm.json": ["elm.json", "src/elm.ts"],
    },
    when: /^(crystal|shards|nim|nimble|elm-test|elm)$/,
    ambiguous: true,
  },
  {
    what: "the configuration of a build of many languages",
    globs: {
      "{pants.toml,.buckconfig,Earthfile}": ["pants.toml", "src/pants.ts"],
      "**/BUCK": ["src/BUCK", "src/BUCK.md"],
    },
    when: /^(pants|buck2?|earthly)$/,
  },
  {
    what: "the configuration of Android's checks",
    globs: { "**/lint{,-baseline}.xml": ["app/lint.xml", "app/list.xml"] },
    when: /^(gradle|gradlew)$/,
    existing: true,
  },
  {
    what: "the configuration of a JVM build",
    globs: {
      "**/META-INF/services/org.mockito*": [
        "src/main/resources/META-INF/services/org.mockito.plugins.MockMaker",
        "src/main/resources/META-INF/services/java.sql.Driver",
      ],
      "**/mockito-extensions/**": ["src/main/resources/mockito-extensions/a", "src/main/resources/mockito"],
      "**/{.sbtopts,.jvmopts,build.mill,build.sc,tests.edn,bb.edn,lombok.config}": [
        ".jvmopts",
        "src/jvm.opts",
      ],
    },
    when: /^(mvn|mvnw|mvnd|gradle|gradlew|sbt|ant|lein|clojure|clj|mill|kaocha|bb)$/,
  },
  {
    what: "the configuration of .NET",
    globs: {
      "**/{xunit.runner.json,testconfig.json,*.testconfig.json,dotnet-tools.json,Directory.Build.rsp}": [
        "app/xunit.runner.json",
        "app/runner.json",
      ],
    },
    when: /^dotnet$/,
  },
];
