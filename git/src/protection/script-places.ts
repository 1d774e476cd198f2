/** Protected places of languages whose files run as they are: Node, Python, Perl, Ruby, PHP, Elixir. Pure data. */
import type { ProtectedPlace } from "./protected-place.ts";

const NODE =
  /^(npm|npx|yarn|pnpm|bun|bunx|node|nodejs|vitest|jest|mocha|ava|tap|karma|tsx|ts-node|deno|tsc|eslint|playwright|cypress|nyc|c8|turbo|nx|lerna)$/;
const PYTHON =
  /^(python[0-9.]*|pypy[0-9.]*|py\.?test|tox|nox|unittest|uv|poetry|pipenv|hatch|pdm|coverage|nose2?)$/;

export const SCRIPT_PLACES: readonly ProtectedPlace[] = [
  {
    what: "a manifest of Node",
    globs: {
      "**/package.json": ["packages/a/package.json", "packages/a/package.json.md"],
      "**/deno.{json,jsonc}": ["app/deno.jsonc", "app/deno.ts"],
    },
    when: NODE,
  },
  {
    what: "settings of a package manager",
    globs: {
      "**/{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,.pnpmfile.mjs,pnpm-workspace.yaml,bunfig.toml,.nvmrc,.node-version,lerna.json,turbo.json,nx.json}":
        ["app/.npmrc", "app/npmrc.md"],
      "**/.yarn/**": [".yarn/releases/yarn.cjs", "src/yarn/index.js"],
    },
    when: NODE,
  },
  {
    what: "installed packages",
    globs: { "**/node_modules/**": ["node_modules/a/index.js", "src/modules/index.js"] },
    when: NODE,
  },
  {
    what: "mocks that a runner takes for the real thing",
    globs: { "__mocks__/**": ["__mocks__/fs.js", "src/mocks/fs.js"] },
    when: NODE,
    loaded: true,
  },
  {
    what: "the configuration of a test runner",
    globs: {
      "**/.mocharc*": [".mocharc.json", "src/mocha.json"],
      "**/mocha.opts": ["config/mocha.opts", "config/mocha.options"],
      "**/{jest,vitest,vite,karma,ava,playwright,cypress,babel,nyc,tap,wdio,web-test-runner}.{config,conf}.*":
        ["app/jest.config.js", "app/app.config.js"],
      "**/vitest.workspace.*": ["vitest.workspace.ts", "src/workspace.ts"],
      "**/{.babelrc,.nycrc,.taprc,.swcrc,.c8rc}*": [".babelrc.json", "src/babelrc.ts"],
      "**/{.env,.env.test,.env.local,.env.test.local}": ["app/.env.test", "app/.env.example"],
    },
    when: NODE,
  },
  {
    what: "the configuration of TypeScript",
    globs: { "**/{tsconfig,jsconfig}*.json": ["app/tsconfig.build.json", "app/ts-settings.json"] },
    when: NODE,
  },
  {
    what: "the configuration of Python's runners",
    globs: {
      "**/{pytest.ini,.pytest.ini,tox.ini,setup.cfg,pyproject.toml,noxfile.py,.coveragerc,Pipfile,uv.toml,poetry.toml,pixi.toml}":
        ["app/pyproject.toml", "app/project.toml"],
    },
    when: PYTHON,
  },
  {
    what: "a fixture of pytest",
    globs: { "**/conftest.py": ["tests/conftest.py", "src/conf.py"] },
    when: PYTHON,
    loaded: true,
  },
  {
    what: "code that Python runs before any other",
    globs: {
      "**/{sitecustomize,usercustomize}.py": ["src/sitecustomize.py", "src/customize.py"],
      "**/{sitecustomize,usercustomize}/**": ["sitecustomize/__init__.py", "customize/__init__.py"],
      "**/*.{pth,egg-link}": ["lib/a.pth", "lib/a.path"],
    },
    when: PYTHON,
    loaded: true,
  },
  // `python -m` searches the current directory first.
  {
    what: "a module of the test runner",
    globs: {
      "{pytest,_pytest,unittest,pluggy,doctest,tox,nox,xdist,pytest_cov}{.py,/**}": [
        "pytest/__init__.py",
        "pytests/__init__.py",
      ],
    },
    when: PYTHON,
    loaded: true,
  },
  // Tools write reports to `coverage/`, so it may appear.
  {
    what: "a module of the test runner",
    globs: { "coverage{.py,/**}": ["coverage/__init__.py", "coverages/__init__.py"] },
    when: PYTHON,
  },
  {
    what: "the configuration of Perl's tests",
    globs: {
      "**/.proverc": ["app/.proverc", "app/proverc"],
      "**/{Makefile,Build}.PL": ["app/Build.PL", "app/Build.pm"],
      "**/cpanfile*": ["cpanfile.snapshot", "src/cpan.pm"],
      "{lib,inc}/{Test,TAP}/**": ["lib/Test/More.pm", "lib/App/More.pm"],
      "{lib,inc}/{strict,warnings}.pm": ["lib/strict.pm", "lib/stricter.pm"],
    },
    when: /^(prove|perl[0-9.]*)$/,
  },
  {
    what: "the configuration of Ruby's tests",
    globs: {
      "**/{Gemfile,gems.rb}": ["app/Gemfile", "app/gem.rb"],
      "**/Rakefile": ["app/Rakefile", "app/rake.rb"],
      "**/*.rake": ["lib/tasks/db.rake", "lib/raked.rb"],
      "**/{.rspec,.rspec-local,.simplecov,.ruby-version,.irbrc}": [".rspec", "lib/respect.rb"],
      ".bundle/**": [".bundle/config", "lib/bundle/config"],
    },
    when: /^(bundle|rake|rspec|ruby|minitest)$/,
  },
  {
    what: "the configuration of PHP's tests",
    globs: {
      "**/phpunit*.xml*": ["app/phpunit.xml.dist", "app/unit.xml"],
      "**/composer.json": ["app/composer.json", "app/composers.json"],
      "**/Pest.php": ["app/Pest.php", "app/Pests.php"],
      "**/{.user.ini,php.ini}": ["app/php.ini", "app/user.ini"],
      "**/auto_prepend*.php": ["app/auto_prepend_file.php", "app/prepend.php"],
    },
    when: /^(php[0-9.]*|phpunit|pest|composer)$/,
  },
  {
    what: "the configuration of Elixir",
    globs: {
      "**/mix.exs": ["apps/a/mix.exs", "apps/a/mixer.exs"],
      "**/.formatter.exs": [".formatter.exs", "lib/formatter.exs"],
      "**/.iex.exs": [".iex.exs", "lib/iex.exs"],
    },
    when: /^(mix|elixir)$/,
  },
];
