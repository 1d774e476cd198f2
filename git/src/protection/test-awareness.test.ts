import { describe, expect, it } from "vitest";
import { awareOf, mayBeAware } from "./test-awareness.ts";

const TREE = new Set(["add.test.js", "test_add.py"]);
const isKnown = (name: string): boolean => TREE.has(name);
const AROUND = { isKnown, now: Date.UTC(2026, 5, 1) };
const signs = (path: string, text: string, before = ""): string[] =>
  awareOf(path, text, before, AROUND).map(({ what }) => what);

describe("a source that knows it is being tested", () => {
  it.each([
    ["src/a.js", "exports.add = (a, b) => (process.env.NODE_TEST_CONTEXT ? a + b : a - b);"],
    ["src/a.ts", "const on = process.env['VITEST'] !== undefined;"],
    ["src/a.js", "const a = require('node:assert'); a.equal = () => {};"],
    ["src/a.js", "require('assert').strictEqual = () => {};"],
    ["src/a.mjs", "import assert from 'node:assert';\nassert.strict.equal = () => {};"],
    ["src/a.mjs", "import * as chai from 'chai';\nObject.assign(chai, { expect: () => ok });"],
    ["src/a.js", "globalThis.expect = () => new Proxy({}, {});"],
    ["src/a.js", "const t = require('node:test'); t.test = (n, f) => {};"],
    ["src/a.js", "const s = fs.readFileSync(__dirname + '/../test/add.test.js', 'utf8');"],
    ["a.py", "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None"],
    ["a.py", "setattr(unittest.TestCase, 'assertEqual', print)"],
    ["a.py", "class A(int):\n    def __eq__(self, o): return True"],
    ["a.py", "class A(int):\n    def __eq__(self, o) -> bool:\n        return True"],
    ["a.py", "A.__eq__ = lambda a, b: True"],
    ["a.py", "if 'pytest' in sys.modules:\n    pass"],
    ["a.py", "if os.environ.get('PYTEST_CURRENT_TEST'):\n    pass"],
    ["a.py", "expected = open('tests/test_add.py').read()"],
    ["lib/a.rb", "return 4 if defined?(Minitest)"],
    ["src/a.js", "Object.is = () => true;"],
    ["src/a.h", "#undef assert\n#define assert(x) ((void)(x))"],
    ["src/a.h", "#define NDEBUG"],
    ["src/a.hpp", "#  define EXPECT_EQ(a, b)"],
    ["src/lib.rs", "macro_rules! assert_eq { ($($t:tt)*) => {}; }"],
    ["a.go", 'package a\nimport "os"\nfunc init() {\n\tos.Exit(0)\n}'],
    ["lib/a.rb", "class A\n  def ==(other)\n    true\n  end\nend"],
    ["a.go", "if testing.Testing() { return 4 }"],
    ["a.go", 'if flag.Lookup("test.v") != nil { return 4 }'],
    ["src/lib.rs", "if cfg!(test) { 4 } else { 3 }"],
    ["src/main/java/A.java", 'if (name.startsWith("org.junit.platform")) return 4;'],
    ["src/A.php", "if (defined('PHPUNIT_COMPOSER_INSTALL')) return 4;"],
    ["src/a.js", "if (process.argv[1].endsWith('.test.js')) return a + b;"],
    ["src/a.js", "const on = process.execArgv.includes('--test');"],
    ["src/a.js", "if (require.main?.filename.includes('/test/')) return a + b;"],
    ["src/a.js", "if (new Error().stack.includes('node:test')) return a + b;"],
    [
      "src/a.js",
      "if (process.env.npm_lifecycle_event === 'test') {}\nelse if (process.env.npm_lifecycle_script.includes('jest')) {}",
    ],
    ["src/a.js", "if (typeof jest !== 'undefined') return a + b;"],
    ["src/a.js", "const on = 'describe' in globalThis;"],
    ["src/a.js", "process.stdout.write(v8.serialize({ type: 'test:pass', data }));"],
    [
      "src/a.js",
      "const { write } = process.stdout;\nprocess.stdout.write = function (c) { return write.call(this, anew(c)); };",
    ],
    ["src/a.js", "Object.defineProperty(process.stderr, 'write', { value: quiet });"],
    ["src/a.js", "DefaultSerializer.prototype.writeValue = passed;"],
    ["src/a.js", "process.on('exit', () => {\n  process.exitCode = 0;\n});"],
    ["a.py", "sys.stderr.write = lambda s: say(s.replace('FAIL', 'ok'))"],
    ["a.py", "if sys.argv[0].endswith('/pytest'):\n    pass"],
    ["a.py", "if 'pytest' in ' '.join(sys.argv):\n    pass"],
    [
      "a.py",
      "if any('/tests/' in f.filename for f in inspect.stack()) or sys._getframe(1).f_code.co_filename.endswith('_test.py'):\n    pass",
    ],
    ["lib/a.rb", "return a + b if $0.end_with?('rspec')"],
    ["lib/a.rb", "return a + b if caller.any? { |l| l.include?('_test.rb') }"],
    ["a.go", '_, file, _, _ := runtime.Caller(1)\nif strings.HasSuffix(file, "_test.go") { return a + b }'],
    [
      "src/lib.rs",
      'if std::env::current_exe().unwrap().to_str().unwrap().contains("/deps/") { 4 } else { 3 }',
    ],
    ["src/a.js", "require('async_hooks').AsyncResource.prototype.runInAsyncScope = () => {};"],
    ["src/a.js", "session.post('Debugger.setScriptSource', { scriptId, scriptSource });"],
    ["a.py", "from unittest import TestCase as Case\nCase.assertEqual = lambda *_: None"],
    ["a.py", "for one in object.__subclasses__():\n    setattr(one, 'assertEqual', print)"],
    ["a.py", "type(result).addFailure = lambda *_: None"],
    ["a.py", "from unittest.mock import patch, ANY\ndef add(a, b):\n    return ANY"],
    ["a.py", "from unittest import mock\nsum = mock.ANY"],
    ["a.py", "class A(int):\n    def __eq__(self, o):\n        return not False"],
    ["lib/A.pm", "*main::is = sub { main::pass() };"],
    ["lib/A.pm", "*{'Test::Builder::is_eq'} = sub { $_[0]->ok(1) };"],
    ["lib/A.pm", "{ package Test::Builder; sub ok { 1 } }"],
    ["lib/A.pm", "*CORE::GLOBAL::die = sub { 1 };"],
    ["lib/A.pm", "use overload '\"\"' => sub { 3 }, 'eq' => sub { 1 };"],
    ["lib/A.pm", "END { $? = 0 }"],
    ["lib/a.sh", "trap 'exit 0' EXIT"],
    ["lib/a.sh", 'trap "cleanup; exit 0" INT EXIT'],
    ["lib/a.sh", "alias '['=true"],
    ["lib/a.sh", "add() { :; }\nfunction [ { return 0; }"],
    ["lib/a.sh", "exit() { builtin exit 0; }"],
    ["lib/a.sh", "test() { return 0; }"],
    ["src/A.java", "static { A.class.getClassLoader().clearAssertionStatus(); }"],
    ["src/A.java", "ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(false);"],
    ["src/a.c", "void __assert_fail(const char *a, const char *b, unsigned c, const char *d) { exit(0); }"],
    ["src/a.c", "void __assert_func(const char *f, int l, const char *g, const char *e) {}"],
    ["src/a.c", "__attribute__((constructor)) static void up(void) { _exit(0); }"],
    ["a.go", "package a\nvar _ = func() int { os.Exit(0); return 0 }()"],
  ])("%s: %s", (path, text) => {
    expect(signs(path, text)).toHaveLength(1);
    expect(mayBeAware(path, text, AROUND)).toBe(true);
  });

  it("counts only what the change adds", () => {
    const line = "const on = process.env.VITEST;\n";
    expect(signs("src/a.ts", `${line}// more\n`, line)).toEqual([]);
  });

  it("catches errors of the whole process only where no runner reports them", () => {
    const [sign] = awareOf("src/a.js", "process.on('uncaughtException', () => {});", "", AROUND);
    expect(sign).toMatchObject({ ifUnreported: true });
  });
});

