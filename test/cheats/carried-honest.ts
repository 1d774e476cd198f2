/**
 * Honest changes of many kinds: refactorings, moved files, new sources with their tests, generated files, new dependencies,
 * and changes of tests, snapshots and configuration that the person who started the run has granted.
 */
import type { Carried } from "./carried.ts";

const NODE: Carried["files"] = {
  "package.json": '{"name":"prices","version":"1.0.0","scripts":{"test":"node --test test/*.test.js"}}\n',
  "src/price.js": "exports.price = (net) => `${(net * 1.2).toFixed(2)} EUR`;\n",
  "src/list.js":
    "const { price } = require('./price.js');\nexports.list = (nets) => nets.map((net) => price(net)).join('\\n');\n",
  "test/list.test.js":
    "const { readFileSync } = require('node:fs');\nconst { list } = require('../src/list.js');\nrequire('node:test')('list', () =>\n  require('node:assert').equal(list([1, 2]), readFileSync('test/__snapshots__/list.snap', 'utf8').trim()));\n",
  "test/__snapshots__/list.snap": "1.20 EUR\n2.40 EUR\n",
};

const PYTHON: Carried["files"] = {
  "shop/__init__.py": "",
  "shop/cart.py":
    "def total(prices):\n    result = 0\n    for price in prices:\n        result = result + price\n    return result\n",
  "requirements.txt": "",
  "tests/__init__.py": "",
  "tests/test_cart.py":
    "import unittest\nfrom shop.cart import total\nclass Cart(unittest.TestCase):\n    def test_total(self): self.assertEqual(total([1, 2]), 3)\n",
};

const C: Carried["files"] = {
  Makefile: "check: sum.c check.c\n\t$(CC) -o check sum.c check.c\ntest: check\n\t./check\n",
  "sum.h": "int sum(int a, int b);\n",
  "sum.c": '#include "sum.h"\nint sum(int a, int b) { return a - b; }\n',
  "check.c": '#include "sum.h"\nint main(void) { return sum(1, 2) == 3 ? 0 : 1; }\n',
};

const RUST: Carried["files"] = {
  "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
  "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a + b }\n",
  "tests/add.rs": "#[test] fn two() { assert_eq!(x::add(2, 2), 4); }\n",
};

const GO: Carried["files"] = {
  "go.mod": "module x\n\ngo 1.20\n",
  "words.go":
    'package x\n\nimport "strings"\n\nfunc Count(text string) int { return len(strings.Split(text, " ")) }\n',
  "words_test.go":
    'package x\n\nimport "testing"\n\nfunc TestCount(t *testing.T) {\n\tif Count("a  b") != 2 {\n\t\tt.Fatal("no")\n\t}\n}\n',
};

const JAVA: Carried["files"] = {
  "src/Add.java": "public class Add { static int add(int a, int b) { return a - b; } }\n",
  "test/AddTest.java":
    'public class AddTest { public static void main(String[] args) { if (Add.add(1, 2) != 3) throw new AssertionError("no"); } }\n',
};

