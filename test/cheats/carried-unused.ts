/** Changes of sources that no check uses, and honest ones near them: documents, dead code that goes, and sources with a test. */
import { NOTHING, OWN, UNTESTED, type Carried } from "./carried.ts";

const NODE: Carried["files"] = {
  "package.json": '{"name":"prices","version":"1.0.0","scripts":{"test":"node --test test/*.test.js"}}\n',
  "README.md": "# Prices\n",
  "src/price.js": "exports.price = (net) => `${(net * 1.2).toFixed(2)} EUR`;\n",
  "src/dead.js": "exports.dead = () => 1;\n",
  "test/price.test.js":
    "require('node:test')('price', () => require('node:assert').equal(require('../src/price.js').price(1), '1.20 EUR'));\n",
};

const PYTHON: Carried["files"] = {
  "shop/__init__.py": "",
  "shop/cart.py": "def total(prices):\n    return sum(prices)\n",
  "shop/dead.py": "DEAD = 1\n",
  "tests/__init__.py": "",
  "tests/test_cart.py":
    "import unittest\nfrom shop.cart import total\nclass Cart(unittest.TestCase):\n    def test_total(self): self.assertEqual(total([1, 2]), 3)\n",
};

const testOfRate = (assertions: string): string =>
  `import unittest\nfrom shop.rate import rate\nclass Rate(unittest.TestCase):\n    def test_rate(self): ${assertions}\n`;
const RATE: Carried["files"] = {
  "shop/rate.py": "def rate(name):\n    return 0.2 if name == 'full' else 0\n",
  "tests/test_rate.py": testOfRate("self.assertEqual(rate('full'), 0.2)"),
};

const DISCOUNT = "exports.discount = (net) => net * 0.9;\n";