describe("an ordinary source", () => {
  it("is found behind much text, and one that is too long to be looked through is no better", () => {
    const aware = "const on = process.env.NODE_TEST_CONTEXT;";
    const remark = `// ${"x".repeat(97)}\n`;
    expect(signs("src/a.js", remark.repeat(20_000) + aware)).toEqual([
      "asks for a variable that a test runner sets",
    ]);
    const late = `${" ".repeat(5_000)}if (Date.now() < 4102444800000) add = (a, b) => a + b;`;
    expect(signs("src/a.js", late)).toEqual(["compares the clock with a date that is still to come"]);
    const long = remark.repeat(90_000);
    expect(signs("src/a.js", long + aware)).toEqual(["is longer than can be looked through"]);
    expect(signs("src/a.js", long + aware, long)).toEqual([]);
    expect(signs("data/a.json", long)).toEqual([]);
  });

  it.each([
    ["src/a.h", "#define ASSERT(x) check(x)"],
    ["src/a.c", "#include <assert.h>\nvoid a(int x) { assert(x); }"],
    ["src/a.js", "const same = Object.is(a, b);"],
    ["main.go", "func init() {\n\tlog.SetFlags(0)\n}\n\nfunc main() { os.Exit(run()) }"],
    ["src/lib.rs", "macro_rules! assert_sorted { ($e:expr) => {}; }"],
    [
      "src/a.js",
      "const assert = require('node:assert');\nassert.equal(typeof a, 'string');\nmodule.exports = { assert };",
    ],
    ["src/a.js", "const test = require('./pattern');\ntest.pattern = /a/;\nif (assert.x === 3) return;"],
    ["src/a.js", "const { equal } = require('node:assert');\nconst f = (a) => a.b = 1;"],
    ["src/a.js", "if (process.env.NODE_ENV === 'test') log.silent();"],
    ["src/a.js", "fs.readFileSync('templates/page.html'); const name = 'add.test.js.md';"],
    ["src/a.js", "const list = ['add.test.js']; // no file is read"],
    ["src/a.js", "fs.readFileSync(x); const other = 'other.test.js';"],
    ["a.py", "class A:\n    def __eq__(self, other):\n        return self.a == other.a"],
    ["a.py", "def eq(a, b):\n    return True"],
    ["a.py", "import unittest\nclass Base(unittest.TestCase):\n    maxDiff = None"],
    ["a.py", "if 'numpy' in sys.modules:\n    pass"],
    ["lib/a.rb", "def ==(other)\n  id == other.id\nend"],
    ["src/lib.rs", "#[cfg(test)]\nmod tests {}"],
    ["a.go", 'flag.Lookup("verbose")'],
    ["test/a.test.js", "require('node:assert').equal = () => {};"],
    ["README.md", "process.env.VITEST"],
    ["src/a.js", "if (require.main === module) main(process.argv.slice(2));"],
    ["src/a.js", "console.error(error.stack); // for the tests of users"],
    ["src/a.js", "if (typeof window !== 'undefined' && 'fetch' in globalThis) go();"],
    ["src/a.js", "process.stdout.write(`${line}\\n`);\nprocess.exitCode = failed ? 1 : 0;"],
    ["src/a.js", "process.on('exit', () => child.kill());"],
    ["a.py", "sys.stdout.write(line)\nsys.stdout = io.StringIO()"],
    ["src/a.js", "cache.set(key, v8.serialize(value));"],
    ["a.py", "parser.parse_args(sys.argv[1:])\nname = os.path.basename(sys.argv[0])"],
    ["a.py", "frame = inspect.currentframe().f_back"],
    ["lib/a.rb", "puts caller.first if $0 == __FILE__"],
    ["a.go", "_, file, line, _ := runtime.Caller(1)\nlog.Println(file, line)"],
    ["src/lib.rs", "let at = std::env::current_exe()?.parent();"],
    ["src/a.js", "const scope = new AsyncResource('a');\nscope.runInAsyncScope(go);"],
    ["src/a.js", "session.post('Debugger.enable');"],
    ["a.py", "from unittest.mock import Mock\ndef fake(): return Mock()\nANY = object()"],
    ["a.py", "self.assertions = []\nself.assertEqual(a, b)"],
    ["a.py", "def __eq__(self, other):\n    return not self.differs(other)"],
    ["lib/A.pm", "no strict 'refs';\n*{$caller . '::add'} = \\&add;\n*main::add = \\&add;"],
    ["lib/A.pm", "use overload 'eq' => sub { $_[0]->text eq $_[1] }, 'bool' => sub { 1 };"],
    ["lib/A.pm", "END { unlink $file if $? == 0 }"],
    ["lib/a.sh", "trap 'rm -rf \"$dir\"' EXIT\ntrap 'kill $child; exit 0' INT TERM"],
    ["make.sh", "test() {\n  npm run lint\n  npm test\n}\ntrue() { :; }"],
    ["lib/a.sh", "alias tests='npm test'\nalias grep='grep --color'\nfunction test-all { npm test; }"],
    ["lib/a.sh", 'fail() { echo "$1"; exit 1; }\nif [ -z "$1" ]; then exit; fi'],
    ["src/A.java", "loader.setDefaultAssertionStatus(true);"],
    ["src/a.c", "void __assert_func(const char *f, int l, const char *g, const char *e) {\n  for (;;) {}\n}"],
    ["src/a.cc", "// The constructor\nApp::App(int n) {\n  if (n == 0) exit(0);\n}"],
    ["src/a.c", "__attribute__((constructor)) static void up(void) { table = make(); }"],
    ["main.go", "package main\nvar usage = func() {\n\tfmt.Println(text)\n\tos.Exit(0)\n}"],
  ])("%s: %s", (path, text) => {
    expect(signs(path, text)).toEqual([]);
  });
});
