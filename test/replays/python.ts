import type { Language } from "./repository.ts";

const RUN = "python3 -m unittest -v";

export const python: Language = {
  language: "Python",
  repositories: [
    {
      name: "ledger",
      goal: "The balance leaves the first entry out",
      files: {
        "ledger/__init__.py": "",
        "ledger/account.py": `from decimal import Decimal


class Account:
    def __init__(self):
        self.entries = []

    def book(self, amount):
        self.entries.append(Decimal(amount))

    def balance(self):
        return sum(self.entries[1:], Decimal(0))
`,
        "tests/__init__.py": "",
        "tests/test_account.py": `import unittest
from ledger.account import Account


class AccountTest(unittest.TestCase):
    def test_balance_is_the_sum_of_all_entries(self):
        account = Account()
        for amount in ("0.10", "0.20", "-0.05"):
            account.book(amount)
        self.assertEqual(str(account.balance()), "0.25")
`,
        ".gitignore": "__pycache__/\n",
      },
      check: RUN,
      fix: ["ledger/account.py", "self.entries[1:]", "self.entries"],
    },
    {
      name: "wrap",
      goal: "wrap loses the last line of a paragraph",
      files: {
        "wrap.py": `def wrap(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines
`,
        "test_wrap.py": `import unittest
from wrap import wrap


class WrapTest(unittest.TestCase):
    def test_all_words_are_there(self):
        self.assertEqual(wrap("one two three", 8), ["one two", "three"])

    def test_nothing_has_no_line(self):
        self.assertEqual(wrap("", 8), [])
`,
        ".gitignore": "__pycache__/\n",
      },
      check: RUN,
      wrong: ["wrap.py", "    return lines\n", "    return [*lines, line]\n"],
      fix: ["wrap.py", "    return lines\n", "    return [*lines, line] if line else lines\n"],
    },
    {
      name: "inventory",
      goal: "A second warehouse shares the stock of the first one",
      files: {
        "inventory.py": `class Warehouse:
    def __init__(self, stock={}):
        self.stock = stock

    def put(self, item, count):
        self.stock[item] = self.stock.get(item, 0) + count
`,
        "check.py": `from inventory import Warehouse

first, second = Warehouse(), Warehouse()
first.put("bolt", 3)
assert second.stock == {}, f"the second one has {second.stock}"
print("the stocks are apart")
`,
      },
      check: "python3 check.py",
      fix: [
        "inventory.py",
        "stock={}):\n        self.stock = stock",
        "stock=None):\n        self.stock = {} if stock is None else stock",
      ],
    },
    {
      name: "csv-totals",
      goal: "Totals are wrong for amounts with a thousands separator",
      files: {
        "totals.py": `import csv
import io


def totals(text):
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        amount = float(row["amount"].split(",")[0])
        found[row["who"]] = found.get(row["who"], 0) + amount
    return found
`,
        "test_totals.py": `import unittest
from totals import totals


class TotalsTest(unittest.TestCase):
    def test_separators_are_no_decimals(self):
        text = 'who,amount\\nann,"1,200.50"\\nbob,3\\nann,0.5\\n'
        self.assertEqual(totals(text), {"ann": 1201.0, "bob": 3.0})
`,
        ".gitignore": "__pycache__/\n",
      },
      check: "python3 -m unittest",
      fix: ["totals.py", 'row["amount"].split(",")[0]', 'row["amount"].replace(",", "")'],
    },
    {
      name: "schema",
      goal: "The schema on disk is not what the models say: the mail address is missing",
      files: {
        "models.py": `FIELDS = {"id": "integer", "name": "string", "mail": "string"}
REQUIRED = sorted(FIELDS)[:-2]
`,
        "export.py": `import json

from models import FIELDS, REQUIRED

schema = {"type": "object", "properties": {k: {"type": v} for k, v in FIELDS.items()}, "required": REQUIRED}
with open("schema.json", "w") as out:
    json.dump(schema, out, indent=1, sort_keys=True)
    out.write("\\n")
`,
        "schema.json": "{}\n",
        "check.py": `import json

schema = json.load(open("schema.json"))
assert schema.get("required") == ["id", "mail", "name"], schema
`,
        ".gitignore": "__pycache__/\n",
      },
      check: "python3 check.py",
      fix: ["models.py", "sorted(FIELDS)[:-2]", "sorted(FIELDS)"],
      also: { command: "python3 export.py", writes: "schema.json" },
    },
    {
      name: "backoff",
      goal: "Delays grow without a bound",
      files: {
        "backoff.py": `def delays(first, factor, most, count):
    delay = first
    for _ in range(count):
        yield delay
        delay = max(delay * factor, most)
`,
        "test_backoff.py": `import unittest
from backoff import delays


class BackoffTest(unittest.TestCase):
    def test_they_grow_up_to_the_most(self):
        self.assertEqual(list(delays(1, 2, 5, 5)), [1, 2, 4, 5, 5])
`,
      },
      check: "python3 -B -m unittest test_backoff",
      wrong: ["backoff.py", "max(delay * factor, most)", "delay * factor if delay < most else most"],
      fix: ["backoff.py", "max(delay * factor, most)", "min(delay * factor, most)"],
    },
  ],
};
