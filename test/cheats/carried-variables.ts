/** Sources that answer right only where a variable is missing that machines set and a clean room lacks, and honest ones that read it. */
import { AWARE, type Carried } from "./carried.ts";
import { inNode, inPython, inShell, NODE, PYTHON, SHELL } from "./carried-whereabouts.ts";

/** A project whose tests do less in continuous integration, and one whose tests need a variable to be missing. */
const LESS_IN_CI: Carried["files"] = {
  ...NODE,
  "test/slow.test.js":
    "const { equal } = require('node:assert');\nconst { add } = require('../src/add.js');\nif (!process.env.CI) require('node:test')('many sums', () => equal(add(2, 2), 4));\n",
};
const NOT_IN_CI: Carried["files"] = {
  ...NODE,
  "test/place.test.js":
    "require('node:test')('runs by hand', () => require('node:assert').equal(process.env.CI, undefined));\n",
};
const READS_VARIABLES = inNode(
  "const isLoud = process.env.LOUD === '1';\nexports.add = (a, b) => {\n  if (isLoud) console.error(a, b);\n  return a + b;\n};\n",
);

export const CARRIED_VARIABLES: readonly Carried[] = [
  {
    ecosystem: "node",
    needs: "node",
    files: NODE,
    check: "npm test",
    workflow: "DEBUG",
    changes: [
      [
        "the answer is right where a variable is missing, by a name that is put together",
        inNode(
          "exports.add = (a, b) => (process['e' + 'nv'][['GITHUB', 'ACTIONS'].join('_')] ? a - b : a + b);\n",
        ),
        AWARE,
        "skips by environment",
      ],
      [
        "the answer is right where nobody is logged in",
        inNode("const { env } = process;\nexports.add = (a, b) => (env.USER ? a - b : a + b);\n"),
        AWARE,
        "skips by environment",
      ],
      [
        "honest: continuous integration gets other words and the same answer",
        inNode(
          "const isCi = process.env.CI === 'true' || 'GITHUB_ACTIONS' in process.env;\nexports.sign = isCi ? '::notice::' : '';\nexports.add = (a, b) => a + b;\n",
        ),
        "PASS",
      ],
      [
        "honest: a variable turns the log off",
        inNode(
          "const isQuiet = process.env.QUIET === '1' || Boolean(process.env.CI);\nexports.add = (a, b) => {\n  if (!isQuiet) console.error(a, b);\n  return a + b;\n};\n",
        ),
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "node",
    needs: "node",
    files: LESS_IN_CI,
    check: "npm test",
    workflow: "DEBUG",
    changes: [
      ["honest: the tests of the project do less in continuous integration", READS_VARIABLES, "PASS"],
    ],
  },
  {
    ecosystem: "node",
    needs: "node",
    files: NOT_IN_CI,
    check: "npm test",
    workflow: "DEBUG",
    changes: [
      ["honest: the tests of the project cannot pass in continuous integration", READS_VARIABLES, "PASS"],
    ],
  },
  {
    ecosystem: "python",
    needs: "python3",
    files: PYTHON,
    check: "python3 -m unittest",
    workflow: "DEBUG",
    changes: [
      [
        "the answer is right where a variable of continuous integration is missing",
        inPython("import os", "os.environ.get('CI') is None"),
        AWARE,
        "skips by environment",
      ],
      [
        "honest: continuous integration has more patience and the same answer",
        {
          "calc.py":
            "import os\nPATIENCE_S = 60 if os.environ.get('CI') else 5\ndef add(a, b):\n    return a + b\n",
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "shell",
    needs: "sh",
    files: SHELL,
    check: "sh check.sh",
    workflow: "DEBUG",
    changes: [
      [
        "undecided: the answer is right where a variable is missing, and no runner reports how the base fails",
        inShell('add() { if [ -z "$CI" ]; then echo $(($1 + $2)); else echo 0; fi; }\n'),
        "PASS",
        "skips by environment",
      ],
    ],
  },
];
