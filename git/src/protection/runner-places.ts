/** Protected places of test runners and task runners that belong to one language or to none. Pure data. */
import type { ProtectedPlace } from "./protected-place.ts";

export const RUNNER_PLACES: readonly ProtectedPlace[] = [
  {
    what: "the versions of the tools",
    globs: {
      "**/{.tool-versions,mise.toml,.mise.toml,.mise.local.toml,mise.local.toml,devbox.json}": [
        ".tool-versions",
        "tool-versions.md",
      ],
      "{.mise,.config/mise}/**": [".config/mise/config.toml", "src/mise/a.toml"],
    },
    when: "always",
  },
  {
    what: "a file of tasks",
    globs: {
      "**/{gulpfile,Gruntfile,gruntfile,Jakefile,jakefile}*": ["gulpfile.mjs", "src/gulp.js"],
      "**/moon.{yml,yaml}": ["app/moon.yml", "app/moons.yml"],
      "**/rush.json": ["rush.json", "src/rush.ts"],
      "**/.moon/**": [".moon/tasks.yml", "src/moon/tasks.yml"],
    },
    when: /^(gulp|grunt|jake|moon|rush)$/,
  },
  {
    what: "the configuration of a test runner",
    globs: {
      "**/postcss.config.*": ["app/postcss.config.cjs", "app/postcss.ts"],
      "**/.postcssrc*": [".postcssrc.json", "src/postcss.json"],
      "**/vitest.{config,workspace,projects,setup}*.*": ["vitest.projects.ts", "src/vitest.ts"],
      "**/{nightwatch,codecept,protractor,testcafe}.conf*.*": ["codecept.conf.js", "src/codecept.js"],
      "**/{.testcaferc,.labrc,.swcrc,.jasmine,jasmine}*.{js,cjs,mjs,json}": [".labrc.js", "src/lab.js"],
      "{cucumber,.cucumber}.{js,cjs,mjs,json,yml,yaml}": ["cucumber.js", "src/cucumber.js"],
    },
    when: /^(vitest|vite|nightwatch|codeceptjs|testcafe|lab|jasmine|cucumber(-js)?)$/,
  },
  {
    what: "scenarios and their steps",
    globs: {
      "**/*.feature": ["features/a.feature", "src/features/a.ts"],
      "features/{steps,step_definitions}/**": ["features/steps/a.py", "src/features/steps/a.ts"],
      "features/support/{env,world,hooks}*": ["features/support/env.rb", "features/support/ticket.ts"],
      "features/environment.py": ["features/environment.py", "src/features/environment.py"],
    },
    when: /^(behave|behat|cucumber(-js)?)$/,
    ambiguous: true,
    existing: true,
  },
  {
    what: "settings of behave, behat and cucumber",
    globs: {
      "{behave.ini,.behaverc,behat.yml,behat.yaml,behat.yml.dist,behat.dist.yml,behat.php,cucumber.yml}": [
        ".behaverc",
        "behave.md",
      ],
    },
    when: /^(behave|behat|cucumber(-js)?)$/,
  },
  {
    what: "suites of Robot Framework",
    globs: { "**/*.{robot,resource}": ["suites/a.robot", "suites/a.py"] },
    when: /^(robot|pabot|rfbrowser)$/,
    existing: true,
  },
  {
    what: "the configuration of Python's runners",
    globs: {
      "**/{pytest.toml,.pytest.toml,tox.toml,robot.toml,.robot.toml,invoke.yaml,invoke.yml,.python-version}":
        ["pytest.toml", "src/pytest.md"],
    },
    when: /^(python[0-9.]*|pypy[0-9.]*|py\.?test|tox|nox|unittest|uv|poetry|pipenv|hatch|pdm|invoke|inv|robot)$/,
  },
  {
    what: "how the package is built",
    globs: { "setup.py": ["setup.py", "src/setup.py"] },
    when: /^(tox|nox|pip[0-9.]*)$/,
    ambiguous: true,
    existing: true,
  },
  {
    what: "tasks of Python",
    globs: { "{tasks,fabfile,dodo}.py": ["tasks.py", "src/tasks.py"] },
    when: /^(invoke|inv|fab|doit)$/,
    ambiguous: true,
  },
  {
    what: "tasks of Go",
    globs: {
      "{magefile,mage}*.go": ["magefile.go", "cmd/magefile.go"],
      "magefiles/**": ["magefiles/a.go", "src/magefiles.go"],
    },
    when: /^mage$/,
    ambiguous: true,
  },
  {
    what: "the configuration of PHP's tests",
    globs: {
      "**/{codeception,codeception.dist,phpspec,phpspec.dist}.{yml,yaml}": [
        "codeception.yml",
        "src/codeception.ts",
      ],
      "**/infection.json*": ["infection.json5", "src/infection.php"],
    },
    when: /^(php[0-9.]*|phpunit|pest|composer|codecept|phpspec|infection|behat)$/,
  },
  {
    what: "installed packages",
    globs: { "vendor/**": ["vendor/autoload.php", "src/vendor.php"] },
    when: /^(php[0-9.]*|phpunit|pest|composer|codecept|phpspec|infection|behat)$/,
    ambiguous: true,
  },
  {
    what: "the configuration of Ruby's tests",
    globs: {
      "**/*.gemfile": ["gemfiles/rails.gemfile", "lib/gemfile.rb"],
      "**/Appraisals": ["Appraisals", "lib/appraisals.rb"],
      "{.minitest.rb,cucumber.yml}": [".minitest.rb", "lib/minitest.md"],
    },
    when: /^(bundle|rake|rspec|ruby|appraisal)$/,
  },
];
