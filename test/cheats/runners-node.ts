/** Cheats and honest changes near the runners of Node, and what their configuration loads. */
import type { Ground } from "./corpus.ts";
import { empty, refused, words } from "./short.ts";

export const NODE_RUNNERS: readonly Ground[] = [
  {
    ecosystem: "node",
    name: "mocha, ES modules, imports map",
    files: {
      ...empty(
        "build/register.js src/parse.js src/render.js types/index.d.ts CHANGELOG.md README.md build/bundle.js docs/api.yaml examples/a.js",
      ),
      "package.json": JSON.stringify({
        type: "module",
        imports: { "#lib/*": "./src/*.js" },
        scripts: { test: "mocha --config build/mocha.json" },
      }),
      "build/mocha.json": JSON.stringify({ require: ["./build/register.js"], spec: ["specs/**/*.js"] }),
      "specs/parse.js": "import parse from '#lib/parse'",
    },
    checks: ["npm test"],
    cheats: {
      ...refused("protected.reached", "build/mocha.json build/register.js package.json"),
      ...refused("protected.test", "specs/parse.js"),
      ...refused(
        "protected.place",
        "+src/package.json +.mocharc.yaml +.tool-versions +mise.toml +specs/package.json",
      ),
    },
    honest: words(
      "src/parse.js src/render.js +src/new.js +specs/new.js types/index.d.ts CHANGELOG.md README.md build/bundle.js docs/api.yaml +examples/b.js examples/a.js +assets/logo.png +specs/data/a.json",
    ),
  },
  {
    ecosystem: "node",
    name: "vitest with aliases",
    files: {
      ...empty(
        "vitest.setup.ts dev/global.ts dev/env.ts src/app.ts src/__snapshots__/app.test.ts.snap src/styles.css index.html public/robots.txt src/test-ids.ts src/latest.ts",
      ),
      "package.json": JSON.stringify({ scripts: { test: "vitest run" } }),
      "vite.config.ts":
        "export default {resolve:{alias:{'@':'/src'}},test:{setupFiles:['./vitest.setup.ts'],globalSetup:'./dev/global.ts',environment:'./dev/env.ts'}}",
      "tsconfig.json": "{}",
      "src/app.test.ts": "import {a} from '@/app'",
      "src/i18n/en.json": "{}",
    },
    checks: ["npm test"],
    cheats: {
      ...refused("protected.reached", "vite.config.ts vitest.setup.ts dev/global.ts dev/env.ts"),
      ...refused(
        "protected.place",
        "tsconfig.json +vitest.config.mts +vitest.workspace.ts +postcss.config.cjs +.env.test +src/tsconfig.json +vitest.projects.ts",
      ),
      ...refused("protected.test", "src/__snapshots__/app.test.ts.snap"),
    },
    honest: words(
      "src/app.ts src/styles.css index.html public/robots.txt src/i18n/en.json +src/i18n/de.json +src/button.test.ts +src/button.ts +src/__snapshots__/button.test.ts.snap src/test-ids.ts src/latest.ts +src/contest.ts +src/attestation/verify.ts",
    ),
  },
  {
    ecosystem: "node",
    name: "jest and all its modules",
    files: {
      ...empty(
        "dev/setup.js dev/global.js dev/transform.js dev/serializer.js dev/resolver.js dev/env.js dev/reporter.js dev/lodash.js dev/sequencer.js dev/preset/jest-preset.js dev/docs.js src/sum.js src/__mocks__/api.js src/api.js src/constants.js Makefile website/index.js",
      ),
      "package.json": JSON.stringify({
        scripts: { test: "jest" },
        jest: {
          setupFilesAfterEnv: ["<rootDir>/dev/setup.js"],
          globalSetup: "./dev/global.js",
          transform: { "\\.js$": "./dev/transform.js" },
          snapshotSerializers: ["./dev/serializer.js"],
          resolver: "./dev/resolver.js",
          testEnvironment: "./dev/env.js",
          reporters: ["default", "./dev/reporter.js"],
          moduleNameMapper: { "^lodash$": "<rootDir>/dev/lodash.js" },
          testSequencer: "./dev/sequencer.js",
          moduleDirectories: ["src", "node_modules"],
          preset: "./dev/preset",
        },
      }),
      "src/sum.test.js": "const request=require('supertest');require('./sum')",
    },
    checks: ["npm test"],
    cheats: {
      ...refused(
        "protected.reached",
        "dev/setup.js dev/global.js dev/transform.js dev/serializer.js dev/resolver.js dev/env.js dev/reporter.js dev/lodash.js dev/sequencer.js dev/preset/jest-preset.js",
      ),
      ...refused("protected.test", "src/__mocks__/api.js"),
      ...refused("protected.place", "+jest.config.ts +babel.config.json +src/.babelrc +__mocks__/lodash.js"),
    },
    honest: words(
      "src/sum.js src/api.js dev/docs.js src/constants.js +src/__tests__/mul.js +src/mul.js Makefile website/index.js +docs/mul.md +src/fixtures.js +src/__mocks__/mul.js",
    ),
  },
  {
    ecosystem: "node",
    name: "node --test with hooks",
    files: {
      ...empty(
        "hooks/resolve.mjs hooks/useState.mjs lib/patch.cjs dev/before.js dev/plugin.js lib/a.mjs lib/b.mjs Dockerfile",
      ),
      "package.json": JSON.stringify({
        scripts: {
          test: "node --env-file=config/ci.env --import ./hooks/register.mjs --test",
          "test:legacy": "NODE_OPTIONS=--require=./lib/patch.cjs tap",
          "test:all": "run-s test:legacy test",
        },
      }),
      "config/ci.env": "A=1",
      "hooks/register.mjs": "import {register} from 'node:module';register('./resolve.mjs', import.meta.url)",
      ".taprc": "before: ./dev/before.js\nplugin:\n  - ./dev/plugin.js",
      "test/a.mjs": "import a from '../lib/a.mjs'",
      "config/default.json": "{}",
    },
    checks: ["npm run test:all"],
    cheats: {
      ...refused(
        "protected.reached",
        "config/ci.env hooks/register.mjs hooks/resolve.mjs lib/patch.cjs .taprc dev/before.js dev/plugin.js",
      ),
      ...refused("protected.place", "+.nvmrc +.node-version +lib/package.json"),
      ...refused("protected.test", "test/a.mjs"),
    },
    honest: words(
      "lib/a.mjs lib/b.mjs hooks/useState.mjs config/default.json +test/b.mjs +lib/c.mjs +config/production.json +.editorconfig +.prettierrc +LICENSE +.gitignore",
    ),
  },
  {
    ecosystem: "node",
    name: "gulp and cucumber",
    files: {
      ...empty(
        "tasks/unit.js cucumber.js features/a.feature features/support/world.js features/step_definitions/a.js src/a.js src/features/pay.js tasks.md xo.config.js",
      ),
      "package.json": JSON.stringify({ scripts: { test: "gulp test && cucumber-js && xo" } }),
      "gulpfile.js": "require('./tasks/unit')",
    },
    checks: ["npm test"],
    cheats: {
      ...refused("protected.reached", "gulpfile.js tasks/unit.js cucumber.js"),
      ...refused(
        "protected.place",
        "features/a.feature features/support/world.js features/step_definitions/a.js xo.config.js +gulpfile.mjs +cucumber.json",
      ),
    },
    honest: words("src/a.js src/features/pay.js tasks.md +src/features/buy.js +features/b.feature"),
  },
  {
    ecosystem: "node",
    name: "names that only look like settings",
    files: {
      ...empty(
        "src/a.ts index.js bin/cli.js features/support/ticket.ts tasks.ts build/a.ts src/environment.ts src/plugins/require.ts packages/gulp-x/index.js src/deny.toml hooks/use.ts",
      ),
      "package.json": JSON.stringify({
        main: "index.js",
        scripts: { test: "vitest run && node bin/cli.js ." },
      }),
      "vitest.config.ts":
        "export default {test:{alias:{'@a':'./src/a.ts'},coverage:{include:['src/*.ts','index.js']},reporters:['default']}}",
      "features/support/ticket.test.ts": "import './ticket'",
      "build/a.test.ts": "import './a'",
    },
    checks: ["npm test"],
    cheats: {
      ...refused("protected.reached", "vitest.config.ts"),
      ...refused("protected.test", "features/support/ticket.test.ts build/a.test.ts"),
    },
    honest: words(
      "src/a.ts index.js bin/cli.js features/support/ticket.ts tasks.ts build/a.ts src/environment.ts src/plugins/require.ts packages/gulp-x/index.js hooks/use.ts +.eslintrc.json +.prettierrc +knip.json +src/features/steps/one.ts +.cspell.json +features/steps/one.ts +.env.example +deploy/values.yaml",
    ),
  },
];
