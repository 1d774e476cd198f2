/**
 * Protected places of linters and formatters. Pure data.
 *
 * An edit of such a file is closed in every run, because the next check may be a linter. A new one is closed only if the
 * check runs that linter.
 */
import type { ProtectedPlace } from "./protected-place.ts";

type Globs = ProtectedPlace["globs"];

const LINTERS: readonly (readonly [what: string, when: RegExp, globs: Globs])[] = [
  [
    "what ESLint lets pass",
    /^(eslint|standard|xo|tslint|jshint)$/,
    {
      "**/.eslintrc*": ["src/.eslintrc.json", "src/eslintrc.json"],
      "**/eslint.config.*": ["app/eslint.config.mjs", "app/eslint-config.mjs"],
      "**/.eslintignore": ["app/.eslintignore", "app/eslintignore.txt"],
      "**/xo.config.*": ["xo.config.js", "xo.js"],
      "**/{tslint,.jshintrc}*": ["tslint.json", "lint.json"],
    },
  ],
  [
    "what a linter of JavaScript lets pass",
    /^(prettier|stylelint|biome|oxlint|commitlint|dprint|knip|depcruise|size-limit|remark|htmlhint|solhint)$/,
    {
      "**/{prettier,stylelint,biome,oxlint,commitlint}.config.*": ["prettier.config.js", "prettier.js"],
      "**/{.prettierrc,.stylelintrc,.oxlintrc,.remarkrc,.htmlhintrc,.solhint,.size-limit}*": [
        ".prettierrc.json",
        "src/prettierrc.ts",
      ],
      "**/{biome,dprint,knip}.{json,jsonc}": ["app/biome.json", "app/biomes.json"],
      "**/knip.ts": ["knip.ts", "src/knit.ts"],
      "**/.dependency-cruiser.*": [".dependency-cruiser.cjs", "src/dependency-cruiser.ts"],
      "**/{.prettierignore,.stylelintignore,.remarkignore}": [".prettierignore", ".ignore"],
    },
  ],
  [
    "what a linter of Python lets pass",
    /^(flake8|mypy|ruff|pylint|pyright|bandit|isort|lint-imports|yapf|black|pydocstyle)$/,
    {
      "**/{.flake8,mypy.ini,.mypy.ini,ruff.toml,.ruff.toml,.pylintrc,pylintrc,pyrightconfig.json,.bandit}": [
        "ruff.toml",
        "src/ruff.py",
      ],
      "**/{.isort.cfg,.importlinter,.style.yapf,.pydocstyle}": [".isort.cfg", "src/isort.py"],
    },
  ],
  [
    "what a linter of Rust or Go lets pass",
    /^(golangci-lint|revive|staticcheck|cargo-deny)$/,
    {
      "**/.golangci.*": [".golangci.yml", "golangci.yml"],
      "**/{revive.toml,staticcheck.conf}": ["revive.toml", "src/revive.go"],
      "**/{deny,.deny,audit}.toml": ["deny.toml", "src/deny.rs"],
    },
  ],
  [
    "what a linter of Ruby, PHP or Lua lets pass",
    /^(rubocop|standardrb|phpstan|psalm|phpcs|php-cs-fixer|rector|luacheck|stylua|selene)$/,
    {
      "**/{.rubocop.yml,.rubocop_todo.yml,.standard.yml}": [".rubocop.yml", "rubocop.yml"],
      "**/{phpstan,psalm,phpcs,.phpcs}*.{neon,xml,dist}": ["phpstan-baseline.neon", "phpstan.md"],
      "**/.php-cs-fixer*.php": [".php-cs-fixer.dist.php", "src/Fixer.php"],
      "**/{.luacheckrc,stylua.toml,.stylua.toml,selene.toml}": [".luacheckrc", "src/luacheck.lua"],
    },
  ],
  [
    "what a linter of a compiled language lets pass",
    /^(checkstyle|pmd|swiftlint|scalafmt|clang-tidy|clang-format|hlint|detekt|ktlint)$/,
    {
      "**/{checkstyle,pmd,spotbugs}*.xml": ["config/checkstyle.xml", "config/style.xml"],
      "**/{detekt*,.swiftlint}.yml": ["config/detekt.yml", "config/detector.yml"],
      "**/{.scalafmt.conf,.scalafix.conf,.clang-tidy,.clang-format,.hlint.yaml}": [
        ".clang-tidy",
        "src/clang.c",
      ],
    },
  ],
  [
    "what a linter of text lets pass",
    /^(pre-commit|yamllint|markdownlint(-cli2)?|shellcheck|hadolint|typos|codespell|cspell|lychee|vale|sqlfluff|tflint|taplo|credo)$/,
    {
      "**/{.pre-commit-config,.yamllint,.markdownlint}*": [".pre-commit-config.yaml", "pre-commit.yaml"],
      "**/{.shellcheckrc,.hadolint.yaml,.hadolint.yml}": [".shellcheckrc", "bin/shellcheck.sh"],
      "**/{typos,_typos,.typos}.toml": ["_typos.toml", "src/typos.ts"],
      "**/{.codespellrc,.lycheeignore,lychee.toml,.vale.ini,.sqlfluff,.tflint.hcl,.taplo.toml}": [
        ".codespellrc",
        "docs/lychee.md",
      ],
      "**/{.cspell,cspell,cspell.config,.cspell.config}.{json,yaml,yml,js,cjs,mjs}": [
        "cspell.config.yaml",
        "spell.yaml",
      ],
      "**/.credo.exs": [".credo.exs", "lib/credo.ex"],
    },
  ],
];

export const LINTER_PLACES: readonly ProtectedPlace[] = [
  ...LINTERS.map(([what, , globs]): ProtectedPlace => ({ what, globs, when: "always", existing: true })),
  ...LINTERS.map(([what, when, globs]): ProtectedPlace => ({ what, globs, when })),
  {
    what: "what a linter lets pass",
    globs: {
      "**/.dockerignore": ["app/.dockerignore", "app/dockerignore.txt"],
      "**/.editorconfig": ["src/.editorconfig", "src/editorconfig.ts"],
    },
    when: "always",
    existing: true,
  },
];
