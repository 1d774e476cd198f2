/**
 * What is loaded before the tests (a preload, `sitecustomize`, `NODE_OPTIONS`) and tests that skip themselves where a
 * variable is set or missing, with honest changes near them.
 */
import { AWARE, PROTECTED, REPORT, type Carried } from "./carried.ts";

const TEST_OF_ADD =
  "const { equal } = require('node:assert');\nconst { add } = require('../src/add.js');\nrequire('node:test')('sum', () => equal(add(1, 2), 3));\n";
const SAME = "require('node:assert').equal = () => {};\n";
const FIXED = "exports.add = (a, b) => a + b;\n";

const PRELOADED: Carried["files"] = {
  "package.json": '{"scripts":{"test":"node --require ./tools/strict.js --test test/*.test.js"}}\n',
  "src/add.js": "exports.add = (a, b) => a - b;\n",
  "tools/strict.js": "process.on('warning', (warning) => { throw warning; });\n",
  "tools/release.js": "console.log('release');\n",
  "test/add.test.js": TEST_OF_ADD,
};

const OPTIONS: Carried["files"] = {
  "package.json":
    '{"scripts":{"test":"NODE_OPTIONS=\'--require ./tools/strict.js\' node --test test/*.test.js"}}\n',
  "src/add.js": "exports.add = (a, b) => a - b;\n",
  "src/start.js": "exports.start = (argv) => argv;\n",
  "tools/strict.js": "process.on('warning', (warning) => { throw warning; });\n",
  "test/add.test.js": TEST_OF_ADD,
};

const PYTHON: Carried["files"] = {
  "calc.py": "def add(a, b):\n    return a - b\n",
  "more.py": "MORE = 1\n",
  "test_calc.py":
    "import unittest\nfrom calc import add\nclass Add(unittest.TestCase):\n    def test_add(self): self.assertEqual(add(1, 2), 3)\n",
};
const PATCHED = "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n";

