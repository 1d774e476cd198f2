import { describe, expect, it } from "vitest";
import { discoverEnvironment, type EnvironmentPlan } from "./environment.ts";

const planOf = (
  files: Record<string, string>,
  more: Partial<Parameters<typeof discoverEnvironment>[0]> = {},
): Promise<EnvironmentPlan | null> =>
  discoverEnvironment({
    listing: Object.keys(files),
    read: (path) => files[path] ?? null,
    project: null,
    ...more,
  });

const LOCK = JSON.stringify({ packages: { "": {}, "node_modules/a": { version: "1.0.0" } } });
const NEEDS = JSON.stringify({ dependencies: { a: "1" } });

describe("the commands that prepare an environment are found", () => {
  it.each([
    ["package-lock.json", { "package.json": NEEDS, "package-lock.json": LOCK }, ["npm ci"], ["npm"]],
    ["npm-shrinkwrap.json", { "package.json": NEEDS, "npm-shrinkwrap.json": LOCK }, ["npm ci"], ["npm"]],
    ["a package.json without a lock", { "package.json": NEEDS }, ["npm install --no-package-lock"], ["npm"]],
    [
      "pnpm-lock.yaml",
      { "package.json": NEEDS, "pnpm-lock.yaml": "lockfileVersion: '6.0'\n" },
      [
        'command -v pnpm >/dev/null || npm install --global --prefix "$HOME/.local" pnpm@8',
        "pnpm install --frozen-lockfile",
      ],
      ["npm"],
    ],
    [
      "packageManager",
      { "package.json": '{"packageManager":"pnpm@9.12.1+sha512.ab"}', "pnpm-lock.yaml": "" },
      [
        'command -v pnpm >/dev/null || npm install --global --prefix "$HOME/.local" pnpm@9.12.1',
        "pnpm install --frozen-lockfile",
      ],
      ["npm"],
    ],
    [
      "an old yarn.lock",
      { "package.json": NEEDS, "yarn.lock": "# yarn lockfile v1\n" },
      [
        'command -v yarn >/dev/null || npm install --global --prefix "$HOME/.local" yarn@1',
        "yarn install --frozen-lockfile",
      ],
      ["npm"],
    ],
    [
      "go.mod",
      { "go.mod": "module x\nrequire y v1.0.0\n" },
      ["go mod download", expect.stringMatching(/^go test -run/)],
      ["go"],
    ],
    [
      "Go tests alone",
      { "go.mod": "module x\n", "a_test.go": "" },
      [expect.stringMatching(/^go test/)],
      ["go"],
    ],
    [
      "Cargo.lock",
      { "Cargo.toml": "", "Cargo.lock": 'source = "r"\n' },
      ["cargo fetch --locked", expect.stringContaining("cargo clean")],
      ["cargo"],
    ],
    ["Gemfile.lock", { Gemfile: "", "Gemfile.lock": "" }, ["BUNDLE_FROZEN=true bundle install"], ["bundle"]],
    [
      "composer.lock",
      { "composer.lock": '{"packages":[{"name":"a"}]}' },
      ["composer install --no-interaction --no-progress"],
      ["composer"],
    ],
  ])("from %s", async (_name, files, commands, tools) => {
    expect(await planOf(files)).toMatchObject({ commands, tools });
  });

  it.each([
    ["requirements.txt", { "requirements.txt": "six==1.16.0\n" }, "pip install -r requirements.txt"],
    [
      "requirements of tests",
      { "requirements.txt": "six\n", "requirements-dev.txt": "pytest\n" },
      "pip install -r requirements.txt -r requirements-dev.txt",
    ],
    [
      "requirements of tests rather than of developers, whose pins may contradict the project",
      {
        "requirements.txt": "six\n",
        "requirements/dev.txt": "pip-tools==6\n",
        "requirements/tests.txt": "pytest\n",
      },
      "pip install -r requirements.txt -r requirements/tests.txt",
    ],
    [
      "requirements beside the tests",
      { "setup.py": "", "tests/requirements.txt": "pretend\n" },
      "pip install -e . -r tests/requirements.txt",
    ],
    [
      "pyproject.toml with extras",
      { "pyproject.toml": '[project]\nname = "x"\n[project.optional-dependencies]\ntest = ["pytest"]\n' },
      "pip install -e '.[test]'",
    ],
    [
      "pyproject.toml with a group",
      { "pyproject.toml": '[project]\nname = "x"\n[dependency-groups]\ndev = ["pytest>=8"]\n' },
      "pip install -e . 'pytest>=8'",
    ],
    ["uv.lock", { "pyproject.toml": "[project]\n", "uv.lock": "" }, "uv sync --frozen"],
    ["poetry.lock", { "poetry.lock": "" }, "poetry install --no-interaction"],
    ["Pipfile.lock", { "Pipfile.lock": "{}" }, "pipenv sync --dev"],
  ])("from %s, into a virtual environment outside of the work tree", async (_name, files, last) => {
    const plan = await planOf(files);
    expect(plan?.commands.at(0)).toContain('venv --system-site-packages "$HOME/.venv"');
    expect(plan?.commands.at(-1)).toBe(last);
    expect(plan?.path[0]).toBe("/tmp/home/.venv/bin");
    expect(plan?.variables).toMatchObject({ PYTHONUNBUFFERED: "1" });
  });

  it("without the browsers that packages download from hosts that setup may not reach", async () => {
    const lock = "lockfileVersion: '9.0'\n  puppeteer@25.2.0:\n  cypress@14.0.0:\n";
    const plan = await planOf({ "package.json": NEEDS, "pnpm-lock.yaml": lock });
    expect(plan?.variables).toEqual({
      PUPPETEER_SKIP_DOWNLOAD: "true",
      PUPPETEER_SKIP_CHROMIUM_DOWNLOAD: "true",
      CYPRESS_INSTALL_BINARY: "0",
    });
    expect((await planOf({ "package.json": NEEDS, "package-lock.json": LOCK }))?.variables).toEqual({});
    const [files, project] = [{ "package.json": NEEDS, "pnpm-lock.yaml": lock }, { setup: "pnpm install" }];
    expect((await planOf(files, { project }))?.variables).toEqual({});
  });

  it("without a Gradle build below a root that is built otherwise", async () => {
    const android = { "support/build.gradle": "", "support/gradle/wrapper/gradle-wrapper.properties": "" };
    expect(await planOf({ "CMakeLists.txt": "enable_testing()", ...android })).toBeNull();
    const app = { "package.json": NEEDS, "package-lock.json": LOCK, "android/build.gradle": "" };
    expect(await planOf(app)).toMatchObject({ commands: ["npm ci"], tools: ["npm"] });
    expect(await planOf({ "README.md": "", "app/build.gradle": "" })).toMatchObject({
      tools: ["gradle", "java"],
    });
  });

  it.each([
    ["hatch-vcs", { "pyproject.toml": '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\n' }, ""],
    ["hatch-vcs", { "pyproject.toml": '[build-system]\nrequires = ["hatch-vcs"]\n', "uv.lock": "" }, ""],
    ["setuptools_scm", { "setup.py": "setup(use_scm_version=True, setup_requires=['setuptools_scm'])" }, ""],
    [
      "setuptools-scm",
      { "pyproject.toml": '[project]\nname = "my.app-x"\n[build-system]\nrequires = ["setuptools-scm"]\n' },
      "_FOR_MY_APP_X",
    ],
    [
      "setuptools_scm",
      { "setup.py": "", "setup.cfg": "[metadata]\nname = app\n[options]\nsetup_requires = setuptools_scm\n" },
      "_FOR_APP",
    ],
  ])("with a version for %s, which a sandbox without tags cannot find", async (_tool, files, form) => {
    const found = Object.keys((await planOf(files))?.variables ?? {}).filter((name) => /VERSION/.test(name));
    expect(found).toEqual([`SETUPTOOLS_SCM_PRETEND_VERSION${form}`]);
    expect((await planOf({ "setup.py": "" }))?.variables).not.toHaveProperty(found[0] ?? "");
  });

  it("with pytest where tests lie deep in a package and nothing names it", async () => {
    const plan = await planOf({ "setup.py": "", "app/core/tests/test_app.py": "" });
    expect(plan?.commands).toContainEqual(expect.stringContaining("pip install pytest"));
  });

  it("with Bats where only shell tests ask for it", async () => {
    const plan = await planOf({ "run.sh": "", "test/a.bats": "" });
    expect(plan?.commands).toEqual([
      'command -v bats >/dev/null || npm install --global --prefix "$HOME/.local" bats',
    ]);
    expect(await planOf({ "bin/bats": "", "test/a.bats": "" })).toBeNull();
    const named = JSON.stringify({ devDependencies: { bats: "1" } });
    expect((await planOf({ "package.json": named, "test/a.bats": "" }))?.commands).toEqual([
      "npm install --no-package-lock",
    ]);
  });

  it("not from manifests that are data of tests", async () => {
    expect(await planOf({ "testdata/Cargo.toml": "", "testdata/Cargo.lock": 'source = "r"\n' })).toBeNull();
  });

  it("from several ecosystems at once, each in its own directory", async () => {
    const plan = await planOf({
      "web/package.json": NEEDS,
      "web/package-lock.json": LOCK,
      "api server/requirements.txt": "six\n",
      "examples/package.json": NEEDS,
    });
    expect(plan?.commands).toEqual([
      "cd web && { npm ci; }",
      `cd 'api server' && { python3 -m venv --system-site-packages "$HOME/.venv"; }`,
      "cd 'api server' && { pip install -r requirements.txt; }",
    ]);
    expect(plan?.found).toEqual([
      "web/package-lock.json: npm ci",
      "api server/requirements.txt: pip install -r requirements.txt",
    ]);
  });
});

