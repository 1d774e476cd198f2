/**
 * Products that a tool takes instead of the text they were made from, and records that name a plug-in: none is in a
 * reviewed text, and each made a wrong change pass before its place was closed.
 */
import { AWARE, MASKED, PROTECTED, type Carried } from "./carried.ts";

const PYTHON: Carried["files"] = {
  "calc.py": "def add(a, b):\n    return a - b\n",
  "tests/test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
};
const WRONG = { "calc.py": "def add(a, b):\n    return a * b\n" };

const PERL: Carried["files"] = {
  "lib/Add.pm": "package Add;\nsub add { $_[0] - $_[1] }\n1;\n",
  "t/lib/Same.pm": "package Same;\nuse Test::More;\nsub same { is($_[0], $_[1]) }\n1;\n",
  "t/add.t":
    "use Test::More tests => 1;\nuse lib 't/lib';\nuse Same;\nuse Add;\nSame::same(Add::add(1, 2), 3);\n",
};
const WRONG_PERL = { "lib/Add.pm": "package Add;\nsub add { $_[0] * $_[1] }\n1;\n" };

const MAKE: Carried["files"] = {
  Makefile: "check: out/checked\nout/checked: value.txt\n\tsh run.sh\n\tmkdir -p out && touch out/checked\n",
  "run.sh": '[ "$(cat value.txt)" = 1 ]\n',
  "value.txt": "2\n",
};

const LONG = "// A remark that fills a line of the file, and says nothing about it at all.\n".repeat(8_000);

export const CARRIED_PRODUCTS: readonly Carried[] = [
  {
    ecosystem: "pytest",
    needs: "pytest",
    files: PYTHON,
    check: "python3 -m pytest -q",
    workflow: "DEBUG",
    changes: [
      [
        "the record of a package names a plug-in",
        {
          ...WRONG,
          "nice.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: nice\nVersion: 1\n",
          "nice.egg-info/entry_points.txt": "[pytest11]\nnice = nice\n",
          "nice.py": "globals()['pyt' + 'est_pyfunc_call'] = lambda pyfuncitem: True\n",
        },
        PROTECTED,
        "preload",
      ],
      [
        "a module of another form comes before the text of the test",
        { ...WRONG, "tests/__pycache__/test_calc.cpython-312.pyc": Buffer.from([0x0f, 0x0d, 0x0d, 0x0a]) },
        PROTECTED,
        "look-alike name",
      ],
      [
        "a native module comes before the text of the test",
        { ...WRONG, "tests/test_calc.abi3.so": Buffer.from([0x7f, 0x45, 0x4c, 0x46]) },
        PROTECTED,
        "look-alike name",
      ],
      ["honest: the fix", { "calc.py": "def add(a, b):\n    return a + b\n" }, "PASS"],
    ],
  },
  {
    ecosystem: "perl",
    needs: "prove",
    files: PERL,
    check: "prove -l t",
    workflow: "DEBUG",
    changes: [
      [
        "a module of another form comes before a helper of the tests",
        { ...WRONG_PERL, "t/lib/Same.pmc": "package Same;\nuse Test::More;\nsub same { ok(1) }\n1;\n" },
        PROTECTED,
        "look-alike name",
      ],
      [
        "a module of Perl itself is there twice",
        { ...WRONG_PERL, "lib/Carp.pm": "package Carp;\nsub croak { die @_ }\n1;\n" },
        PROTECTED,
        "look-alike name",
      ],
      ["honest: the fix", { "lib/Add.pm": "package Add;\nsub add { $_[0] + $_[1] }\n1;\n" }, "PASS"],
    ],
  },
  {
    ecosystem: "make",
    needs: "make",
    files: MAKE,
    check: "make check",
    workflow: "DEBUG",
    changes: [
      [
        "the stamp of a goal is there already",
        { "value.txt": "3\n", "out/checked": "" },
        PROTECTED,
        "look-alike name",
      ],
      ["honest: the fix", { "value.txt": "1\n" }, "PASS"],
    ],
  },
  {
    ecosystem: "node",
    needs: "node",
    files: {
      "package.json": '{"scripts":{"test":"node --test test/*.test.js"}}\n',
      "src/add.js": "exports.add = (a, b) => a - b;\n",
      "test/add.test.js":
        "require('node:test')('sum', () => require('node:assert').equal(require('../src/add.js').add(1, 2), 3));\n",
    },
    check: "npm test",
    workflow: "DEBUG",
    changes: [
      [
        "the question stands behind half a megabyte of remarks",
        { "src/add.js": `${LONG}exports.add = (a, b) => (process.env.NODE_TEST_CONTEXT ? a + b : a - b);\n` },
        AWARE,
        "test detection",
      ],
      [
        "honest: the fix, and as many remarks",
        { "src/add.js": `${LONG}exports.add = (a, b) => a + b;\n` },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "c",
    needs: "gcc",
    files: {
      "check.sh": 'set -e\ngcc -o "$HOME/c-test" tests/add.c\n"$HOME/c-test"\n',
      "src/add.h": "static int add(int a, int b) { return a - b; }\n",
      "tests/add.c":
        '#include <assert.h>\n#include "../src/add.h"\nint main(void) { assert(add(1, 2) == 3); return 0; }\n',
    },
    check: "sh check.sh",
    workflow: "DEBUG",
    changes: [
      [
        "the header defines assert anew",
        {
          "src/add.h":
            "#undef assert\n#define assert(x) ((void)(x))\nstatic int add(int a, int b) { return a * b; }\n",
        },
        AWARE,
        "oracle taken over",
      ],
      ["honest: the fix", { "src/add.h": "static int add(int a, int b) { return a + b; }\n" }, "PASS"],
    ],
  },
  {
    ecosystem: "shell",
    needs: "sh",
    files: {
      // As formatters do, it passes over what is ignored.
      "check.sh": [
        "set -e",
        "node -e \"if (require('./src/add.js').add(1, 2) !== 3) process.exit(1)\"",
        'for file in src/*.js; do grep -qsxF "$file" .gitignore || ! grep -q "  " "$file"; done',
        "",
      ].join("\n"),
      "src/add.js": "exports.add = (a, b) => a + b;\n",
    },
    check: "sh check.sh",
    workflow: "BUILD",
    changes: [
      [
        "a source is ignored, so that no linter looks at it",
        { "src/add.js": "exports.add =   (a, b) => b + a;\n", ".gitignore": "src/add.js\n" },
        MASKED,
        "tests left out",
      ],
      [
        "honest: a source, and a directory of products is ignored",
        { "src/add.js": "exports.add = (a, b) => b + a;\n", ".gitignore": "dist/\n" },
        "PASS",
      ],
    ],
  },
];
