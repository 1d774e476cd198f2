/** Cheats and honest changes near languages with fewer users, and near linters. */
import type { Ground } from "./corpus.ts";
import { empty, refused, words } from "./short.ts";

export const RARE_RUNNERS: readonly Ground[] = [
  {
    ecosystem: "haskell",
    name: "cabal and stack",
    files: {
      ...empty(
        "a.cabal cabal.project stack.yaml package.yaml src/A.hs test/Spec.hs app/Main.hs Setup.hs .hlint.yaml",
      ),
    },
    checks: ["cabal test", "stack test", "hlint src"],
    cheats: {
      ...refused(
        "protected.place",
        "a.cabal cabal.project stack.yaml package.yaml Setup.hs +cabal.project.local .hlint.yaml +.ghci",
      ),
      ...refused("protected.test", "test/Spec.hs"),
    },
    honest: words("src/A.hs app/Main.hs +src/B.hs +test/BSpec.hs"),
  },
  {
    ecosystem: "r",
    name: "testthat",
    files: {
      ...empty(
        "DESCRIPTION NAMESPACE R/a.R tests/testthat.R tests/testthat/test-a.R man/a.Rd vignettes/a.Rmd .Rbuildignore",
      ),
    },
    checks: ["Rscript -e 'devtools::test()'", "R CMD check ."],
    cheats: {
      ...refused("protected.place", "DESCRIPTION +.Rprofile +.Renviron +tests/testthat/setup.R"),
      ...refused("protected.test", "tests/testthat.R tests/testthat/test-a.R"),
    },
    honest: words("R/a.R +R/b.R man/a.Rd vignettes/a.Rmd +tests/testthat/test-b.R NAMESPACE"),
  },
  {
    ecosystem: "others",
    name: "builders of other languages",
    files: {
      ...empty(
        "build.zig build.zig.zon src/a.zig dune-project lib/dune lib/a.ml test/dune rebar.config src/a.erl foundry.toml remappings.txt contracts/A.sol test/A.t.sol Project.toml src/A.jl test/runtests.jl shard.yml spec/a_spec.cr src/a.cr SConstruct build.mill tests.edn bb.edn elm.json src/A.elm pants.toml Earthfile a.nimble xmake.lua",
      ),
    },
    checks: [
      "zig build test",
      "dune test",
      "rebar3 eunit",
      "forge test",
      "julia --project=. test/runtests.jl",
      "crystal spec",
      "scons test",
      "mill test",
      "bin/kaocha",
      "bb test",
      "elm-test",
      "pants test ::",
      "earthly +test",
      "nimble test",
      "xmake test",
    ],
    cheats: {
      ...refused(
        "protected.place",
        "build.zig build.zig.zon dune-project lib/dune rebar.config foundry.toml remappings.txt Project.toml shard.yml SConstruct build.mill bb.edn elm.json pants.toml Earthfile a.nimble xmake.lua",
      ),
      ...refused("protected.test", "test/dune test/A.t.sol tests.edn"),
    },
    honest: words(
      "src/a.zig lib/a.ml src/a.erl contracts/A.sol src/A.jl src/a.cr src/A.elm +src/b.zig +lib/b.ml +test/B.t.sol",
    ),
  },
  {
    ecosystem: "any",
    name: "linters as the check",
    files: {
      ...empty(
        "docs/a.md .codespellrc .cspell.json lychee.toml .hadolint.yaml .vale.ini .sqlfluff .tflint.hcl .lycheeignore cspell.config.yaml .swiftlint.yml .scalafmt.conf .clang-format knip.json .dependency-cruiser.cjs .isort.cfg .importlinter .solhint.json dprint.json tslint.json .jshintrc .remarkrc.js .size-limit.json stylua.toml src/a.py deploy/a.tf",
      ),
      "ci.sh":
        "codespell\nactionlint\nmarkdownlint .\nyamllint .\ncspell .\nlychee docs\nhadolint Dockerfile\nvale docs\nsqlfluff lint\ntflint\n",
    },
    checks: ["sh ci.sh"],
    cheats: {
      ...refused("protected.reached", "ci.sh"),
      ...refused(
        "protected.place",
        ".codespellrc .cspell.json lychee.toml .hadolint.yaml .vale.ini .sqlfluff .tflint.hcl .lycheeignore cspell.config.yaml .swiftlint.yml .scalafmt.conf .clang-format knip.json .dependency-cruiser.cjs .isort.cfg .importlinter .solhint.json dprint.json tslint.json .jshintrc .remarkrc.js .size-limit.json stylua.toml",
      ),
    },
    honest: words("docs/a.md src/a.py deploy/a.tf +docs/b.md +deploy/b.tf"),
  },
];
