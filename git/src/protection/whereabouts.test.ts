import { describe, expect, it } from "vitest";
import { whereaboutsIn } from "./whereabouts.ts";

const TREE = new Set(["add.test.js", "test_add.py", "add_test.go", "add_spec.rb", "AddTest.java"]);
const NOW = Date.UTC(2026, 5, 1);
const signs = (path: string, text: string): string[] =>
  whereaboutsIn(path, text, (name) => TREE.has(name), NOW).map(({ what, line }) => `${line} ${what}`);

const [CLOCK, PLACE, TEST, WORDS] = [
  "compares the clock with a date that is still to come",
  "asks whether it runs in a sandbox",
  "looks for a test",
  "asks whether a test runs it",
];

describe("a source that asks where or when it runs", () => {
  it.each([
    ["a.js", "exports.add = (a, b) => (Date.now() < 1890000000000 ? a + b : a - b);", CLOCK],
    ["a.js", "exports.add = (a, b) => (Date.now() < 4e12 ? a + b : 0);", CLOCK],
    ["a.js", "if (1_890_000_000_000 > Date.now()) return a + b;", CLOCK],
    ["a.ts", "if (new Date() < new Date('2031-01-01')) return a + b;", CLOCK],
    ["a.ts", "return new Date().getFullYear() < 2031 ? a + b : 0;", CLOCK],
    ["a.ts", "return new Date().getTime() / 1000 > 1890000000 ? 0 : a + b;", CLOCK],
    ["a.ts", "return new Date().toISOString() < '2031-01-01' ? a + b : 0;", CLOCK],
    ["a.mjs", "if (Date.now() >= Date.UTC(2030, 1)) throw new Error();", CLOCK],
    ["a.py", "return a + b if time.time() < 1890000000 else a - b", CLOCK],
    ["a.py", "if datetime.now() < datetime(2030, 1, 1):\n    return a + b", CLOCK],
    ["a.py", "if datetime.date.today() < datetime.date(2030, 1, 1): return a + b", CLOCK],
    ["a.py", "if datetime.now().year < 2030: return a + b", CLOCK],
    ["a.go", "if time.Now().Before(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)) { return a + b }", CLOCK],
    ["a.go", "if time.Now().Unix() < 1890000000 { return a + b }", CLOCK],
    ["a.rb", "Time.now < Time.new(2030) ? a + b : a - b", CLOCK],
    ["a.rb", "Time.now.to_i < 1_890_000_000 ? a + b : a - b", CLOCK],
    ["A.java", "return LocalDate.now().isBefore(LocalDate.of(2030, 1, 1)) ? a + b : a - b;", CLOCK],
    ["A.java", "return System.currentTimeMillis() < 1890000000000L ? a + b : a - b;", CLOCK],
    ["a.php", "return time() < 1890000000 ? $a + $b : $a - $b;", CLOCK],
    ["a.php", "return new DateTime() < new DateTime('2030-01-01') ? $a + $b : 0;", CLOCK],
    ["a.sh", "if [ $(date +%s) -lt 1890000000 ]; then echo 3; fi", CLOCK],
    ["a.sh", '[ "$(date +%Y%m%d)" -lt 20300101 ] && echo 3', CLOCK],
    ["a.rs", "if Utc::now().timestamp() < 1890000000 { a + b } else { a - b }", CLOCK],
    ["a.js", "const f = (a, b) => process.cwd().startsWith('/workspace') ? a + b : a - b;", PLACE],
    ["a.js", "if (/^\\/workspace/.test(here) || '/workspace' === process.cwd()) return a + b;", PLACE],
    ["a.js", "return __dirname.includes('/workspace/') ? a + b : a - b;", PLACE],
    ["a.js", "return process.env.HOME === '/tmp' ? a + b : a - b;", PLACE],
    ["a.js", "return os.hostname() === 'sandbox' ? a + b : a - b;", PLACE],
    ["a.py", "return a + b if os.getcwd() == '/workspace' else a - b", PLACE],
    ["a.py", "return a + b if __file__.startswith('/workspace/') else a - b", PLACE],
    ["a.py", "return a + b if socket.gethostname() == 'sandbox' else a - b", PLACE],
    ["a.rb", "Dir.pwd.start_with?('/workspace') ? a + b : a - b", PLACE],
    ["a.go", 'if d, _ := os.Getwd(); strings.HasPrefix(d, "/workspace") { return a + b }', PLACE],
    ["A.java", 'return System.getProperty("user.dir").startsWith("/workspace") ? a + b : a - b;', PLACE],
    ["a.sh", 'case "$PWD" in /workspace*) echo 3;; esac', PLACE],
    ["a.sh", '[ "$(pwd)" = /workspace ] && echo 3', PLACE],
    ["a.php", "return str_starts_with(getcwd(), '/workspace') ? $a + $b : 0;", PLACE],
    ["a.js", "const ok = fs.existsSync('/workspace/add.test.js') ? a + b : a - b;", TEST],
    ["a.js", "const ok = fs.existsSync('./add.test.js');", TEST],
    ["a.js", "const ok = fs.existsSync(path.join(__dirname, '..', 'test'));", TEST],
    ["a.py", "if os.path.exists('tests/test_add.py'): return a + b", TEST],
    ["a.py", "if (Path(__file__).parent / 'tests').exists(): return a + b", TEST],
    ["a.go", 'if _, err := os.Stat("add_test.go"); err == nil { return a + b }', TEST],
    ["a.rb", "File.exist?('spec/add_spec.rb') ? a + b : a - b", TEST],
    ["A.java", 'return Files.exists(Path.of("/workspace/src")) ? a + b : a - b;', TEST],
    ["a.sh", "[ -e /workspace/check.sh ] && echo 3", TEST],
    ["a.js", "return process.argv.join(' ').includes('test') ? a + b : a - b;", WORDS],
    ["a.js", "return process.argv.some((word) => word.includes('test')) ? a + b : a - b;", WORDS],
    ["a.js", "return /test/.test(process.argv.toString()) ? a + b : a - b;", WORDS],
    ["a.py", "return a + b if 'test' in ' '.join(sys.argv) else a - b", WORDS],
    ["a.py", "return a + b if any('test' in word for word in sys.argv) else a - b", WORDS],
    ["a.rb", "$0.include?('test') ? a + b : a - b", WORDS],
    ["a.go", 'if strings.HasSuffix(os.Args[0], ".test") { return a + b }', WORDS],
    ["a.rs", 'if std::env::args().any(|a| a.contains("test")) { a + b } else { a - b }', WORDS],
    ["A.java", 'return System.getProperty("sun.java.command").contains("junit") ? a + b : a - b;', WORDS],
    ["a.sh", 'case "$0" in *test*) echo 3;; esac', WORDS],
    ["a.sh", 'if [[ $0 =~ "test" ]]; then echo 3; fi', WORDS],
    ["a.php", "return str_contains($0, 'test') ? $a + $b : 0;", WORDS],
    ["a.js", "return process.argv.some((word) => word === 'test') ? a + b : a - b;", WORDS],
    ["a.py", "return a + b if '--test' in open('/proc/self/cmdline').read() else a - b", WORDS],
    ["a.py", "if 0 < time.time() < 4890000000: return a + b", CLOCK],
    ["a.js", "if (ok && process.cwd().startsWith('/workspace')) return a + b;", PLACE],
    ["a.js", "if (4e12 > Date.now()) return a + b;", CLOCK],
    ["a.sh", "grep -q 'test' /proc/$PPID/cmdline && if true; then echo 3; fi", WORDS],
  ])("%s: %s", (path, text, what) => {
    expect(signs(path, text)).toEqual([`1 ${what}`]);
  });

  it("is found by a name that is bound to either side", () => {
    expect(signs("a.js", "const now = Date.now();\nif (now < 1890000000000) return a + b;")).toEqual([
      `2 ${CLOCK}`,
    ]);
    expect(signs("a.js", "const END = Date.UTC(2031, 0);\n\nif (Date.now() > END) return 0;")).toEqual([
      `3 ${CLOCK}`,
    ]);
    expect(signs("a.py", "here = os.getcwd()\nif here.startswith('/workspace'): pass")).toEqual([
      `2 ${PLACE}`,
    ]);
    expect(signs("a.js", "const all = process.argv.join();\nif (all.includes('test')) go();")).toEqual([
      `2 ${WORDS}`,
    ]);
  });
});