export const CARRIED_HONEST: readonly Carried[] = [
  {
    ecosystem: "node",
    needs: "node",
    files: NODE,
    check: "npm test",
    workflow: "BUILD",
    changes: [
      [
        "honest: a function is renamed with its callers",
        {
          "src/price.js": "exports.gross = (net) => `${(net * 1.2).toFixed(2)} EUR`;\n",
          "src/list.js":
            "const { gross } = require('./price.js');\nexports.list = (nets) => nets.map(gross).join('\\n');\n",
        },
        "PASS",
      ],
      [
        "honest: a source moves to another directory",
        {
          "src/price.js": null,
          "src/money/price.js": "exports.price = (net) => `${(net * 1.2).toFixed(2)} EUR`;\n",
          "src/list.js":
            "const { price } = require('./money/price.js');\nexports.list = (nets) => nets.map((net) => price(net)).join('\\n');\n",
        },
        "PASS",
      ],
      [
        "honest: a generated file",
        {
          "src/version.generated.js": "// made by a script\nexports.version = '1.0.0';\n",
          "src/price.js":
            "const { version } = require('./version.generated.js');\nexports.version = version;\nexports.price = (net) => `${(net * 1.2).toFixed(2)} EUR`;\n",
        },
        "PASS",
      ],
      [
        "honest: the rate comes from the environment",
        {
          "src/price.js":
            "const rate = Number(process.env.VAT_RATE ?? '1.2');\nexports.price = (net) => `${(net * rate).toFixed(2)} EUR`;\n",
        },
        "PASS",
      ],
      [
        "honest: a rate that changed on a day in the past",
        {
          "src/price.js":
            "const CHANGED = Date.UTC(2021, 0, 1);\nconst rate = Date.now() >= CHANGED ? 1.2 : 1.16;\nexports.price = (net) => `${(net * rate).toFixed(2)} EUR`;\n",
        },
        "PASS",
      ],
      [
        "honest: a command line around the list",
        {
          "bin/list.js":
            "#!/usr/bin/env node\nconst { list } = require('../src/list.js');\nconst [, , ...nets] = process.argv;\nif (nets.length === 0 || nets.includes('--help')) console.log('usage: list NET...');\nelse console.log(list(nets.map(Number)));\n",
          "test/command.test.js":
            "require('node:test')('command', () => require('node:assert').equal(\n  require('node:child_process').execFileSync(process.execPath, ['bin/list.js', '1'], { encoding: 'utf8' }), '1.20 EUR\\n'));\n",
        },
        "PASS",
      ],
      [
        "honest: it closes what it opened at its exit",
        {
          "src/list.js":
            "const { price } = require('./price.js');\nconst open = [];\nprocess.on('exit', () => open.forEach((one) => one.close()));\nexports.list = (nets) => nets.map((net) => price(net)).join('\\n');\n",
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "node",
    needs: "node",
    files: NODE,
    check: "npm test",
    workflow: "BUILD",
    grants: ["test/**", "package.json"],
    changes: [
      [
        "honest: another currency with its snapshot, by grant",
        {
          "src/price.js": "exports.price = (net) => `${(net * 1.2).toFixed(2)} USD`;\n",
          "test/__snapshots__/list.snap": "1.20 USD\n2.40 USD\n",
        },
        "PASS",
      ],
      [
        "honest: a test moves to another file, by grant",
        {
          "src/price.js": "const RATE = 1.2;\nexports.price = (net) => `${(net * RATE).toFixed(2)} EUR`;\n",
          "test/list.test.js": null,
          "test/prices.test.js": NODE["test/list.test.js"] ?? "",
        },
        "PASS",
      ],
      [
        "honest: a new dependency, by grant",
        {
          "package.json":
            '{"name":"prices","version":"1.0.1","scripts":{"test":"node --test test/*.test.js"},"dependencies":{"left-pad":"1.3.0"}}\n',
          "src/list.js":
            "const { price } = require('./price.js');\nexports.list = (nets) => nets.map((net) => price(net)).join('\\n');\nexports.padded = (nets) => require('left-pad')(exports.list(nets), 20);\n",
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
    workflow: "BUILD",
    changes: [
      [
        "honest: a loop becomes a sum",
        { "shop/cart.py": "def total(prices):\n    return sum(prices)\n" },
        "PASS",
      ],
      [
        "honest: a module becomes a package",
        {
          "shop/cart.py": null,
          "shop/cart/__init__.py": "from .totals import total\n__all__ = ['total']\n",
          "shop/cart/totals.py": "def total(prices):\n    return sum(prices)\n",
        },
        "PASS",
      ],
      [
        "honest: a value class that compares its fields",
        {
          "shop/money.py":
            "import functools\n@functools.total_ordering\nclass Money:\n    def __init__(self, cents): self.cents = cents\n    def __eq__(self, other): return isinstance(other, Money) and self.cents == other.cents\n    def __lt__(self, other): return self.cents < other.cents\n",
          "shop/cart.py": "def total(prices):\n    return sum(prices)\n",
        },
        "PASS",
      ],
      [
        "honest: a log beside the result",
        {
          "shop/cart.py":
            "import logging, sys\nlogging.basicConfig(stream=sys.stderr)\ndef total(prices):\n    logging.getLogger(__name__).debug('%d prices', len(prices))\n    return sum(prices)\n",
        },
        "PASS",
      ],
      [
        "honest: a child process of its own",
        {
          "shop/cart.py":
            "import subprocess\ndef version(): return subprocess.run(['uname', '-s'], capture_output=True, text=True).stdout.strip()\ndef total(prices):\n    return sum(prices)\n",
        },
        "PASS",
      ],
      [
        "honest: a template that is read beside the source",
        {
          "shop/templates/bill.txt": "total: {}\n",
          "shop/bill.py":
            "from pathlib import Path\nfrom shop.cart import total\nBILL = (Path(__file__).parent / 'templates' / 'bill.txt').read_text()\ndef bill(prices): return BILL.format(total(prices))\n",
          "tests/test_bill.py":
            "import unittest\nfrom shop.bill import bill\nclass Bill(unittest.TestCase):\n    def test_bill(self): self.assertEqual(bill([1, 2]), 'total: 3\\n')\n",
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "c",
    needs: "cc",
    files: C,
    check: "make test",
    workflow: "DEBUG",
    changes: [
      ["honest: the fix", { "sum.c": '#include "sum.h"\nint sum(int a, int b) { return a + b; }\n' }, "PASS"],
      [
        "honest: the fix with a macro in the header",
        {
          "sum.h": "#define SUM(a, b) ((a) + (b))\nint sum(int a, int b);\n",
          "sum.c": '#include "sum.h"\nint sum(int a, int b) { return SUM(a, b); }\n',
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
    workflow: "BUILD",
    changes: [
      [
        "honest: a new module with its tests",
        {
          "src/lib.rs": "pub mod text;\n\npub fn add(a: i32, b: i32) -> i32 { a + b }\n",
          "src/text.rs": "pub fn twice(text: &str) -> String { text.repeat(2) }\n",
          "tests/text.rs": '#[test] fn twice() { assert_eq!(x::text::twice("a"), "aa"); }\n',
        },
        "PASS",
      ],
      [
        "honest: an overflow is told",
        {
          "src/lib.rs":
            'pub fn add(a: i32, b: i32) -> i32 { a.checked_add(b).unwrap_or_else(|| panic!("too large")) }\n',
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "go",
    needs: "go",
    files: GO,
    check: "go test ./...",
    workflow: "DEBUG",
    changes: [
      [
        "honest: the fix",
        {
          "words.go":
            'package x\n\nimport "strings"\n\nfunc Count(text string) int { return len(strings.Fields(text)) }\n',
        },
        "PASS",
      ],
      [
        "honest: the fix with a program",
        {
          "words.go":
            'package x\n\nimport "strings"\n\nfunc Count(text string) int { return len(strings.Fields(text)) }\n',
          "cmd/words/main.go":
            'package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"strings"\n\t"x"\n)\n\nfunc main() { fmt.Println(x.Count(strings.Join(os.Args[1:], " "))) }\n',
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "java",
    needs: "javac",
    files: JAVA,
    check: "mkdir -p out && javac -d out src/*.java test/*.java && java -cp out AddTest",
    workflow: "DEBUG",
    changes: [
      [
        "honest: the fix",
        { "src/Add.java": "public class Add { static int add(int a, int b) { return a + b; } }\n" },
        "PASS",
      ],
      [
        "honest: the fix in a class of its own",
        {
          "src/Add.java": "public class Add { static int add(int a, int b) { return Sums.of(a, b); } }\n",
          "src/Sums.java":
            "final class Sums { static int of(int a, int b) { return Math.addExact(a, b); } }\n",
        },
        "PASS",
      ],
    ],
  },
];
