/**
 * The places that a change may not touch without a grant: a table of patterns for the files that decide how a repository
 * is built, checked, reviewed and run. Pure data.
 *
 * `always`: closed in every run. `runs`: closed if the check runs such a program, directly or indirectly. A row also
 * closes places that do not exist yet, because a new `.npmrc` changes a verdict as much as an edited one; `existing` rows
 * close only paths that the base has.
 */
import { MAKEFILES } from "../inspection/checks.ts";

interface ProtectedPlace {
  /** A name for the place, for the verdict. */
  readonly what: string;
  readonly globs: readonly string[];
  readonly when: "always" | RegExp;
  readonly existing?: true;
  /** A check loads such a file wherever it appears, and no build makes one: it may not appear while the check runs. */
  readonly loaded?: true;
}

const NODE =
  /^(npm|npx|yarn|pnpm|bun|bunx|node|nodejs|vitest|jest|mocha|ava|tap|karma|tsx|ts-node|deno|tsc|eslint|playwright|cypress|nyc|c8|turbo|nx|lerna)$/;
const PYTHON =
  /^(python[0-9.]*|pypy[0-9.]*|py\.?test|tox|nox|unittest|uv|poetry|pipenv|hatch|pdm|coverage|nose2?)$/;
const JVM = /^(mvn|mvnw|mvnd|gradle|gradlew|sbt|ant|lein|clojure|clj)$/;