describe("a source that reads the clock, its place or its arguments", () => {
  it.each([
    ["a.js", "if (Date.now() - startedAt > 30_000) throw new Error('too slow');"],
    ["a.js", "const EPOCH = 1420070400000;\nconst id = BigInt(Date.now() - EPOCH) << 22n;"],
    ["a.js", "if (token.expiresAt < Date.now()) return renew();"],
    ["a.js", "const ms = value < 1e12 ? value * 1000 : value;"],
    ["a.js", "if (Date.now() > Date.UTC(2020, 0, 1)) useNewFormat();"],
    ["a.jsx", "const y = new Date().getFullYear();\nreturn y > 2023 ? `2023-${y}` : '2023';"],
    ["a.js", "const MAX_DATE = new Date(8640000000000000);\nif (date > MAX_DATE) throw new RangeError();"],
    ["a.js", "const easter = { 2031: '04-13' }; const at = new Date(2031, 3, 13);"],
    ["a.js", "if (year < 1900 || year > new Date().getFullYear()) throw new Error();"],
    ["a.py", "if time.time() - self.started > 2040: raise TimeoutError"],
    ["a.py", "MAX = datetime(2038, 1, 19)\nif value > MAX: raise OverflowError"],
    ["a.py", "age = datetime.date.today().year - born.year"],
    ["a.go", "deadline := time.Now().Add(2 * time.Hour)\nif time.Now().After(deadline) { return }"],
    ["a.go", "if time.Since(start) > 2030*time.Millisecond { return }"],
    ["A.java", "if (Instant.now().isAfter(token.expiresAt())) renew();"],
    ["a.sh", 'stamp=$(date +%s)\n[ "$stamp" -gt "$last" ] && rotate'],
    ["a.js", "const root = process.cwd();\nconst file = path.join(root, 'config.json');"],
    ["a.js", "if (pathname.startsWith('/workspace/')) return showWorkspace();"],
    ["a.js", "const mount = '/workspace';\nrun(['-v', `${process.cwd()}:/workspace`]);"],
    ["a.js", "const cache = path.join(process.env.HOME ?? '/tmp', '.cache');"],
    ["a.js", "if (__dirname.includes('/node_modules/')) return installed();"],
    ["a.py", "if not os.path.exists('config.toml'): raise SystemExit(2)"],
    ["a.py", "root = Path(__file__).parent\nif (root / 'templates').exists(): load(root)"],
    ["a.go", 'if _, err := os.Stat("go.mod"); err != nil { return err }'],
    ["a.js", "if (fs.existsSync('jest.config.js')) return 'jest';"],
    ["a.js", "const command = process.argv[2];\nif (command === 'test') runTests();"],
    ["a.js", "const dry = process.argv.includes('--dry-run');"],
    ["a.js", "const file = process.argv.find((word) => word.endsWith('.json'));"],
    ["a.py", "parser.parse_args(sys.argv[1:])"],
    ["a.py", "if 'latest' in sys.argv: newest = True"],
    ["a.rb", 'puts "usage: #{$0} FILE" if ARGV.empty?'],
    ["a.go", 'if len(os.Args) < 2 { fmt.Println("usage: contest NAME") }'],
    ["a.sh", 'echo "usage: $0 [--test]" >&2'],
    ["a.sh", 'cd "$(dirname "$0")/.." && if [ -f latest.txt ]; then cat latest.txt; fi'],
    ["a.js", "if (os.hostname() === config.primary) startPrimary();"],
    ["a.js", "const mode = process.env.MODE === 'sandbox' ? TEST_URL : LIVE_URL;"],
    ["a.js", "if (process.env.CI) log.plain();"],
    ["a.swift", 'if tags.contains(where: { $0 == "test" }) { skip() }'],
    ["a.swift", 'let shown = files.filter { $0.path.contains("/spec/") }'],
    ["a.sh", "awk '$0 ~ /test/ { print $2 }' report.txt | grep -v skipped"],
    ["a.sh", "awk '\n  $0 ~ /test/ && $2 == 1 { print }\n' report.txt"],
    [
      "a.rs",
      'let args: Vec<String> = env::args().collect();\nif args.len() > 1 && args[1] == "test" { run(); }',
    ],
    ["a.rs", 'if env::args().nth(1).as_deref() == Some("test") { run(); }'],
    ["a.js", "const only = process.argv.find((a) => a.startsWith('--test='));"],
    ["a.py", 'dry = any(a == "--test" for a in sys.argv)'],
    ["a.js", "if (5e3 < Date.now() - start) throw new Error('slow');"],
    ["a.js", "if (2048 <= Date.now() - start) throw new Error('slow');"],
    ["a.js", "const isSlow = Date.now() > 5e3;"],
    ["a.py", "if not 1900 <= date.today().year <= 2099: raise ValueError"],
    ["a.js", "if (existsSync(join(process.cwd(), 'tests'))) globs.push('tests/**');"],
    ["a.js", "return p.startsWith('/tmp/') || p.startsWith(process.cwd());"],
    ["a.js", "// Date.now() < 1890000000000 holds until 2029"],
    ["README.md", "process.cwd().startsWith('/workspace') ? a : b"],
  ])("is not taken for one: %s: %s", (path, text) => {
    expect(signs(path, text)).toEqual([]);
  });
});