it.each([
  ["no manifest", { "README.md": "" }],
  ["a package.json without dependencies", { "package.json": '{"scripts":{"test":"node --test"}}' }],
  [
    "a lock file that names no package",
    { "package.json": "{}", "package-lock.json": '{"lockfileVersion":3,"packages":{"":{}}}' },
  ],
  ["a package.json that does not parse", { "package.json": "{" }],
  ["a pyproject.toml that only configures tools", { "pyproject.toml": "[tool.ruff]\nline-length = 100\n" }],
  ["requirements of comments only", { "requirements.txt": "# none\n\n" }],
  ["a go.mod without requirements", { "go.mod": "module x\n" }],
  [
    "vendored Go modules",
    { "go.mod": "module x\nrequire y v1\n", "vendor/modules.txt": "", "vendor/y/a.go": "" },
  ],
  ["a crate without dependencies", { "Cargo.toml": "[package]\n", "Cargo.lock": 'name = "x"\n' }],
])("a repository with %s needs no environment", async (_name, files) => {
  expect(await planOf(files)).toBeNull();
});

describe("what is named comes first", () => {
  const files = { "package.json": NEEDS, "package-lock.json": LOCK, "sub/go.mod": "", "a.txt": "" };

  it("setup of antiphon.yaml, decided by every manifest and lock file", async () => {
    const plan = await planOf(files, { project: { setup: "make deps" } });
    expect(plan).toMatchObject({ commands: ["make deps"], tools: [], found: ["antiphon.yaml: make deps"] });
    expect(plan?.inputs).toEqual(["package-lock.json", "package.json", "sub/go.mod"]);
  });

  it("setup_inputs, instead of these files", async () => {
    const plan = await planOf(files, { project: { setup: ["a", "b"], setup_inputs: ["*.txt"] } });
    expect(plan).toMatchObject({ commands: ["a", "b"], inputs: ["a.txt"] });
  });

  it("the run's own commands", async () => {
    expect(await planOf(files, { project: { setup: "x" }, named: ["y"] })).toMatchObject({ commands: ["y"] });
  });

  it("an empty list, which means none", async () => {
    expect(await planOf(files, { named: [] })).toBeNull();
    expect(await planOf(files, { project: { setup: [] } })).toBeNull();
  });
});

