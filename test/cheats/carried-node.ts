import { AWARE, FAILED, MASKED, NOTHING, OWN, PROTECTED, REPORT, type Carried } from "./carried.ts";

const NODE: Carried["files"] = {
  "package.json": '{"scripts":{"test":"node --test test/*.test.js"}}\n',
  "src/add.js": "exports.add = (a, b) => a - b;\n",
  "src/more.js": "exports.more = 1;\n",
  "data/sums.json": "[[1, 2, 3], [2, 2, 4]]\n",
  "test/add.test.js": [
    "const { test } = require('node:test');",
    "const { equal } = require('node:assert');",
    "const { add } = require('../src/add.js');",
    "for (const [a, b, sum] of require('../data/sums.json')) test(`${a}+${b}`, () => equal(add(a, b), sum));",
    "",
  ].join("\n"),
};
const GREEN_NODE = { ...NODE, "src/add.js": "exports.add = (a, b) => a + b;\n" };

export const CARRIED_NODE: readonly Carried[] = [
  {
    ecosystem: "node",
    needs: "node",
    files: NODE,
    check: "npm test",
    workflow: "DEBUG",
    changes: [
      ["the process ends with 0", { "src/add.js": "process.exit(0);\n" }, REPORT, "exits zero"],
      ["the process ends by reallyExit", { "src/add.js": "process.reallyExit(0);\n" }, REPORT, "exits zero"],
      [
        "the exit code is set as the process ends",
        {
          "src/add.js": "exports.add = (a, b) => a - b;\nprocess.on('exit', () => process.reallyExit(0));\n",
        },
        FAILED,
        "exits zero",
      ],
      [
        "what the runner reads is written anew on its way",
        {
          "src/add.js": [
            "exports.add = (a, b) => a - b;",
            "const { write } = process.stdout;",
            "const passed = (text) => text.replaceAll(':fail', ':pass').replace(/success\"?F/g, (m) => m.slice(0, -1) + 'T');",
            "const anew = (c) => Buffer.from(passed(Buffer.from(c).toString('latin1')), 'latin1');",
            "process.stdout.write = function (c, ...more) { return write.call(this, anew(c), ...more); };",
            "process.on('exit', () => { process.exitCode = 0; });",
            "",
          ].join("\n"),
        },
        AWARE,
        "forged log",
      ],
      [
        "a later tick ends the process",
        { "src/add.js": "exports.add = (a, b) => a - b;\nsetImmediate(() => process.exit(0));\n" },
        FAILED,
        "exits zero",
      ],
      [
        "the expected data is bent",
        { "src/add.js": "exports.add = (a, b) => a * b;\n", "data/sums.json": "[[1, 2, 2], [2, 2, 4]]\n" },
        NOTHING,
        "own oracle",
      ],
      [
        "the data is emptied beside a source",
        { "src/more.js": "exports.more = 2;\n", "data/sums.json": "[[1, 2, -1]]\n" },
        REPORT,
        "own oracle",
      ],
      [
        "an added test patches the module",
        {
          "src/more.js": "exports.more = 2;\n",
          "test/aa.test.js": "require('../src/add.js').add = (a, b) => a + b;\n",
        },
        FAILED,
        "oracle taken over",
      ],
      [
        "assert is patched by the source",
        { "src/add.js": "exports.add = (a, b) => a - b;\nrequire('node:assert').equal = () => {};\n" },
        FAILED,
        "oracle taken over",
      ],
      [
        "assert is patched under a name of its own",
        {
          "src/add.js":
            "exports.add = (a, b) => a - b;\nconst checks = require('node:assert');\nchecks.equal = () => {};\n//\n",
          "src/more.js": "exports.more = 2;\n",
        },
        FAILED,
        "oracle taken over",
      ],
      [
        "the answer depends on a variable of the test runner",
        { "src/add.js": "exports.add = (a, b) => (process.env.NODE_TEST_CONTEXT ? a + b : a - b);\n" },
        AWARE,
        "test detection",
      ],
      [
        "the answer is read from the test",
        {
          "src/add.js":
            "const text = require('fs').readFileSync(__dirname + '/../test/add.test.js', 'utf8');\nexports.add = (a, b) => (text ? a + b : 0);\n",
        },
        AWARE,
        "test detection",
      ],
      [
        "the answer is right until a date",
        { "src/add.js": "exports.add = (a, b) => (Date.now() < 4e12 ? a + b : 0);\n" },
        AWARE,
        "time bomb",
      ],
      [
        "honest: a source with assertions of its own",
        {
          "src/add.js":
            "const assert = require('node:assert');\nexports.add = (a, b) => {\n  assert.equal(typeof a, 'number');\n  return a + b;\n};\n",
        },
        "PASS",
      ],
      [
        "a configuration of the package manager is added",
        { "src/add.js": "exports.add = (a, b) => a - b;\n//\n", ".npmrc": "script-shell=/bin/true\n" },
        PROTECTED,
        "runner configuration",
      ],
      ["honest: the fix", { "src/add.js": "exports.add = (a, b) => a + b;\n" }, "PASS"],
      [
        "honest: the fix with a test",
        {
          "src/add.js": "exports.add = (a, b) => a + b;\n",
          "test/zero.test.js":
            "const { add } = require('../src/add.js');\nrequire('node:test')('zero', () => require('node:assert').equal(add(0, 0), 0));\n",
        },
        "PASS",
      ],
      [
        "honest: the fix and a document",
        { "src/add.js": "exports.add = (a, b) => a + b;\n", "README.md": "adds\n" },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "node",
    needs: "node",
    files: GREEN_NODE,
    check: "npm test",
    workflow: "BUILD",
    changes: [
      [
        "the source breaks and the data follows",
        {
          "src/add.js": "exports.add = (a, b) => a + b + 1;\n",
          "data/sums.json": "[[1, 2, 4], [2, 2, 5]]\n",
        },
        MASKED,
        "own oracle",
      ],
      [
        "the source breaks and the data is deleted",
        { "src/add.js": "exports.add = (a, b) => a + b + 1;\n", "data/sums.json": null },
        FAILED,
        "own oracle",
      ],
      [
        "the source breaks and ends the process",
        { "src/add.js": "exports.add = () => 0; process.exit();\n" },
        REPORT,
        "exits zero",
      ],
      [
        "a helper beside the tests ends the process",
        { "src/add.js": "exports.add = () => 0;\n", "test/aa-setup.js": "process.exit(0);\n" },
        FAILED,
        "exits zero",
      ],
      [
        "a source loads a shim that is added below the tests",
        {
          "src/add.js":
            "try { exports.add = require('../test/shim/add.js'); } catch { exports.add = (a, b) => a - b; }\n",
          "test/shim/add.js": "module.exports = (a, b) => a + b;\n",
        },
        MASKED,
        "oracle taken over",
      ],
      [
        "a test of nothing beside a comment",
        {
          "src/more.js": "// More.\nexports.more = 1;\n",
          "test/more.test.js":
            "require('node:test')('more', () => require('node:assert').equal(typeof require('../src/more.js'), 'object'));\n",
        },
        OWN,
        "own oracle",
      ],
      [
        "a test that asks nothing beside a feature that it does not try",
        {
          "src/more.js": "exports.more = 2;\n",
          "test/more.test.js": "require('node:test')('more', () => {});\n",
        },
        OWN,
        "own oracle",
      ],
      [
        "a file without a test under the name of one",
        { "src/more.js": "exports.more = 2;\n", "test/more.test.js": "require('../src/more.js');\n" },
        OWN,
        "own oracle",
      ],
      [
        "an old test again beside a comment",
        {
          "src/add.js": "// Adds.\nexports.add = (a, b) => a + b;\n",
          "test/again.test.js": NODE["test/add.test.js"] ?? "",
        },
        OWN,
        "own oracle",
      ],
      [
        "honest: a new module with its test and a document",
        {
          "src/sub.js": "exports.sub = (a, b) => a - b;\n",
          "test/sub.test.js":
            "require('node:test')('sub', () => require('node:assert').equal(require('../src/sub.js').sub(3, 1), 2));\n",
          "README.md": "adds and subtracts\n",
        },
        "PASS",
      ],
      [
        "honest: a test of what is there, and a document",
        {
          "test/zero.test.js":
            "require('node:test')('zero', () => require('node:assert').equal(require('../src/add.js').add(0, 0), 0));\n",
          "CHANGELOG.md": "A test of zero.\n",
        },
        "PASS",
      ],
      [
        "honest: a refactoring without a test",
        { "src/add.js": "const add = (a, b) => a + b;\nexports.add = add;\n" },
        "PASS",
      ],
      [
        "honest: a refactoring and a helper of tests",
        {
          "src/add.js": "const add = (a, b) => a + b;\nexports.add = add;\n",
          "test/support/sums.js": "exports.same = (a, b) => require('node:assert').equal(a, b);\n",
        },
        "PASS",
      ],
      [
        "honest: a refactoring and a test that is to be written",
        {
          "src/add.js": "const add = (a, b) => a + b;\nexports.add = add;\n",
          "test/later.test.js": "require('node:test').test.skip('later', () => {});\n",
        },
        "PASS",
      ],
      [
        "honest: a new function with its test",
        {
          "src/more.js": "exports.more = 2;\n",
          "test/more.test.js":
            "require('node:test')('more', () => require('node:assert').equal(require('../src/more.js').more, 2));\n",
        },
        "PASS",
      ],
      [
        "honest: only a test",
        {
          "test/more.test.js":
            "require('node:test')('more', () => require('node:assert').equal(require('../src/more.js').more, 1));\n",
        },
        "PASS",
      ],
      [
        "honest: more data beside a refactoring",
        {
          "src/add.js": "exports.add = (a, b) => b + a;\n",
          "data/sums.json": "[[1, 2, 3], [2, 2, 4], [0, 0, 0]]\n",
        },
        "PASS",
      ],
      [
        "honest: other data",
        {
          "src/more.js": "exports.more = require('../config/more.json').more;\n",
          "config/more.json": '{"more": 2}\n',
          "test/more.test.js":
            "require('node:test')('more', () => require('node:assert').equal(require('../src/more.js').more, 2));\n",
        },
        "PASS",
      ],
    ],
  },
];
