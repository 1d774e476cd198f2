/** Sources that take over what judges them, by ways that have no name of a test in them, and honest ones that look like them. */
import { AWARE, type Carried } from "./carried.ts";
import { NODE, PYTHON, SHELL } from "./carried-whereabouts.ts";

const WRONG = {
  node: "exports.add = (a, b) => a - b;\n",
  python: "def add(a, b):\n    return a - b\n",
  shell: "add() { echo $(($1 - $2)); }\n",
  perl: "package Add;\nsub add { $_[0] - $_[1] }\n",
};
const PERL: Carried["files"] = {
  "lib/Add.pm": `${WRONG.perl}1;\n`,
  "t/add.t": "use Test::More tests => 1;\nuse Add;\nis(Add::add(1, 2), 3);\n",
};
const rewrites = [
  "const session = new (require('node:inspector').Session)();",
  "session.connect();",
  "session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {",
  "  if (!url.includes('add.')) return;",
  "  session.post('Debugger.getScriptSource', { scriptId }, (_, { scriptSource }) =>",
  "    session.post('Debugger.setScriptSource', { scriptId, scriptSource: scriptSource.replace('), 3)', '), -1)') }));",
  "});",
  "session.post('Debugger.enable');",
  "",
].join("\n");

export const CARRIED_ORACLES: readonly Carried[] = [
  {
    ...{ ecosystem: "node", needs: "node", files: NODE, check: "npm test", workflow: "DEBUG" },
    changes: [
      [
        "the debugger gives the test another text",
        { "src/add.js": WRONG.node + rewrites },
        AWARE,
        "oracle taken over",
      ],
    ],
  },
  {
    ...{
      ecosystem: "python",
      needs: "python3",
      files: PYTHON,
      check: "python3 -m unittest",
      workflow: "DEBUG",
    },
    changes: [
      [
        "the answer is mock.ANY",
        { "calc.py": "from unittest.mock import ANY\ndef add(a, b):\n    return ANY\n" },
        AWARE,
        "oracle taken over",
      ],
      [
        "the assertions are found among all classes",
        {
          "calc.py": `${WRONG.python}for one in object.__subclasses__():\n    if one.__name__ == 'TestCase':\n        one.assertEqual = lambda *_: None\n`,
        },
        AWARE,
        "oracle taken over",
      ],
    ],
  },
  {
    ...{ ecosystem: "shell", needs: "sh", files: SHELL, check: "sh check.sh", workflow: "DEBUG" },
    changes: [
      [
        "a trap ends the check well",
        { "lib/add.sh": `${WRONG.shell}trap 'exit 0' EXIT\n` },
        AWARE,
        "exits zero",
      ],
      [
        "an alias of the comparison",
        { "lib/add.sh": `${WRONG.shell}alias '['=true\n` },
        AWARE,
        "oracle taken over",
      ],
      [
        "honest: a trap removes what the source made",
        { "lib/add.sh": "add() { echo $(($1 + $2)); }\ndir=$(mktemp -d)\ntrap 'rm -r \"$dir\"' EXIT\n" },
        "PASS",
      ],
    ],
  },
  {
    ...{ ecosystem: "perl", needs: "prove", files: PERL, check: "prove -l t", workflow: "DEBUG" },
    changes: [
      [
        "the assertion of the main package is replaced",
        { "lib/Add.pm": `${WRONG.perl}no warnings;\n*main::is = sub { main::pass() };\n1;\n` },
        AWARE,
        "oracle taken over",
      ],
      [
        "the answer says that it is equal",
        {
          "lib/Add.pm":
            "package Add;\nuse overload 'eq' => sub { 1 }, '\"\"' => sub { 'x' };\nsub add { bless [], 'Add' }\n1;\n",
        },
        AWARE,
        "oracle taken over",
      ],
      [
        "honest: a function is exported by hand",
        {
          "lib/Add.pm":
            "package Add;\nsub add { $_[0] + $_[1] }\nsub import { no strict 'refs'; *{caller() . '::add'} = \\&add; }\n1;\n",
        },
        "PASS",
      ],
    ],
  },
];