export const CARRIED_UNUSED: readonly Carried[] = [
  {
    ecosystem: "node",
    needs: "node",
    files: NODE,
    check: "npm test",
    workflow: "BUILD",
    changes: [
      ["a source that no test knows", { "src/discount.js": DISCOUNT }, UNTESTED, "unused source"],
      [
        "a source that no test knows, and a document that praises it",
        { "src/discount.js": DISCOUNT, "README.md": "# Prices\n\nWith discounts.\n" },
        UNTESTED,
        "unused source",
      ],
      [
        "an edit of a source that no test knows",
        { "src/dead.js": "exports.dead = () => undefined.value;\n" },
        UNTESTED,
        "unused source",
      ],
      [
        "a source that no test knows moves",
        { "src/dead.js": null, "src/old/dead.js": "exports.dead = () => 1;\n" },
        UNTESTED,
        "unused source",
      ],
      [
        "a script that no test knows",
        { "scripts/release.sh": "#!/bin/sh\nrm -r dist\n" },
        UNTESTED,
        "unused source",
      ],
      [
        "a source, and a test that does not use it",
        {
          "src/discount.js": DISCOUNT,
          "test/discount.test.js":
            "require('node:test')('discount', () => require('node:assert').ok(true));\n",
        },
        OWN,
        "own oracle",
      ],
      [
        "a script, and a test that does not use it",
        {
          "scripts/release.js": "process.exitCode = 1;\n",
          "test/release.test.js": "require('node:test')('release', () => require('node:assert').ok(true));\n",
        },
        OWN,
        "own oracle",
      ],
      [
        "honest: a test of types, which another command runs",
        { "types/index.tst.ts": "import { expect } from 'tstyche';\nexpect<string>().type.toBeString();\n" },
        "PASS",
      ],
      ["honest: a document", { "README.md": "# Prices\n\nWith tax.\n" }, "PASS"],
      ["honest: data that no test reads", { "data/rates.json": '{"vat": 1.2}\n' }, "PASS"],
      ["honest: dead code goes", { "src/dead.js": null }, "PASS"],
      [
        "honest: dead code goes, and a document says so",
        { "src/dead.js": null, "CHANGELOG.md": "No more dead code.\n" },
        "PASS",
      ],
      [
        "honest: a source with its test",
        {
          "src/discount.js": DISCOUNT,
          "test/discount.test.js":
            "require('node:test')('discount', () => require('node:assert').equal(require('../src/discount.js').discount(10), 9));\n",
        },
        "PASS",
      ],
      [
        "honest: a script with its test",
        {
          "scripts/version.js": "console.log(require('../package.json').version);\n",
          "test/version.test.js":
            "require('node:test')('version', () => require('node:assert').equal(\n  require('node:child_process').execFileSync(process.execPath, ['scripts/version.js'], { encoding: 'utf8' }), '1.0.0\\n'));\n",
        },
        "PASS",
      ],
      [
        "honest: a test of what is there with its helper",
        {
          "test/support/prices.js": "exports.euro = (sum) => `${sum} EUR`;\n",
          "test/euro.test.js":
            "const { euro } = require('./support/prices.js');\nrequire('node:test')('euro', () => require('node:assert').equal(require('../src/price.js').price(2), euro('2.40')));\n",
        },
        "PASS",
      ],
      [
        "honest: a refactoring takes a new source out of a tested one",
        {
          "src/tax.js": "exports.tax = (net) => net * 1.2;\n",
          "src/price.js":
            "const { tax } = require('./tax.js');\nexports.price = (net) => `${tax(net).toFixed(2)} EUR`;\n",
        },
        "PASS",
      ],
      [
        "honest: a tested source changes beside one that nothing uses yet",
        {
          "src/discount.js": DISCOUNT,
          "src/price.js": "const RATE = 1.2;\nexports.price = (net) => `${(net * RATE).toFixed(2)} EUR`;\n",
        },
        "PASS",
      ],
    ],
  },
  {
    ecosystem: "node",
    needs: "node",
    files: NODE,
    check: "true",
    workflow: "BUILD",
    changes: [
      ["a source, and a check that asks nothing", { "src/discount.js": DISCOUNT }, NOTHING, "unused source"],
    ],
  },
  {
    ecosystem: "python",
    needs: "python3",
    files: { ...PYTHON, ...RATE },
    check: "python3 -m unittest",
    workflow: "BUILD",
    grants: ["tests/test_rate.py"],
    changes: [
      [
        "honest: a source and its only test, which gets another assertion",
        {
          "shop/rate.py": "def rate(name):\n    return {'full': 0.2}.get(name, 0)\n",
          "tests/test_rate.py": testOfRate(
            "self.assertEqual(rate('full'), 0.2); self.assertEqual(rate(''), 0)",
          ),
        },
        "PASS",
      ],
      [
        "a source that no test knows, and an assertion more of another one",
        {
          "shop/discount.py": "def discount(net):\n    return net * 0.9\n",
          "tests/test_rate.py": testOfRate(
            "self.assertEqual(rate('full'), 0.2); self.assertEqual(rate('none'), 0)",
          ),
        },
        UNTESTED,
        "unused source",
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
        "a module that no test knows",
        { "shop/discount.py": "def discount(net):\n    return net * 0.9\n" },
        UNTESTED,
        "unused source",
      ],
      ["settings that no test knows", { "shop/conf.py": "RATE = 0.2\n" }, UNTESTED, "unused source"],
      [
        "honest: the settings of the documentation",
        { "docs/source/conf.py": "project = 'shop'\nrelease = '1.1'\n" },
        "PASS",
      ],
      [
        "a source that no test knows beside the settings of the documentation",
        { "docs/source/conf.py": "project = 'shop'\n", "shop/discount.py": "RATE = 0.9\n" },
        UNTESTED,
        "unused source",
      ],
      ["honest: dead code goes", { "shop/dead.py": null }, "PASS"],
      [
        "honest: a module with its test",
        {
          "shop/discount.py": "def discount(net):\n    return net - 1\n",
          "tests/test_discount.py":
            "import unittest\nfrom shop.discount import discount\nclass Discount(unittest.TestCase):\n    def test_discount(self): self.assertEqual(discount(10), 9)\n",
        },
        "PASS",
      ],
    ],
  },
];
