/**
 * V3: what a change may not touch without a grant, as globs for `checkPatch`. Pure.
 *
 * Two kinds. Tests and configuration that exist in the base are named one by one, so that a task may add a test
 * but not weaken one. And places that decide how checks run are closed as patterns, also where nothing stands
 * yet: a new `conftest.py` or `.npmrc` would change a verdict just as well.
 */
import { literalGlob } from "./glob.ts";
import { MAKEFILES } from "./checks.ts";

/** How automation and Antiphon itself treat the repository. */
const ALWAYS = [
  ".github/**",
  ".gitlab/**",
  ".gitlab-ci.yml",
  ".circleci/**",
  ".buildkite/**",
  ".travis.yml",
  ".azure-pipelines/**",
  "azure-pipelines.yml",
  "bitbucket-pipelines.yml",
  "Jenkinsfile",
  ".ci/**",
  ".husky/**",
  ".devcontainer/**",
  ".gitattributes",
  "**/.gitattributes",
  "antiphon.yaml",
  "antiphon.yml",
  ".envrc",
];

interface Runner {
  named: RegExp;
  globs: readonly string[];
}

const NODE_CONFIG = [
  "**/package.json",
  "**/{package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,bun.lock,bun.lockb}",
  "**/{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,pnpm-workspace.yaml,bunfig.toml}",
  ".yarn/**",
  "**/node_modules/**",
  "**/.mocharc*",
  "**/{jest,vitest,vite,karma,ava,playwright,cypress,babel,nyc,tap}.config.*",
  "**/vitest.workspace.*",
  "**/{.babelrc,.nycrc,.taprc,.swcrc}*",
  "**/tsconfig*.json",
];

const PYTHON_CONFIG = [
  "**/{pytest.ini,.pytest.ini,tox.ini,setup.cfg,pyproject.toml,noxfile.py,.coveragerc,Pipfile,Pipfile.lock}",
  "**/conftest.py",
  "**/{sitecustomize,usercustomize}.py",
  "**/*.pth",
  // `python -m` looks in the current directory first.
  "{pytest,_pytest,unittest,pluggy}{.py,/**}",
];

const RUNNERS: readonly Runner[] = [
  { named: /\b(npm|npx|yarn|pnpm|bun|node|vitest|jest|mocha|tsx|ts-node|deno)\b/, globs: NODE_CONFIG },
  { named: /\b(python[0-9.]*|pytest|tox|nox|unittest|uv|poetry)\b/, globs: PYTHON_CONFIG },
  { named: /\b(make|gmake)\b/, globs: [...MAKEFILES.map((name) => `**/${name}`), "**/*.mk"] },
  {
    named: /\bcargo\b/,
    globs: ["**/Cargo.toml", "Cargo.lock", ".cargo/**", "**/build.rs", "rust-toolchain*"],
  },
  { named: /\bgo\b/, globs: ["go.mod", "go.sum", "go.work", "vendor/**"] },
  { named: /\b(prove|perl)\b/, globs: [".proverc", "**/{Makefile,Build}.PL", "cpanfile"] },
  { named: /\b(bundle|rake|rspec|ruby)\b/, globs: ["Gemfile*", "Rakefile", ".rspec"] },
  {
    named: /\b(mvn|gradle|gradlew)\b/,
    globs: ["**/pom.xml", "**/*.gradle*", "gradle/**", "gradlew*", "mvnw*"],
  },
  { named: /\b(cmake|ctest|ninja|meson)\b/, globs: ["**/CMakeLists.txt", "**/*.cmake", "**/meson.build"] },
];

/** Names that tests and their data have, in the languages people bring. */
const TESTS: readonly RegExp[] = [
  /(^|\/)(tests?|__tests__|specs?|testdata|__snapshots__|e2e|cypress|fixtures)\//i,
  /^t\/.+/,
  /\.snap$/,
];

/** As above, for the last name of a path alone: a form that looks for the end of a name in a path is quadratic. */
const TEST_NAMES: readonly RegExp[] = [
  /[^][._-](test|tests|spec|specs)\.[^]/i,
  /^(test|tests|spec)_[^]*\.[^]/i,
  /_(test|tests|spec)\.[^]/i,
  /[^](Test|Tests|IT|Spec)\.(java|kt|kts|scala|groovy|cs|swift|php)$/,
  /^(test|tests|spec)\.[^]/i,
];

/** Configuration that decides what a linter or type checker, as a check, lets pass. */
const CHECK_CONFIG =
  /(^|\/)(\.eslintrc[^/]*|eslint\.config\.[^/]+|\.prettierrc[^/]*|biome\.jsonc?|\.flake8|mypy\.ini|ruff\.toml|\.ruff\.toml|\.pylintrc|\.golangci\.[^/]+|\.rubocop\.yml|phpunit\.xml[^/]*|\.pre-commit-config\.yaml|Dockerfile[^/]*|docker-compose[^/]*)$/;

function isTest(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return TESTS.some((form) => form.test(path)) || TEST_NAMES.some((form) => form.test(name));
}

/** @param checks the commands that will decide; files they name are protected where the base has them */
export function protectedPaths(listing: readonly string[], checks: readonly string[]): string[] {
  const globs = new Set(ALWAYS);
  const files = new Set(listing);
  const commands = checks.join("\n");
  for (const runner of RUNNERS)
    if (runner.named.test(commands)) for (const glob of runner.globs) globs.add(glob);
  for (const word of commands.split(/[\s;|&()<>"'`=]+/)) {
    const path = word.replace(/^(\.\/)+/, "");
    if (files.has(path)) globs.add(literalGlob(path));
  }
  for (const path of listing) {
    if (isTest(path) || CHECK_CONFIG.test(path)) globs.add(literalGlob(path));
  }
  return [...globs];
}
