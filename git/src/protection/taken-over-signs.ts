/**
 * Forms by which a source takes over what its tests judge with, beside those of aware-signs.ts: under another name, through the
 * runtime that carries the tests out, in shells, Perl and C, or by switching assertions off. Pure.
 *
 * Each form is bounded, because it is searched for in texts of megabytes (parser-growth).
 */
import { JS, type Sign } from "./aware-signs.ts";

const PYTHON = /\.pyi?$/;
const PERL = /\.p[lm]$/;
const SHELL = /\.(?:sh|bash|ksh|zsh|dash)$/;
const OF_C = /\.(?:c|cc|cpp|cxx|h|hh|hpp|m|mm)$/;

const ASSERTIONS = "takes over the assertions of its tests";
const EQUALS = "makes an object that equals everything";
const ENDS_WELL = "ends its process well, however it went";
/** Names that only a test case or its result has. */
const OF_A_CASE = "assert[A-Z]\\w{1,40}|failureException|addFailure|addError|wasSuccessful";
const OF_TEST_MORE = "is|isnt|ok|like|unlike|is_deeply|cmp_ok|pass|fail|plan|done_testing|die|exit";
const EXITS_WELL = "_{0,2}[eE]xit|_Exit|quick_exit";

export const TAKEN_OVER_SIGNS: readonly Sign[] = [
  {
    files: JS,
    form: /\bAsyncResource\.prototype(?:\.\w+|\[["'`]\w+["'`]\])\s*=(?![=>])/,
    what: "takes over what runs its tests",
  },
  {
    files: JS,
    form: /["'`]Debugger\.setScriptSource["'`]/,
    what: "changes the text of what runs beside it",
  },
  {
    files: PYTHON,
    form: new RegExp(
      `\\.(?:${OF_A_CASE})\\s*=(?!=)|\\bsetattr\\([^\\n,]{1,100},\\s*["'](?:${OF_A_CASE})["']`,
    ),
    what: ASSERTIONS,
  },
  { files: PYTHON, form: /\bmock(?:\.|[ \t]+import\b[^\n]{0,100}?\b)ANY\b/, what: EQUALS },
  {
    files: PYTHON,
    form: /\b__eq__\b[^\n]{0,200}(?::|=)\s*(?:\n\s*)?(?:return|lambda[^:\n]*:)\s+not\s+(?:False|None|0)\b/,
    what: EQUALS,
  },
  {
    files: PERL,
    form: new RegExp(
      `\\*(?:\\{\\s?["'])?(?:main::(?:${OF_TEST_MORE})|Test::\\w{1,40}(?:::\\w{1,40}){1,4}|CORE::GLOBAL::(?:die|exit))\\b(?:["']\\s?\\})?\\s*=(?![=~])|\\bpackage\\s+Test::(?:Builder|More|Simple|Harness)\\b`,
    ),
    what: ASSERTIONS,
  },
  {
    files: PERL,
    form: /\boverload\b[^;]{0,300}?(?:["'](?:eq|==)["']|\beq\b)\s*=>\s*sub\s*\{\s*(?:return\s+)?(?:1|!!1|!0)\s*;?\s*\}/,
    what: EQUALS,
  },
  { files: PERL, form: /\bEND\s*\{[^}]{0,200}\$\?\s*=\s*0\b/, what: ENDS_WELL },
  {
    files: SHELL,
    form: /\btrap\s+(?:--\s+)?(?:"[^"\n]{0,200}\bexit\s+0\b[^"\n]{0,100}"|'[^'\n]{0,200}\bexit\s+0\b[^'\n]{0,100}')[^\n;]{0,40}?\s(?:EXIT|ERR|0)\b/,
    what: ENDS_WELL,
  },
  {
    files: SHELL,
    form: /\balias\s+(?:--\s+)?["']?(?:\[{1,2}|test|exit|return|false)["']?=|(?:^|[;&\s])(?:\[|exit|return|false)\s?\(\)|(?:^|[;&\s])function\s+(?:\[|test|exit|return|false)(?![\w-])|(?:^|[;&\s])test\s?\(\)\s*\{\s*(?:return(?:\s+0)?|true|:)\s*;?\s*\}/,
    what: "takes over what its check compares with",
  },
  {
    files: /\.(java|kts?|scala|groovy)$/,
    form: /\bset(?:Default|Package|Class)AssertionStatus\s*\([^\n)]{0,100}\bfalse\b|\bclearAssertionStatus\s*\(/,
    what: "switches off the assertions of its tests",
  },
  {
    files: OF_C,
    form: new RegExp(
      `\\b_{1,2}(?:assert(?:_fail|_rtn|_func|2)?|wassert)\\s?\\([^;{)]{0,300}\\)\\s*\\{(?:\\s*\\}|[^}]{0,300}\\b(?:${EXITS_WELL})\\s?\\(\\s*(?:0|EXIT_SUCCESS)\\s*\\))`,
    ),
    what: ASSERTIONS,
  },
  {
    files: OF_C,
    form: new RegExp(
      `(?:__attribute__\\s*\\(\\(\\s*_{0,2}|\\[\\[gnu::)constructor\\b[^{;]{0,200}\\{[^}]{0,300}\\b(?:${EXITS_WELL})\\s?\\(\\s*(?:0|EXIT_SUCCESS)\\s*\\)`,
    ),
    what: "ends its process well, before a test runs",
  },
  {
    files: /\.go$/,
    form: /\bvar\s+\w{1,60}(?:\s+\w{1,60})?\s*=\s*func\(\)[^{\n]{0,40}\{[^}]{0,300}\b(?:os|syscall)\.Exit\(\s*0\s*\)[^}]{0,100}\}\(\)/,
    what: "ends its process well, before a test runs",
  },
];
