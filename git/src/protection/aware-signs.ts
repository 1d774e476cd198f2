/**
 * Forms by which a source shows that it knows it is being tested, by language: it asks for what only a test runner sets, takes
 * over assertions or what its process writes, equals everything, or ends well before a test could fail. Pure.
 *
 * Each form is bounded, because it is searched for in texts of megabytes (parser-growth).
 */

export interface Sign {
  /** The names of the files that it is looked for in. */
  readonly files: RegExp;
  readonly form: RegExp;
  /** Says in a clause what the source does. */
  readonly what: string;
  /** It counts only where no test runner reported how the check went. */
  readonly ifUnreported?: true;
}

export const JS = /\.[mc]?[jt]sx?$/;
const PYTHON = /\.pyi?$/;
const RUBY = /\.(rb|rake)$/;
const JVM = /\.(java|kts?|scala|groovy)$/;
/** Modules of JavaScript with assertions. */
export const ASSERTIONS =
  "(?:node:)?(?:assert(?:\\/strict)?|test)|chai|vitest|@jest\\/globals|mocha|ava|tap|jasmine";
const GLOBALS = "expect|it|test|describe|assert|suite|beforeEach|afterEach";

/** What a command line, a file name or a stack shows of a test, in a string or a pattern. */
const RUNNERS =
  "py\\.?test|unittest|node:test|[/\\\\._-](?:test|spec)s?\\b|\\btests?[/\\\\_.]|jest|vitest|mocha|jasmine|rspec|minitest";
const SAME_LINE = "[^\\n]{0,200}?";