export const PROTECTED_PLACES: readonly ProtectedPlace[] = [
  { what: "automation of GitHub", globs: [".github/**"], when: "always" },
  { what: "automation of GitLab", globs: [".gitlab/**", "**/.gitlab-ci.{yml,yaml}"], when: "always" },
  { what: "automation of Gitea and Forgejo", globs: ["{.gitea,.forgejo}/**"], when: "always" },
  {
    what: "automation",
    globs: [
      "{.circleci,.buildkite,.azure-pipelines,.woodpecker,.tekton,.semaphore,.teamcity,.ci}/**",
      "{.travis,.drone,.woodpecker,.appveyor,appveyor,.cirrus,azure-pipelines,bitbucket-pipelines,cloudbuild,buildspec}.{yml,yaml}",
      "**/Jenkinsfile*",
    ],
    when: "always",
  },
  {
    what: "hooks of git",
    globs: ["{.husky,.githooks}/**", "{lefthook,.lefthook}.{yml,yaml,toml}", ".overcommit.yml"],
    when: "always",
  },
  { what: "who reviews what", globs: ["**/CODEOWNERS"], when: "always" },
  { what: "the sandbox's image", globs: ["**/.devcontainer*/**", "**/.devcontainer*.json"], when: "always" },
  { what: "settings of agents", globs: ["**/{.claude,.cursor,.codex,.opencode}/**"], when: "always" },
  { what: "attributes of git", globs: ["**/.gitattributes"], when: "always" },
  { what: "Antiphon's own file", globs: ["antiphon.{yaml,yml}"], when: "always" },
  { what: "variables of the shell", globs: ["**/.envrc"], when: "always" },
  {
    what: "a lock file",
    globs: [
      "**/{package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,bun.lock,bun.lockb,deno.lock}",
      "**/{poetry.lock,uv.lock,pdm.lock,Pipfile.lock,pixi.lock,conda-lock.yml}",
      "**/{Cargo.lock,go.sum,go.work.sum,Gemfile.lock,gems.locked,composer.lock,mix.lock,pubspec.lock}",
      "**/{gradle.lockfile,buildscript-gradle.lockfile,verification-metadata.xml,packages.lock.json,paket.lock}",
      "**/{flake.lock,Package.resolved,Podfile.lock,stack.yaml.lock,cabal.project.freeze,.terraform.lock.hcl,rebar.lock,MODULE.bazel.lock,conan.lock}",
    ],
    when: "always",
  },
  { what: "a manifest of Node", globs: ["**/package.json", "**/deno.{json,jsonc}"], when: NODE },
  {
    what: "settings of a package manager",
    globs: [
      "**/{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,.pnpmfile.mjs,pnpm-workspace.yaml,bunfig.toml,.nvmrc,.node-version,lerna.json,turbo.json,nx.json}",
      "**/.yarn/**",
    ],
    when: NODE,
  },
  { what: "installed packages", globs: ["**/node_modules/**"], when: NODE },
  { what: "mocks that a runner takes for the real thing", globs: ["__mocks__/**"], when: NODE, loaded: true },
  {
    what: "the configuration of a test runner",
    globs: [
      "**/.mocharc*",
      "**/mocha.opts",
      "**/{jest,vitest,vite,karma,ava,playwright,cypress,babel,nyc,tap,wdio,web-test-runner}.{config,conf}.*",
      "**/vitest.workspace.*",
      "**/{.babelrc,.nycrc,.taprc,.swcrc,.c8rc}*",
      "**/{.env,.env.test,.env.local,.env.test.local}",
    ],
    when: NODE,
  },
  { what: "the configuration of TypeScript", globs: ["**/{tsconfig,jsconfig}*.json"], when: NODE },
  {
    what: "the configuration of Python's runners",
    globs: [
      "**/{pytest.ini,.pytest.ini,tox.ini,setup.cfg,pyproject.toml,noxfile.py,.coveragerc,Pipfile,uv.toml,poetry.toml,pixi.toml}",
    ],
    when: PYTHON,
  },
  { what: "a fixture of pytest", globs: ["**/conftest.py"], when: PYTHON, loaded: true },
  {
    what: "code that Python runs before any other",
    globs: ["**/{sitecustomize,usercustomize}.py", "**/*.{pth,egg-link}"],
    when: PYTHON,
    loaded: true,
  },
  // `python -m` searches the current directory first.
  {
    what: "a module of the test runner",
    globs: ["{pytest,_pytest,unittest,pluggy,doctest,tox,nox,xdist,pytest_cov}{.py,/**}"],
    when: PYTHON,
    loaded: true,
  },
  // Tools write reports to `coverage/`, so it may appear.
  { what: "a module of the test runner", globs: ["coverage{.py,/**}"], when: PYTHON },
  {
    what: "a makefile",
    globs: [...MAKEFILES.map((name) => `**/${name}`), "**/*.mk", "**/{Makefile,makefile}.{inc,in,am}"],
    when: /^g?make$/,
  },
  { what: "a justfile", globs: ["**/{justfile,Justfile,.justfile,JUSTFILE}", "**/*.just"], when: /^just$/ },
  { what: "a file of tasks", globs: ["**/{Taskfile,taskfile}*.{yml,yaml}"], when: /^(task|go-task)$/ },
  {
    what: "the configuration of cargo",
    globs: [
      "**/Cargo.toml",
      "**/.cargo/**",
      "**/build.rs",
      "**/rust-toolchain*",
      "**/{clippy,.clippy,rustfmt,.rustfmt}.toml",
      ".config/nextest.toml",
    ],
    when: /^(cargo|rustc|cross)$/,
  },
  { what: "the modules of Go", globs: ["**/go.{mod,work}", "**/vendor/**"], when: /^go$/ },
  {
    what: "the configuration of Perl's tests",
    globs: [
      "**/.proverc",
      "**/{Makefile,Build}.PL",
      "**/cpanfile*",
      "{lib,inc}/{Test,TAP}/**",
      "{lib,inc}/{strict,warnings}.pm",
    ],
    when: /^(prove|perl[0-9.]*)$/,
  },
  {
    what: "the configuration of Ruby's tests",
    globs: [
      "**/{Gemfile,gems.rb}",
      "**/Rakefile",
      "**/*.rake",
      "**/{.rspec,.rspec-local,.simplecov,.ruby-version,.irbrc}",
      ".bundle/**",
    ],
    when: /^(bundle|rake|rspec|ruby|minitest)$/,
  },
  { what: "the configuration of Maven", globs: ["**/pom.xml", "**/.mvn/**", "**/mvnw*"], when: JVM },
  {
    what: "the configuration of Gradle",
    globs: [
      "**/*.gradle*",
      "**/gradle.properties",
      "**/gradle/**",
      "**/gradlew*",
      "{buildSrc,build-logic}/**",
    ],
    when: JVM,
  },
  {
    what: "the configuration of a JVM build",
    globs: [
      "**/build.{sbt,xml}",
      "**/project/*.{sbt,properties}",
      "**/{project.clj,deps.edn}",
      "**/junit-platform.properties",
      "**/META-INF/services/org.junit*",
    ],
    when: JVM,
  },
  {
    what: "the configuration of PHP's tests",
    globs: [
      "**/phpunit*.xml*",
      "**/composer.json",
      "**/Pest.php",
      "**/{.user.ini,php.ini}",
      "**/auto_prepend*.php",
    ],
    when: /^(php[0-9.]*|phpunit|pest|composer)$/,
  },
  {
    what: "the configuration of a native build",
    globs: [
      "**/CMakeLists.txt",
      "**/*.cmake",
      "**/CMakePresets.json",
      "**/CMakeUserPresets.json",
      "**/meson.build",
      "**/meson_options.txt",
    ],
    when: /^(cmake|ctest|ninja|meson)$/,
  },
  {
    what: "the configuration of .NET",
    globs: [
      "**/*.{csproj,fsproj,vbproj,sln,slnx,props,targets,runsettings}",
      "**/{NuGet.Config,nuget.config,global.json}",
    ],
    when: /^dotnet$/,
  },
  {
    what: "the configuration of Elixir",
    globs: ["**/mix.exs", "**/.formatter.exs", "**/.iex.exs"],
    when: /^(mix|elixir)$/,
  },
  { what: "the configuration of Swift", globs: ["**/Package*.swift"], when: /^swift$/ },
  {
    what: "the configuration of Dart",
    globs: ["**/{pubspec,dart_test,analysis_options}.yaml"],
    when: /^(dart|flutter)$/,
  },
  {
    what: "the configuration of Bazel",
    globs: ["**/{BUILD,WORKSPACE,MODULE}{,.bazel}", "**/*.bzl", "**/.bazelrc", ".bazelversion"],
    when: /^(bazel|bazelisk|buck2)$/,
  },
  {
    what: "the configuration of Nix",
    globs: ["**/{flake,default,shell}.nix"],
    when: /^nix(-build|-shell)?$/,
  },
  {
    what: "what a linter lets pass",
    globs: [
      "**/.eslintrc*",
      "**/{eslint,prettier,stylelint,biome,oxlint,commitlint}.config.*",
      "**/{.prettierrc,.stylelintrc,.oxlintrc}*",
      "**/biome.{json,jsonc}",
      "**/{.eslintignore,.prettierignore,.stylelintignore,.dockerignore}",
      "**/{.flake8,mypy.ini,.mypy.ini,ruff.toml,.ruff.toml,.pylintrc,pyrightconfig.json,.bandit}",
      "**/.golangci.*",
      "**/{.rubocop.yml,.rubocop_todo.yml,.standard.yml}",
      "**/{phpstan,psalm,phpcs,.phpcs}*.{neon,xml,dist}",
      "**/{checkstyle,pmd,spotbugs}*.xml",
      "**/{.pre-commit-config,.yamllint,.markdownlint}*",
      "**/.editorconfig",
    ],
    when: "always",
    existing: true,
  },
  {
    what: "how an image is built",
    globs: ["**/Dockerfile*", "**/{docker-,}compose*.{yml,yaml}"],
    when: "always",
    existing: true,
  },
  { what: "the configuration of PHP's tests", globs: ["**/phpunit*.xml*"], when: "always", existing: true },
];

/** True for configuration by its name, whichever programs run. */
export function isConfiguration(path: string): boolean {
  return CONFIGURATION.test(path);
}

/** One regular expression for a whole list. It is safe here because the table is our own. */
export function formOf(globs: readonly string[]): RegExp {
  return new RegExp(`^(?:${globs.map(formText).join("|")})$`);
}

function formText(glob: string): string {
  return glob.replace(/\*\*\/|\*\*|\*|[{},]|[.+^$()|[\]\\]/g, (part) => FORMS[part] ?? `\\${part}`);
}

const FORMS: Readonly<Record<string, string>> = {
  "**/": "(?:.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "{": "(?:",
  "}": ")",
  ",": "|",
};

const CONFIGURATION = formOf(PROTECTED_PLACES.flatMap(({ globs }) => globs));