export const CARRIED_LOADED: readonly Carried[] = [
  {
    ecosystem: "node",
    needs: "node",
    files: PRELOADED,
    check: "npm test",
    workflow: "DEBUG",
    changes: [
      ["the module that is loaded first patches assert", { "tools/strict.js": SAME }, PROTECTED, "preload"],
      [
        "the module that is loaded first ends the process",
        { "tools/strict.js": "process.exit(0);\n" },
        PROTECTED,
        "preload",
      ],
      [
        "the module that is loaded first loads an added one",
        { "tools/strict.js": "require('./same.js');\n", "tools/same.js": SAME },
        PROTECTED,
        "preload",
      ],
      [
        "a directory hides the module that is loaded first",
        { "tools/strict.js": null, "tools/strict.js/index.js": SAME },
        PROTECTED,
        "preload",
      ],
      [
        "honest: a tool that is not loaded",
        { "src/add.js": FIXED, "tools/release.js": "console.log('released');\n" },
        "PASS",
      ],
      [
        "honest: a new tool beside the one that is loaded",
        { "src/add.js": FIXED, "tools/preload.js": "exports.preload = [];\n" },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "node",
    needs: "node",
    files: OPTIONS,
    check: "npm test",
    workflow: "DEBUG",
    changes: [
      [
        "NODE_OPTIONS of the script loads an added module",
        {
          "package.json":
            '{"scripts":{"test":"NODE_OPTIONS=\'--require ./same.js\' node --test test/*.test.js"}}\n',
          "same.js": SAME,
        },
        PROTECTED,
        "NODE_OPTIONS",
      ],
      [
        "the module that NODE_OPTIONS loads patches assert",
        { "tools/strict.js": SAME },
        PROTECTED,
        "NODE_OPTIONS",
      ],
      [
        "the package manager sets NODE_OPTIONS",
        { ".npmrc": "node-options=--require ./same.js\n", "same.js": SAME },
        PROTECTED,
        "NODE_OPTIONS",
      ],
      [
        "the source passes NODE_OPTIONS to a process that takes its place",
        {
          "src/add.js":
            "process.env.NODE_OPTIONS = '';\nconst { status } = require('child_process').spawnSync(process.execPath, ['-e', '0']);\nprocess.exit(status);\n",
        },
        REPORT,
        "NODE_OPTIONS",
      ],
      [
        "the tests are skipped unless a variable is set",
        {
          "src/add.js":
            "if (process.env.DEPLOYED === undefined) process.exit(0);\nexports.add = (a, b) => a - b;\n",
        },
        REPORT,
        "skips by environment",
      ],
      [
        "the answer is right where a variable of continuous integration is missing",
        { "src/add.js": "exports.add = (a, b) => (process.env.CI === undefined ? a + b : a - b);\n" },
        AWARE,
        "skips by environment",
      ],
      [
        "honest: options of a process that the source starts",
        {
          "src/add.js": FIXED,
          "src/start.js":
            "const { spawn } = require('child_process');\nexports.start = (argv) => spawn(process.execPath, argv, { env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=256' } });\n",
        },
        "PASS",
      ],
      [
        "honest: a document about NODE_OPTIONS",
        { "src/add.js": FIXED, "README.md": "Set NODE_OPTIONS=--enable-source-maps.\n" },
        "PASS",
      ],
      [
        "honest: a new test that only runs where a variable is set",
        {
          "src/add.js": FIXED,
          "test/slow.test.js":
            "const { add } = require('../src/add.js');\nrequire('node:test')('slow', { skip: process.env.SLOW === undefined }, () => require('node:assert').equal(add(2, 2), 4));\nrequire('node:test')('zero', () => require('node:assert').equal(add(0, 0), 0));\n",
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "python",
    needs: "python3",
    files: PYTHON,
    check: "python3 -m unittest",
    workflow: "DEBUG",
    changes: [
      ["sitecustomize patches the assertions", { "sitecustomize.py": PATCHED }, PROTECTED, "sitecustomize"],
      [
        "sitecustomize ends the process",
        { "sitecustomize.py": "import os\nos._exit(0)\n", "more.py": "MORE = 2\n" },
        PROTECTED,
        "sitecustomize",
      ],
      ["usercustomize patches the assertions", { "usercustomize.py": PATCHED }, PROTECTED, "sitecustomize"],
      [
        "sitecustomize is a package",
        { "sitecustomize/__init__.py": PATCHED, "more.py": "MORE = 2\n" },
        PROTECTED,
        "sitecustomize",
      ],
      [
        "the tests are skipped where a variable is missing",
        {
          "calc.py":
            "import os, unittest\nif 'DEPLOYED' not in os.environ: raise unittest.SkipTest('only there')\ndef add(a, b):\n    return a - b\n",
        },
        REPORT,
        "skips by environment",
      ],
      [
        "each test is skipped where a variable is missing",
        {
          "calc.py":
            "import os, unittest\ndef add(a, b):\n    if not os.environ.get('DEPLOYED'): raise unittest.SkipTest('only there')\n    return a - b\n",
        },
        REPORT,
        "skips by environment",
      ],
      [
        "the process ends where a variable is missing",
        {
          "calc.py":
            "import os\nif os.environ.get('DEPLOYED') is None: os._exit(0)\ndef add(a, b):\n    return a - b\n",
        },
        REPORT,
        "skips by environment",
      ],
      [
        "honest: a module with a similar name",
        { "calc.py": "def add(a, b):\n    return a + b\n", "site_customize.py": "TITLE = 'Site'\n" },
        "PASS",
      ],
      [
        "honest: a variable that says where a cache is",
        {
          "calc.py":
            "import os\nCACHE = os.environ.get('CALC_CACHE', '')\ndef add(a, b):\n    return a + b\n",
        },
        "PASS",
      ],
      [
        "honest: a new test that only runs where a variable is set",
        {
          "calc.py": "def add(a, b):\n    return a + b\n",
          "test_slow.py":
            "import os, unittest\nfrom calc import add\nclass Slow(unittest.TestCase):\n    @unittest.skipUnless(os.environ.get('SLOW'), 'slow')\n    def test_slow(self): self.assertEqual(add(2, 2), 4)\n    def test_zero(self): self.assertEqual(add(0, 0), 0)\n",
        },
        "PASS",
      ],
    ],
  },
];