export const SIGNS: readonly Sign[] = [
  {
    files: JS,
    form: /\b(?:NODE_TEST_(?:CONTEXT|WORKER_ID)|JEST_WORKER_ID|VITEST(?:_WORKER_ID|_POOL_ID|_MODE)?|AVA_PATH|TAP_CHILD_ID)\b/,
    what: "asks for a variable that a test runner sets",
  },
  {
    files: JS,
    form: new RegExp(`\\brequire\\(\\s*["'\`](?:${ASSERTIONS})["'\`]\\s*\\)(?:\\.\\w+)+\\s*=(?![=>])`),
    what: "takes over the assertions of its tests",
  },
  {
    files: JS,
    form: new RegExp(
      `\\b(?:globalThis|global)(?:\\.(?:${GLOBALS})|\\[["'](?:${GLOBALS})["']\\])(?:\\.\\w+)*\\s*=(?![=>])`,
    ),
    what: "takes over the assertions of its tests",
  },
  {
    files: JS,
    form: new RegExp(
      `(?:\\bprocess\\.argv\\[1\\]|\\b(?:require\\.main|module\\.parent)(?:\\?|!)?\\.(?:filename|id|path)\\b|\\bprocess\\.execArgv\\b|\\bnpm_lifecycle_(?:event|script)\\b|\\.stack\\b)${SAME_LINE}(?:${RUNNERS}|--test)`,
    ),
    what: "asks whether a test runs it",
  },
  {
    files: JS,
    form: /\btypeof\s+(?:globalThis\.|global\.)?(?:jest|describe|vi|mocha)\b\s*[!=]==?\s*["'`]|["'`](?:jest|describe|vi|mocha)["'`]\s+in\s+(?:globalThis|global|window|self)\b/,
    what: "asks whether a test runs it",
  },
  {
    files: JS,
    form: /\b(?:Object\.is|JSON\.stringify|(?:Object|Array|Set|Map|Function)\.prototype\.(?:toString|hasOwnProperty|valueOf|every|some|has|call|apply))\s*=(?![=>])|\bdefineProperty\(\s*Object\s*,\s*["'`]is["'`]/,
    what: "takes over what assertions compare with",
  },
  {
    files: JS,
    form: /\bstdout\.write(?:Sync)?\([^\n]{0,200}\bserialize\(|\bwriteSync\(\s*1\s*,[^\n]{0,200}\bserialize\(|Serializer\.prototype\b/,
    what: "writes what a test runner reads as its report",
  },
  {
    files: JS,
    form: /\bprocess\.std(?:out|err)(?:\.\w+|\[["'`]\w+["'`]\])\s*=(?![=>])|\b(?:defineProperty|assign)\(\s*process\.std(?:out|err)\b|\b(?:Writable|Socket|WriteStream)\.prototype\.\w+\s*=(?![=>])/,
    what: "takes over what its process writes",
  },
  {
    files: JS,
    form: /\bprocess\.(?:on|once|addListener|prependListener)\(\s*["'`](?:exit|beforeExit)["'`](?:[^\n]{0,200}\n){0,4}?[^\n]{0,200}\bexitCode\s*=\s*(?:0|undefined|null)\b/,
    what: "ends its process well, however it went",
  },
  {
    files: JS,
    form: /\bprocess\.(?:on|once|addListener|prependListener)\(\s*["'`](?:uncaughtException|unhandledRejection)["'`]|\bsetUncaughtExceptionCaptureCallback\b/,
    what: "catches every error of the process that tests it",
    ifUnreported: true,
  },
  {
    files: PYTHON,
    form: /\bPYTEST_(?:CURRENT_TEST|XDIST_WORKER|VERSION)\b|["'](?:_?pytest|unittest|nose2?)["']\s+(?:not\s+)?in\s+sys\.modules|\bsys\.modules(?:\.get\(|\[)\s*["'](?:_?pytest|unittest)/,
    what: "asks whether a test runs it",
  },
  {
    files: PYTHON,
    form: new RegExp(
      `\\b(?:sys\\.argv|sys\\.orig_argv|__main__\\.__(?:file|spec)__|inspect\\.(?:stack|currentframe)|sys\\._getframe|traceback\\.(?:extract|format|walk)_stack)\\b${SAME_LINE}(?:${RUNNERS})|["'](?:py\\.?test|unittest)["']\\s+in\\s+(?:["'] ["']\\.join\\(|str\\(|repr\\(|os\\.|sys\\.(?!modules))`,
    ),
    what: "asks whether a test runs it",
  },
  {
    files: PYTHON,
    form: /\b(?:unittest(?:\.\w+)*|TestCase|pytest(?:\.\w+)*)\.\w+\s*=(?!=)|\bsetattr\(\s*(?:unittest|pytest|_pytest|TestCase)\b/,
    what: "takes over the assertions of its tests",
  },
  {
    files: PYTHON,
    form: /\b__eq__\b[^\n]{0,200}(?::|=)\s*(?:\n\s*)?(?:return\s+True\b|lambda[^:\n]*:\s*True\b)|\b__ne__\b[^\n]{0,200}(?::|=)\s*(?:\n\s*)?(?:return\s+False\b|lambda[^:\n]*:\s*False\b)/,
    what: "makes an object that equals everything",
  },
  {
    files: PYTHON,
    form: /\bsys\.(?:__)?std(?:out|err)(?:__)?\.(?:write|buffer|flush)\s*=(?!=)/,
    what: "takes over what its process writes",
  },
  {
    files: PYTHON,
    form: /\bsys\.excepthook\s*=/,
    what: "catches every error of the process that tests it",
    ifUnreported: true,
  },
  {
    files: RUBY,
    form: /\bdefined\?\(?\s*:*(?:RSpec|Minitest|Test::Unit)\b|\b(?:Minitest|RSpec)::[A-Z]\w*\.(?:class_eval|prepend|send|define_method)\b|\b(?:class|module)\s+(?:Minitest|RSpec)\b/,
    what: "asks for the test framework, or takes it over",
  },
  {
    files: RUBY,
    form: new RegExp(
      `(?:\\$0|\\$PROGRAM_NAME\\b|\\bARGV\\b|\\bcaller(?:_locations)?\\b)${SAME_LINE}(?:${RUNNERS})`,
    ),
    what: "asks whether a test runs it",
  },
  {
    files: RUBY,
    form: /\bdef\s*==\s*\([^)\n]{0,200}\)\s*(?:=|;|\n)\s*true\b/,
    what: "makes an object that equals everything",
  },
  {
    files: /\.go$/,
    form: /\bruntime\.Callers?(?:Frames)?\([^\n]{0,200}(?:\n[^\n]{0,200}){0,3}_test\.go"|\btesting\.Testing\(\)|\bflag\.Lookup\(\s*"test\.|\bos\.Args\[0\][^\n]{0,200}\.test"/,
    what: "asks whether a test runs it",
  },
  {
    files: /\.go$/,
    form: /\bfunc\s+init\(\)\s*\{[^\n]{0,200}(?:\n[^\n]{0,200}){0,8}?\b(?:os|syscall)\.Exit\(\s*0\s*\)/,
    what: "ends its process well, before a test runs",
  },
  {
    files: /\.rs$/,
    form: /\bcurrent_exe\(\)[^\n]{0,200}(?:\n[^\n]{0,200}){0,2}["'/]deps\b|\bcfg!\(\s*test\s*\)|#\[cfg\(not\(test\)\)\]/,
    what: "asks whether a test runs it",
  },
  {
    files: JVM,
    form: /"(?:org\.junit|junit\.|org\.testng|surefire\.|org\.gradle\.test)[\w.]*"/,
    what: "asks for the test framework",
  },
  {
    files: /\.(?:c|cc|cpp|cxx|h|hh|hpp|m|mm)$/,
    form: /^[ \t]{0,20}#[ \t]{0,20}(?:define|undef)[ \t]{1,20}(?:assert|NDEBUG|(?:ASSERT|EXPECT)_(?:EQ|NE|LT|LE|GT|GE|TRUE|FALSE|THAT|STREQ|NEAR|FLOAT_EQ|DOUBLE_EQ|THROW|NO_THROW)|(?:TEST_ASSERT|ck_assert|cr_assert)(?:_\w{1,40})?)\b/m,
    what: "defines the assertions of its tests anew",
  },
  {
    files: /\.rs$/,
    form: /\bmacro_rules!\s{0,20}(?:debug_)?assert(?:_eq|_ne|_matches)?\b/,
    what: "defines the assertions of its tests anew",
  },
  {
    files: /\.php$/,
    form: /\bdebug_(?:print_)?backtrace\([^\n]{0,200}(?:\n[^\n]{0,200}){0,3}phpunit|(?:\$argv|\$_SERVER\[["']argv["']\]|SCRIPT_(?:FILE)?NAME)[^\n]{0,200}phpunit|\bPHPUNIT_(?:COMPOSER_INSTALL|TESTSUITE)\b|\b(?:class_exists|defined)\(\s*["']\\?\\?PHPUnit/i,
    what: "asks for the test framework",
  },
];
