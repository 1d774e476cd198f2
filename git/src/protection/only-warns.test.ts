import { describe, expect, it } from "vitest";
import { takesWarnings } from "./only-warns.ts";
import { whereaboutsIn } from "./whereabouts.ts";

const NOW = Date.UTC(2026, 5, 1);
const lines = (path: string, text: string): number[] =>
  whereaboutsIn(path, text, () => false, NOW).map(({ line }) => line);
const LATE = "Date.now() >= Date.UTC(2027, 0, 1)";
const JS = `if (${LATE})`;
const PY = "if date.today() >= date(2027, 1, 1):";
const GO = "if time.Now().After(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {";

describe("a date from which on a source does something else", () => {
  it.each([
    ["a.js", `${JS} console.warn('old');\nelse total = 0;`],
    ["a.js", `${JS} {\n  console.warn('old');\n} else {\n  total = 0;\n}`],
    ["a.js", `${JS} {\n  console.warn('old');\n}\nelse total = 0;`],
    ["a.js", `${JS} {\n  console.warn('old');\n  total = 0;\n}`],
    ["a.js", `${JS} { console.warn('old'); total = 0; }`],
    ["a.js", `${JS} {\n  console.warn('old'); } total = 0;`],
    ["a.js", `${JS} console.warn('old'), total = 0;`],
    ["a.js", `${JS} console.warn((total = 0, 'old'));`],
    ["a.js", `${JS} console.warn(\`old ${"${spoil()}"}\`);`],
    ["a.js", `${JS} console.warn('old' + spoil());`],
    ["a.js", `${JS} console.warn('old', { toString: spoil });`],
    ["a.js", `if (${LATE} && spoil()) console.warn('old');`],
    ["a.js", `if (spoil() || ${LATE}) console.warn('old');`],
    ["a.js", `if (!(${LATE})) total = 3; else console.warn('old');`],
    ["a.js", `const old = ${LATE} ? console.warn('old') : 3;`],
    ["a.js", `while (${LATE}) console.warn('old');`],
    ["a.js", `${JS} warn('old');`],
    ["a.js", `${JS} logger.warn('old');`],
    ["a.js", `${JS} throw new Error('old');`],
    ["a.js", `${JS} console.log('old');`],
    ["a.js", `${JS} return console.warn('old');`],
    ["a.js", `console.warn = () => (total = 0);\n${JS} console.warn('old');`],
    ["a.js", `process.on('warning', spoil);\n${JS} process.emitWarning('old');`],
    ["a.js", `const console = { warn: spoil };\n${JS} console.warn('old');`],
    ["a.js", `globalThis['con' + 'sole'].warn = spoil;\n${JS} console.warn('old');`],
    ["a.py", `${PY}\n    warnings.warn('old')\nelse:\n    total = 0`],
    ["a.py", `${PY}\n    warnings.warn('old')\n    total = 0`],
    ["a.py", `${PY} warnings.warn('old'); total = 0`],
    ["a.py", `${PY}\n    warnings.warn(spoil())`],
    ["a.py", `warnings.simplefilter('error')\n${PY}\n    warnings.warn('old')`],
    ["a.py", `warnings.showwarning = spoil\n${PY}\n    warnings.warn('old')`],
    ["a.py", `import warnings as w, mine as warnings\n${PY}\n    warnings.warn('old')`],
    ["a.py", `total = warnings.warn('old') if date.today() >= date(2027, 1, 1) else 3`],
    ["a.go", `${GO}\n\tlog.Println("old")\n} else {\n\ttotal = 0\n}`],
    ["a.go", `${GO}\n\tlog.Fatal("old")\n}`],
    ["a.go", `import "x.test/log"\n${GO}\n\tlog.Println("old")\n}`],
    ["a.rb", "warn spoil if Time.now >= Time.new(2027)"],
    ["a.rb", 'warn "old #{spoil}" if Time.now >= Time.new(2027)'],
    ["a.rb", 'if Time.now >= Time.new(2027)\n  warn "old"\nelse\n  total = 0\nend'],
    ["a.rb", 'def warn(text) = spoil\nwarn "old" if Time.now >= Time.new(2027)'],
    ["a.sh", 'if [ "$(date +%Y%m%d)" -ge 20270101 ]; then\n  echo old >&2\nfi'],
  ])("is found in %s: %s", (path, text) => {
    expect(lines(path, text)).toHaveLength(1);
  });

  it("is found where another source of the change takes the warnings over", () => {
    const text = `${JS} console.warn('old');`;
    expect(whereaboutsIn("a.js", text, () => false, NOW, true)).toHaveLength(1);
    expect(takesWarnings("b.js", "console.warn = spoil;")).toBe(true);
    expect(takesWarnings("b.py", "warnings.filterwarnings('error')")).toBe(true);
    expect(takesWarnings("b.md", "console.warn = spoil;")).toBe(false);
  });
});

describe("a date from which on a source only warns", () => {
  it.each([
    ["a.js", `${JS} console.warn('old');`],
    ["a.js", `${JS}\n  console.warn('old');\nreturn a + b;`],
    ["a.js", `${JS} { console.warn('old'); }`],
    ["a.ts", `if (new Date() >= new Date("2027-01-01")) {\n  console.warn("a() is old");\n}\nreturn a + b;`],
    ["a.js", `const END = new Date('2027-01-01');\nif (new Date() > END) console.error('old');`],
    [
      "a.js",
      `${JS} {\n  process.emitWarning(\n    'old since ' + '2027',\n    { type: 'DeprecationWarning', code: 'OLD' },\n  );\n}`,
    ],
    ["a.js", `if (Date.UTC(2027, 0, 1) <= Date.now()) console.warn('old');`],
    [
      "a.py",
      `import warnings\n${PY}\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\nreturn a + b`,
    ],
    [
      "a.py",
      `${PY}\n    warnings.warn(\n        "old "\n        "since 2027",\n        category=FutureWarning,\n    )\n`,
    ],
    ["a.py", `${PY} warnings.warn("old")`],
    ["a.py", "if datetime.date.today() >= datetime.date(2027, 1, 1):\n    warnings.warn('old')\nreturn a"],
    ["a.go", `import "log"\n${GO}\n\tlog.Println("old")\n}\nreturn a + b`],
    ["a.rb", 'warn "old" if Time.now >= Time.new(2027)'],
    ["a.rb", 'if Time.now >= Time.new(2027)\n  warn("old")\nend\na + b'],
    ["A.java", 'if (LocalDate.now().isAfter(LocalDate.of(2027, 1, 1))) {\n  System.err.println("old");\n}'],
  ])("is let pass in %s: %s", (path, text) => {
    expect(lines(path, text)).toEqual([]);
  });

  it.each([
    ["a.js", "/** @deprecated It goes on 2027-01-01. */\nexports.SUNSET = new Date('2027-01-01');"],
    ["a.py", "REMOVED_IN = datetime.date(2027, 1, 1)\n# Changed on 2027-01-01: date.today() >= REMOVED_IN"],
    ["a.js", "headers.set('Sunset', new Date('2027-01-01').toUTCString());"],
    ["CHANGELOG.md", "if (Date.now() >= Date.UTC(2027, 0, 1)) it goes"],
  ])("is no matter where nothing is compared, in %s: %s", (path, text) => {
    expect(lines(path, text)).toEqual([]);
  });
});
