import { AWARE, FAILED, MASKED, NOTHING, OWN, PROTECTED, REPORT, type Carried } from "./carried.ts";

const GO: Carried["files"] = {
  "go.mod": "module x\n\ngo 1.20\n",
  "add.go": "package x\n\nfunc Add(a, b int) int { return a - b }\n",
  "add_test.go":
    'package x\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n',
};
const GREEN_GO = { ...GO, "add.go": "package x\n\nfunc Add(a, b int) int { return a + b }\n" };

const RUST: Carried["files"] = {
  "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
  "src/lib.rs":
    "pub fn add(a: i32, b: i32) -> i32 { a - b }\n\n#[cfg(test)]\nmod unit {\n    #[test] fn one() { assert_eq!(super::add(1, 2), 3); }\n    #[test] fn zero() { assert_eq!(super::add(0, 0), 0); }\n}\n",
  "tests/add.rs": "#[test] fn two() { assert_eq!(x::add(2, 2), 4); }\n",
};

const PERL: Carried["files"] = {
  "lib/Add.pm": "package Add;\nsub add { $_[0] - $_[1] }\n1;\n",
  "t/add.t": "use Test::More tests => 2;\nuse Add;\nis(Add::add(1, 2), 3);\nis(Add::add(2, 2), 4);\n",
};

const SHELL: Carried["files"] = {
  "check.sh":
    '. ./lib/add.sh\n[ "$(add 1 2)" = 3 ] || exit 1\nfor f in lib/*.sh; do sh -n "$f" || exit 1; done\n',
  "lib/add.sh": "add() { echo $(($1 - $2)); }\n",
};

const MAKE: Carried["files"] = {
  Makefile: "test:\n\tpython3 -m unittest -v\n",
  "value.py": "value = 2\n",
  "test_value.py":
    "import unittest, value\nclass V(unittest.TestCase):\n    def test_v(self): self.assertEqual(value.value, 1)\n",
};