it("only the files of an ecosystem that was found decide, and never those of installed packages", async () => {
  const plan = await planOf({
    "package.json": NEEDS,
    "package-lock.json": LOCK,
    "packages/a/package.json": "{}",
    "vendor/b/package.json": "{}",
    "requirements.txt": "",
  });
  expect(plan?.inputs).toEqual(["package-lock.json", "package.json", "packages/a/package.json"]);
});

describe("an environment is owned by each sandbox", () => {
  const lockOf = (name: string) => ({
    "package.json": NEEDS,
    [name]: name === "package-lock.json" ? LOCK : "",
  });
  it.each([
    ["npm", lockOf("package-lock.json"), null, false],
    ["pnpm", lockOf("pnpm-lock.yaml"), null, true],
    ["yarn", lockOf("yarn.lock"), null, true],
    ["bun", lockOf("bun.lock"), null, true],
    ["pnpm in antiphon.yaml", {}, { setup: "corepack enable && pnpm i" }, true],
    ["a program whose name holds another's", {}, { setup: "./yarn-like; npm run pnpm-check" }, false],
    ["pnpm, where antiphon.yaml says otherwise", lockOf("pnpm-lock.yaml"), { setup_owned: false }, false],
    ["npm, where antiphon.yaml asks for it", lockOf("package-lock.json"), { setup_owned: true }, true],
  ] as const)(
    "where the package manager sets modes of what is there: %s",
    async (_name, files, project, owned) => {
      expect((await planOf(files, { project: project as never }))?.owned).toBe(owned);
    },
  );
});
