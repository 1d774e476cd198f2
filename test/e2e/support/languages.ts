/**
 * Small real projects in several languages, each with its own tests and one bug. Antiphon finds their checks
 * by itself.
 */
export interface LanguageProject {
  readonly language: string;
  readonly files: Readonly<Record<string, string>>;
  /** Fixes the bug. */
  readonly fix: string;
}

const javascript: LanguageProject = {
  language: "JavaScript",
  files: {
    "package.json": JSON.stringify({
      name: "slugs",
      version: "1.0.0",
      type: "module",
      scripts: { test: "node --test" },
    }),
    "src/slug.js":
      'export function slug(title) {\n  return title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]/g, "-");\n}\n',
    "test/slug.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { slug } from "../src/slug.js";
test("words are joined by one dash", () => assert.equal(slug("Hello,  World"), "hello-world"));
`,
  },
  fix: "sed -i 's|\\[^a-z0-9\\]/g|[^a-z0-9]+/g|' src/slug.js",
};

const python: LanguageProject = {
  language: "Python",
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
  },
  fix: "sed -i 's/self.entries\\[1:\\]/self.entries/' ledger/account.py",
};

const perl: LanguageProject = {
  language: "Perl",
  files: {
    "lib/Roman.pm": `package Roman;
use strict;
use warnings;
my @PAIRS = ([10, 'X'], [9, 'IX'], [5, 'V'], [1, 'I']);

sub roman {
    my ($n) = @_;
    my $out = '';
    for my $pair (@PAIRS) {
        while ($n >= $pair->[0]) { $out .= $pair->[1]; $n -= $pair->[0] }
    }
    return $out;
}
1;
`,
    "t/roman.t": `use strict;
use warnings;
use Test::More;
use Roman;
is(Roman::roman(14), 'XIV', 'fourteen');
is(Roman::roman(9), 'IX', 'nine');
done_testing;
`,
  },
  fix: "sed -i \"s/\\[5, 'V'\\]/[5, 'V'], [4, 'IV']/\" lib/Roman.pm",
};

const shell: LanguageProject = {
  language: "shell and C, by make",
  files: {
    Makefile: "count: count.c\n\tcc -Wall -o $@ $<\n\ntest: count\n\tsh ./test.sh\n\n.PHONY: test\n",
    "count.c": `#include <stdio.h>
int main(void) {
  long lines = 0;
  for (int c; (c = getchar()) != EOF;) if (c == ' ') lines++;
  printf("%ld\\n", lines);
}
`,
    "test.sh": `set -eu
got=$(printf 'one two\\nthree\\n' | ./count)
[ "$got" = 2 ] || { echo "counted $got lines, not 2" >&2; exit 1; }
echo counted
`,
    ".gitignore": "count\n",
  },
  fix: "sed -i \"s/c == ' '/c == '\\\\\\\\n'/\" count.c",
};

export const LANGUAGES: readonly LanguageProject[] = [javascript, python, perl, shell];