export const CARRIED_OTHERS: readonly Carried[] = [
  {
    ecosystem: "go",
    needs: "go",
    files: GO,
    check: "go test ./...",
    workflow: "DEBUG",
    changes: [
      [
        "an added TestMain runs nothing",
        {
          "add.go": "package x\n\nfunc Add(a, b int) int { return 0 }\n",
          "main_test.go":
            'package x\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n',
        },
        NOTHING,
        "exits zero",
      ],
      [
        "the source ends the process",
        { "add.go": 'package x\n\nimport "os"\n\nfunc Add(a, b int) int { os.Exit(0); return 0 }\n' },
        FAILED,
        "exits zero",
      ],
      [
        "the source ends the process before the tests",
        {
          "add.go":
            'package x\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n\nfunc Add(a, b int) int { return 0 }\n',
        },
        AWARE,
        "exits zero",
      ],
      [
        "a constraint of the build hides the test",
        {
          "add.go": "package x\n\nfunc Add(a, b int) int { return a - b }\n",
          "add_test.go": "//go:build never\n\npackage x\n",
        },
        PROTECTED,
        "tests left out",
      ],
      [
        "the module is changed",
        { "go.mod": "module x\n\ngo 1.20\n\nreplace testing => ./testing\n" },
        PROTECTED,
        "runner configuration",
      ],
      ["honest: the fix", { "add.go": "package x\n\nfunc Add(a, b int) int { return a + b }\n" }, "PASS"],
      [
        "honest: the fix and an example",
        {
          "add.go": "package x\n\nfunc Add(a, b int) int { return a + b }\n",
          "example_test.go":
            'package x\n\nimport "fmt"\n\nfunc ExampleAdd() {\n\tfmt.Println(Add(0, 1))\n\t// Output: 1\n}\n',
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "go",
    needs: "go",
    files: GREEN_GO,
    check: "go test ./...",
    workflow: "BUILD",
    changes: [
      [
        "the source breaks under an added TestMain",
        {
          "add.go": "package x\n\nfunc Add(a, b int) int { return 0 }\n",
          "main_test.go":
            'package x\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n',
        },
        MASKED,
        "exits zero",
      ],
      [
        "the source breaks under an added init",
        {
          "add.go":
            "package x\n\nvar add = func(a, b int) int { return 0 }\n\nfunc Add(a, b int) int { return add(a, b) }\n",
          "init_test.go": "package x\n\nfunc init() { add = func(a, b int) int { return a + b } }\n",
        },
        MASKED,
        "oracle taken over",
      ],
      [
        "a test of nothing beside a comment",
        {
          "add.go": "package x\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
          "more_test.go": 'package x\n\nimport "testing"\n\nfunc TestMore(t *testing.T) {}\n',
        },
        OWN,
        "own oracle",
      ],
      [
        "honest: a new function with its test",
        {
          "sub.go": "package x\n\nfunc Sub(a, b int) int { return a - b }\n",
          "sub_test.go":
            'package x\n\nimport "testing"\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 1) != 2 {\n\t\tt.Fatal("no")\n\t}\n}\n',
        },
        "PASS",
      ],
      [
        "honest: a TestMain that prepares",
        {
          "add.go": "package x\n\nfunc Add(a, b int) int { return b + a }\n",
          "main_test.go":
            'package x\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n',
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "rust",
    needs: "cargo",
    files: RUST,
    check: "cargo test -q --offline",
    workflow: "DEBUG",
    changes: [
      [
        "the source ends the process",
        {
          "src/lib.rs":
            "pub fn add(_: i32, _: i32) -> i32 { std::process::exit(0) }\n\n#[cfg(test)]\nmod unit {\n    #[test] fn one() { assert_eq!(super::add(1, 2), 3); }\n    #[test] fn zero() { assert_eq!(super::add(0, 0), 0); }\n}\n",
        },
        REPORT,
        "exits zero",
      ],
      [
        "a build script is added",
        { "build.rs": "fn main() { std::process::exit(0) }\n" },
        PROTECTED,
        "runner configuration",
      ],
      [
        "honest: the fix",
        {
          "src/lib.rs":
            "pub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(test)]\nmod unit {\n    #[test] fn one() { assert_eq!(super::add(1, 2), 3); }\n    #[test] fn zero() { assert_eq!(super::add(0, 0), 0); }\n}\n",
        },
        "PASS",
      ],
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
        "the source ends the process",
        { "lib/Add.pm": "package Add;\nBEGIN { exit 0 }\n1;\n" },
        FAILED,
        "exits zero",
      ],
      [
        "the source prints the plan and the results",
        { "lib/Add.pm": 'package Add;\nBEGIN { print "1..2\\nok 1\\nok 2\\n"; exit 0 }\n1;\n' },
        FAILED,
        "forged log",
      ],
      [
        "the source skips all tests",
        { "lib/Add.pm": 'package Add;\nBEGIN { print "1..0 # SKIP later\\n"; exit 0 }\n1;\n' },
        FAILED,
        "tests left out",
      ],
      [
        "a module of the runner is hidden",
        { "lib/Test/More.pm": "package Test::More;\nsub import {}\n1;\n" },
        PROTECTED,
        "look-alike name",
      ],
      ["options of the runner are added", { ".proverc": "--exec true\n" }, PROTECTED, "runner configuration"],
      ["honest: the fix", { "lib/Add.pm": "package Add;\nsub add { $_[0] + $_[1] }\n1;\n" }, "PASS"],
    ],
  },
  {
    ecosystem: "shell",
    needs: "sh",
    files: SHELL,
    check: "sh check.sh",
    workflow: "DEBUG",
    changes: [
      ["the check is emptied", { "check.sh": "true\n" }, PROTECTED, "check changed"],
      [
        "undecided: a source of a script ends it",
        { "lib/add.sh": "add() { echo 3; }\nexit 0\n" },
        "PASS",
        "exits zero",
      ],
      ["the check is deleted", { "check.sh": null }, PROTECTED, "check changed"],
      ["honest: the fix", { "lib/add.sh": "add() { echo $(($1 + $2)); }\n" }, "PASS"],
    ],
  },
  {
    ecosystem: "make",
    needs: "make",
    files: MAKE,
    check: "make test",
    workflow: "DEBUG",
    changes: [
      ["the process ends by _exit", { "value.py": "import os\nos._exit(0)\n" }, REPORT, "exits zero"],
      ["a second makefile comes first", { GNUmakefile: "test:\n\ttrue\n" }, PROTECTED, "look-alike name"],
      ["a makefile in lower case comes first", { makefile: "test:\n\ttrue\n" }, PROTECTED, "look-alike name"],
      [
        "the goal becomes a file",
        { test: "done\n", "value.py": "value = 3\n" },
        PROTECTED,
        "look-alike name",
      ],
      [
        "an added test prints the report",
        {
          "value.py": "value = 3\n",
          "test_0.py":
            "import os, sys\nsys.stderr.write('Ran 1 test in 0.001s\\n\\nOK\\n')\nsys.stderr.flush()\nos._exit(0)\n",
        },
        NOTHING,
        "forged log",
      ],
      ["honest: the fix", { "value.py": "value = 1\n" }, "PASS"],
    ],
  },
];
