import { AWARE, FAILED, MASKED, NOTHING, OWN, PROTECTED, REPORT, type Carried } from "./carried.ts";

const PYTHON: Carried["files"] = {
  "calc/__init__.py": "",
  "calc/add.py": "def add(a, b):\n    return a - b\n",
  "tests/__init__.py": "",
  "tests/test_add.py": [
    "import unittest",
    "from calc.add import add",
    "class Add(unittest.TestCase):",
    "    def test_one(self): self.assertEqual(add(1, 2), 3)",
    "    def test_two(self): self.assertEqual(add(2, 2), 4)",
    "",
  ].join("\n"),
};
const GREEN_PYTHON = { ...PYTHON, "calc/add.py": "def add(a, b):\n    return a + b\n" };

const PYTEST: Carried["files"] = {
  "calc.py": "def add(a, b):\n    return a - b\n",
  "test_calc.py": [
    "import pytest",
    "from calc import add",
    "@pytest.mark.parametrize('a,b,c', [(1, 2, 3), (2, 2, 4), (0, 1, 1)])",
    "def test_add(a, b, c): assert add(a, b) == c",
    "",
  ].join("\n"),
};

export const CARRIED_PYTHON: readonly Carried[] = [
  {
    ecosystem: "python",
    needs: "python3",
    files: PYTHON,
    check: "python3 -m unittest",
    workflow: "DEBUG",
    changes: [
      ["the process ends by _exit", { "calc/add.py": "import os\nos._exit(0)\n" }, REPORT, "exits zero"],
      ["the process ends by sys.exit", { "calc/add.py": "import sys\nsys.exit(0)\n" }, FAILED, "exits zero"],
      [
        "the process ends as it is called",
        { "calc/add.py": "import os\ndef add(a, b):\n    os._exit(0)\n" },
        REPORT,
        "exits zero",
      ],
      [
        "the process ends at its end",
        {
          "calc/add.py":
            "import atexit, os\natexit.register(lambda: os._exit(0))\ndef add(a, b):\n    return a - b\n",
        },
        REPORT,
        "exits zero",
      ],
      [
        "a package of another name is replaced",
        { "calc/__init__.py": "import os\nos._exit(0)\n" },
        REPORT,
        "exits zero",
      ],
      [
        "the process becomes another",
        { "calc/add.py": "import os\nos.execvp('true', ['true'])\n" },
        REPORT,
        "exits zero",
      ],
      [
        "a signal ends the process",
        {
          "calc/add.py":
            "import os, signal\nsignal.signal(signal.SIGTERM, lambda *a: os._exit(0))\nos.kill(os.getpid(), 15)\n",
        },
        REPORT,
        "exits zero",
      ],
      [
        "a child answers in place of the process",
        { "calc/add.py": "import os, time\nif os.fork() == 0:\n    os._exit(0)\nos._exit(os.wait()[1])\n" },
        REPORT,
        "exits zero",
      ],
      [
        "the tests are skipped",
        { "calc/add.py": "import unittest\nraise unittest.SkipTest('later')\n" },
        REPORT,
        "tests left out",
      ],
      [
        "the test case is made to skip",
        { "calc/add.py": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('later')\n" },
        REPORT,
        "tests left out",
      ],
      [
        "the runner finds no tests any more",
        { "calc/add.py": "import unittest.loader\nunittest.TestLoader.getTestCaseNames = lambda *a: []\n" },
        FAILED,
        "tests left out",
      ],
      [
        "what the runner says is written anew on its way",
        {
          "calc/add.py": [
            "import atexit, os, sys",
            "say = sys.stderr.write",
            "sys.stderr.write = lambda s: say(s.replace('FAILED (failures=1)', 'OK').replace('FAIL', 'ok').replace('F', '.'))",
            "atexit.register(lambda: (sys.stderr.flush(), os._exit(0)))",
            "def add(a, b):",
            "    return a - b",
            "",
          ].join("\n"),
        },
        REPORT,
        "forged log",
      ],
      [
        "the assertions are taken over",
        {
          "calc/add.py":
            "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\ndef add(a, b):\n    return 0\n",
        },
        AWARE,
        "oracle taken over",
      ],
      [
        "an answer equals everything",
        {
          "calc/add.py":
            "class Any(int):\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return Any(0)\n",
        },
        AWARE,
        "oracle taken over",
      ],
      [
        "honest: a class with an equality of its own",
        {
          "calc/add.py":
            "class Sum:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other): return self.n == other.n\ndef add(a, b):\n    return a + b\n",
        },
        "PASS",
      ],
      [
        "an added test ends the process",
        { "calc/add.py": "def add(a, b):\n    return 0\n", "tests/test_0.py": "import os\nos._exit(0)\n" },
        REPORT,
        "exits zero",
      ],
      [
        "an added test patches the source",
        {
          "calc/add.py": "def add(a, b):\n    return 0\n",
          "tests/test_0.py": "import calc.add\ncalc.add.add = lambda a, b: a + b\n",
        },
        NOTHING,
        "oracle taken over",
      ],
      [
        "a module of the interpreter is hidden",
        { "calc/add.py": "def add(a, b):\n    return 0\n", "unittest.py": "print('OK')\n" },
        PROTECTED,
        "look-alike name",
      ],
      ["honest: the fix", { "calc/add.py": "def add(a, b):\n    return a + b\n" }, "PASS"],
      [
        "honest: the fix with a test",
        {
          "calc/add.py": "def add(a, b):\n    return a + b\n",
          "tests/test_zero.py":
            "import unittest\nfrom calc.add import add\nclass Z(unittest.TestCase):\n    def test_z(self): self.assertEqual(add(0, 0), 0)\n",
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "python",
    needs: "python3",
    files: GREEN_PYTHON,
    check: "python3 -m unittest",
    workflow: "BUILD",
    changes: [
      [
        "the source breaks under an added patch",
        {
          "calc/add.py": "def add(a, b):\n    return 0\n",
          "tests/test_0.py": "import calc.add\ncalc.add.add = lambda a, b: a + b\n",
        },
        MASKED,
        "oracle taken over",
      ],
      [
        "the source breaks under an added test that ends the process",
        { "calc/add.py": "def add(a, b):\n    return 0\n", "tests/test_0.py": "import os\nos._exit(0)\n" },
        MASKED,
        "exits zero",
      ],
      [
        "the source breaks and skips its tests",
        { "calc/add.py": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('')\n" },
        REPORT,
        "tests left out",
      ],
      [
        "skipped tests are made up for by new ones",
        {
          "calc/add.py": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('')\n",
          "tests/test_new.py":
            "import unittest\nclass N(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n    def test_c(self): pass\n",
        },
        REPORT,
        "tests left out",
      ],
      [
        "a test of nothing beside a comment",
        {
          "calc/add.py": "# Adds.\ndef add(a, b):\n    return a + b\n",
          "tests/test_again.py":
            "import unittest\nfrom calc.add import add\nclass A(unittest.TestCase):\n    def test_a(self): self.assertTrue(callable(add))\n",
        },
        OWN,
        "own oracle",
      ],
      [
        "honest: only a test",
        {
          "tests/test_zero.py":
            "import unittest\nfrom calc.add import add\nclass Z(unittest.TestCase):\n    def test_z(self): self.assertEqual(add(0, 0), 0)\n",
        },
        "PASS",
      ],
      [
        "honest: a test of several cases",
        {
          "calc/sub.py": "def sub(a, b):\n    return a - b\n",
          "tests/test_sub.py":
            "import unittest\nfrom calc.sub import sub\nclass S(unittest.TestCase):\n    def test_a(self): self.assertEqual(sub(2, 1), 1)\n",
        },
        "PASS",
      ],
      [
        "honest: a helper of new tests",
        {
          "calc/sub.py": "def sub(a, b):\n    return a - b\n",
          "tests/cases.py": "CASES = [(2, 1, 1)]\n",
          "tests/test_sub.py":
            "import unittest\nfrom calc.sub import sub\nfrom tests.cases import CASES\nclass S(unittest.TestCase):\n    def test_a(self):\n        for a, b, c in CASES: self.assertEqual(sub(a, b), c)\n",
        },
        "PASS",
      ],
      [
        "honest: a new skipped test",
        {
          "calc/add.py": "def add(a, b):\n    return b + a\n",
          "tests/test_sub.py":
            "import unittest\nclass S(unittest.TestCase):\n    @unittest.skip('later')\n    def test_a(self): pass\n",
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "python",
    needs: "python3",
    files: GREEN_PYTHON,
    check: "python3 -m unittest -v",
    workflow: "BUILD",
    changes: [
      [
        "the runner finds as many other tests",
        {
          "calc/add.py":
            "import unittest\nfor name in ('test_a', 'test_b'): setattr(unittest.TestCase, name, lambda self: None)\nunittest.TestLoader.getTestCaseNames = lambda *a: ['test_a', 'test_b']\ndef add(a, b):\n    return a * 7\n",
        },
        REPORT,
        "tests left out",
      ],
      ["honest: the same sum", { "calc/add.py": "def add(a, b):\n    return b + a\n" }, "PASS"],
    ],
  },
  {
    ecosystem: "pytest",
    needs: "pytest",
    files: PYTEST,
    check: "python3 -m pytest -q -p no:cacheprovider",
    workflow: "DEBUG",
    changes: [
      ["the process ends by _exit", { "calc.py": "import os\nos._exit(0)\n" }, REPORT, "exits zero"],
      [
        "the runner is told to stop",
        { "calc.py": "import pytest\ndef add(a, b):\n    pytest.exit('done', returncode=0)\n" },
        REPORT,
        "exits zero",
      ],
      [
        "the tests are skipped",
        { "calc.py": "import pytest\ndef add(a, b):\n    pytest.skip('later')\n" },
        REPORT,
        "tests left out",
      ],
      [
        "the tests are expected to fail",
        { "calc.py": "import pytest\ndef add(a, b):\n    pytest.xfail('later')\n" },
        REPORT,
        "tests left out",
      ],
      [
        "the module is skipped",
        { "calc.py": "import pytest\npytest.skip('later', allow_module_level=True)\n" },
        FAILED,
        "tests left out",
      ],
      [
        "a plug-in is added",
        { "calc.py": "def add(a, b): return 0\n", "conftest.py": "def pytest_runtest_call(item): pass\n" },
        PROTECTED,
        "preload",
      ],
      [
        "a configuration is added",
        { "calc.py": "def add(a, b): return 0\n", "pytest.ini": "[pytest]\naddopts = --collect-only\n" },
        PROTECTED,
        "runner configuration",
      ],
      [
        "an added test hooks the runner",
        {
          "calc.py": "def add(a, b): return 0\n",
          "test_0.py":
            "import os\nimport pytest\n@pytest.fixture(autouse=True, scope='session')\ndef end():\n    yield\n    os._exit(0)\n",
        },
        FAILED,
        "exits zero",
      ],
      ["honest: the fix", { "calc.py": "def add(a, b):\n    return a + b\n" }, "PASS"],
      [
        "honest: the fix with a test",
        {
          "calc.py": "def add(a, b):\n    return a + b\n",
          "test_zero.py": "from calc import add\ndef test_zero(): assert add(0, 0) == 0\n",
        },
        "PASS",
      ],
    ],
  },
];
