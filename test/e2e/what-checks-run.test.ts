/** A change may touch the source under test, but not the programs that the check runs. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Project } from "./support/project.ts";
import { projectOfTest } from "./support/project-of-test.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  code: string | null;
  commit: string | null;
  tasks: { verdict: string; code: string | null; message: string }[];
}

let stack: Stack;

beforeAll(async () => {
  stack = await startQuickStack();
});
afterAll(() => stack.stop());

async function change(repo: Project, command: string, ...more: string[]): Promise<Summary> {
  const goal = "Fix the failing date parser";
  const args = ["run", goal, "--repo", repo.path, "--command", command, "--attempts", "1", ...more];
  return (await stack.json<Summary>(args)).document;
}

/** Swaps day and month, and fails when it is run. */
const DATES = {
  "src/parse-date.js": [
    'const parse = (text) => { const [m, d] = text.split("."); return { d: Number(d), m: Number(m) }; };',
    'if (parse("24.12").d !== 24) throw new Error("24.12 is a 24th");',
    "",
  ].join("\n"),
};
const FIX = "sed -i 's/\\[m, d\\]/[d, m]/' src/parse-date.js";

test("a fix of the source that the check names lands, because the check fails without it", async () => {
  const repo = projectOfTest(DATES);
  const done = await change(repo, FIX, "--check", "node src/parse-date.js");
  expect(done, JSON.stringify(done)).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
  expect(repo.landed(done.runId)).toEqual([done.commit]);
  const { stdout } = await stack.antiphon(["evidence", "get", done.runId, "T-001", "1", "--verdict"]);
  expect(stdout).toContain("src/parse-date.js is run by the check");
});

test("a source that the check names stays protected if the check also passes without the change", async () => {
  const repo = projectOfTest({ "src/parse-date.js": "console.log(1);\n" });
  const done = await change(
    repo,
    "echo 'process.exit(0);' > src/parse-date.js",
    "--check",
    "node src/parse-date.js",
    "--workflow",
    "BUILD",
    ...["--attempts", "3"],
  );
  // The commands would make the same change again, so it is made once, and the verdict on it stands.
  const refused = { verdict: "FAIL", code: "ANT_PATCH_PROTECTED", attempts: 1 };
  expect(done).toMatchObject({ status: "failed", tasks: [refused] });
  expect(repo.landed(done.runId)).toEqual([]);
});

test.each([
  [
    "a script that npm test runs",
    {
      "package.json": '{"scripts":{"test":"node scripts/check.js"}}\n',
      "scripts/check.js": 'if (require("../add.js")(2, 2) !== 4) process.exit(1);\n',
      "add.js": "module.exports = (a, b) => a - b;\n",
    },
    "npm test",
    "echo > scripts/check.js",
    "npm test -> package.json scripts.test -> scripts/check.js",
  ],
  [
    "a script that the included makefile runs",
    {
      Makefile: "include build/rules.inc\n",
      "build/rules.inc": "test:\n\tsh tools/verify.sh\n",
      "tools/verify.sh": 'test "$(cat answer)" = 42\n',
      answer: "41\n",
    },
    "make test",
    "echo > tools/verify.sh",
    "make test -> Makefile -> build/rules.inc -> tools/verify.sh",
  ],
])("a run cannot change %s, which decides its verdict", async (_name, files, check, cheat, way) => {
  const repo = projectOfTest(files);
  const done = await change(repo, cheat, "--check", check);
  expect(done).toMatchObject({ status: "failed", tasks: [{ code: "ANT_PATCH_PROTECTED" }] });
  expect(JSON.stringify(done)).toContain(way);
  expect(repo.landed(done.runId)).toEqual([]);
});

test("a source that overwrites the next test file while the first one runs is caught, and the file is named", async () => {
  const repo = projectOfTest({
    "package.json": '{"scripts":{"test":"node --test --test-concurrency=1 test/*.test.js"}}\n',
    "src/a.js": "module.exports = () => 2;\n",
    "test/a.test.js":
      "require('node:test')('a', () => require('node:assert').equal(require('../src/a.js')(), 1));\n",
    "test/b.test.js":
      "require('node:test')('b', () => require('node:assert').equal(require('../src/a.js')(), 1));\n",
  });
  const cheat = [
    "const fs = require('node:fs');",
    "for (const name of ['a', 'b']) fs.writeFileSync(__dirname + `/../test/${name}.test.js`, '');",
    "process.exit(0);",
  ].join(" ");
  const done = await change(
    repo,
    `echo "${cheat.replaceAll("`", "\\`").replaceAll("$", "\\$")}" > src/a.js`,
    "--check",
    "npm test",
  );
  expect(done, JSON.stringify(done)).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "FAIL", code: "ANT_VERIFY_TAMPERED" }],
  });
  expect(done.tasks[0]?.message).toContain("test/b.test.js was changed while the check ran");
  expect(repo.landed(done.runId)).toEqual([]);
});

test("a check that tosses a coin lands in none of eight runs", async () => {
  const repo = projectOfTest({ "src/a.js": "module.exports = 1;\n" });
  const coin = "echo 'process.exit(Math.random() < 0.5 ? 1 : 0);' > src/a.js";
  for (let i = 0; i < 8; i += 1) {
    const done = await change(
      repo,
      coin,
      "--check",
      'node -e "require(\\"./src/a.js\\")"',
      "--workflow",
      "BUILD",
    );
    expect(done.status, JSON.stringify(done)).toBe("failed");
  }
});

const UNPROVEN = { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_PROVES_NOTHING" };

test.each(["true", "echo ok", "test -d ."])(
  "the check `%s` passes without any file, so no change lands by it alone",
  async (check) => {
    const repo = projectOfTest({ "a.txt": "a\n" });
    const says = ["echo b > a.txt", "--check", check, "--workflow", "BUILD"] as const;
    const done = await change(repo, ...says);
    expect(done).toMatchObject({ status: "failed", tasks: [UNPROVEN] });
    expect(done.tasks[0]?.message).toContain(`${check} passes`);
    expect(done.tasks[0]?.message).toContain(
      "also passes without any file: it does not depend on the change",
    );
    expect(repo.landed(done.runId)).toEqual([]);
  },
);

test("a change whose check passes without any file lands by grant, and its verdict says what is not proven", async () => {
  const repo = projectOfTest({ "a.txt": "a\n" });
  const says = ["echo b > a.txt", "--check", "true", "--workflow", "BUILD"] as const;
  const granted = await change(repo, ...says, "--allow-unproven");
  expect(granted).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
  const { stdout } = await stack.antiphon(["evidence", "get", granted.runId, "T-001", "1", "--verdict"]);
  expect(stdout).toContain("it does not depend on the change, so it proves nothing about it");
});

test("a check that reads no file of the change says so, and lands nothing where proof is demanded", async () => {
  const repo = projectOfTest({ "a.txt": "a\n", "b.txt": "b\n" });
  const says = ["echo b > a.txt", "--check", "test -s b.txt", "--workflow", "BUILD"] as const;
  const lax = await change(repo, ...says);
  expect(lax, JSON.stringify(lax)).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
  const { stdout: got } = await stack.antiphon(["get", lax.runId]);
  expect(got).toContain("does not depend on the change");
  expect(got).toContain(
    "--require-proof regression, or requireProof in the policy, demands a check that does",
  );
  expect(lax.tasks).toMatchObject([
    { proves: "nothing", message: expect.stringContaining("--require-proof regression") as string },
  ]);
  const { stdout } = await stack.antiphon(["evidence", "get", lax.runId, "T-001", "1", "--verdict"]);
  expect(stdout).toContain("passes without the files of the change: it does not depend on the change");
  expect(repo.git("show", "--no-patch", "--format=%B", lax.commit ?? "")).toContain(
    "Antiphon-Proves: nothing",
  );
  const strict = await change(repo, ...says, "--require-proof", "regression");
  expect(strict).toMatchObject({ status: "failed", tasks: [UNPROVEN] });
});

/** A suite that knows src/a.js alone. */
const SUITE = {
  "package.json": '{"scripts":{"test":"node --test test/*.test.js"}}\n',
  "src/a.js": "module.exports = 1;\n",
  "src/dead.js": "module.exports = 3;\n",
  "test/a.test.js": "require('node:test')('a', () => require('node:assert').ok(require('../src/a.js')));\n",
};
const ADDED = "echo 'module.exports = 2;' > src/b.js";
const BY_NPM = ["--check", "npm test", "--workflow", "BUILD"] as const;
/** What npm starts; npm itself costs twice as much. */
const BUILD = ["--check", "node --test test/*.test.js", "--workflow", "BUILD"] as const;

test("a new source that no test uses does not land by a green suite, and lands by grant", async () => {
  const repo = projectOfTest(SUITE);
  const done = await change(repo, ADDED, ...BY_NPM);
  expect(done, JSON.stringify(done)).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "UNVERIFIABLE", code: "ANT_VERIFY_UNTESTED" }],
  });
  expect(done.tasks[0]?.message).toContain("nothing that it runs uses src/b.js: add a test that does");
  expect(repo.landed(done.runId)).toEqual([]);
  const granted = await change(repo, ADDED, ...BUILD, "--allow-unproven");
  expect(granted).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
});

test("an attempt whose source no test uses is followed by one that is told, and lands with its test", async () => {
  const repo = projectOfTest(SUITE);
  const tested = "require('node:test')('b', () => require('node:assert').equal(require('../src/b.js'), 2));";
  // The brief holds this command, too, so the pattern does not match its own text.
  const told = 'case "$(cat)" in *"uses src/b"[.]"js: add a test"*)';
  const agent = `${told} echo "${tested}" > test/b.test.js ;; esac; ${ADDED}`;
  const args = ["run", "Add b", "--repo", repo.path, "--command", agent, "--attempts", "2", ...BUILD];
  const { document: done } = await stack.json<Summary>(args);
  expect(done, JSON.stringify(done)).toMatchObject({
    status: "succeeded",
    tasks: [{ verdict: "PASS", epoch: 2, proves: "regression" }],
  });
});

test.each([
  ["dead code goes", "rm src/dead.js", "regression"],
  ["a document changes", "echo '# a' > README.md", "nothing"],
  [
    "a tested source is taken apart",
    "echo 1 > src/one.json; echo 'module.exports = require(`./one.json`);' > src/a.js",
    "regression",
  ],
])("a change lands by the suite that stays green: %s", async (_, edit, proves) => {
  const done = await change(projectOfTest(SUITE), edit, ...BUILD);
  expect(done, JSON.stringify(done)).toMatchObject({
    status: "succeeded",
    tasks: [{ verdict: "PASS", proves }],
  });
});

test("a change of a source that its check reads lands as before, although the check passes without the change", async () => {
  const repo = projectOfTest({ "src/a.js": "module.exports = 1;\n" });
  const check = 'node -e "require(\\"./src/a.js\\")"';
  const edit = "echo 'module.exports = 2;' > src/a.js";
  const done = await change(repo, edit, "--check", check, "--workflow", "BUILD");
  expect(done, JSON.stringify(done)).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
});

test("a file beside the tests that hides what the change breaks is found by trying without it", async () => {
  const repo = projectOfTest({
    "check.py":
      "import sys; sys.path.insert(0, 'test/plugins')\nimport a\ntry:\n  import extra\nexcept ImportError:\n  pass\nsys.exit(0 if a.value == 1 else 1)\n",
    "a.py": "value = 1\n",
  });
  const cheat =
    "echo 'value = 2' > a.py; mkdir -p test/plugins; printf 'import a\\na.value = 1\\n' > test/plugins/extra.py";
  const done = await change(repo, cheat, "--check", "python3 check.py", "--workflow", "BUILD");
  expect(done, JSON.stringify(done)).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "FAIL", code: "ANT_VERIFY_MASKED" }],
  });
});

const NODE_TEST = [
  "const { test } = require('node:test');",
  "const { value } = require('../src/a.js');",
  "const { equal } = require('node:assert');",
  "test('is one', () => equal(value, 1));",
  "test('is a number', () => equal(typeof value, 'number'));",
  "",
].join("\n");
const UNITTEST = [
  "import unittest, a",
  "class A(unittest.TestCase):",
  "    def test_one(self): self.assertEqual(a.value, 1)",
  "    def test_number(self): self.assertIsInstance(a.value, int)",
  "",
].join("\n");

test.each([
  [
    "Node's",
    { "src/a.js": "exports.value = 2;\n", "test/a.test.js": NODE_TEST },
    "node --test test/*.test.js",
    "echo 'process.exit(0);' > src/a.js",
    "test/a.test.js ended before it ran the tests",
  ],
  [
    "Python's",
    { "a.py": "value = 2\n", "test_a.py": UNITTEST },
    "python3 -m unittest",
    "printf 'import os\\nos._exit(0)\\n' > a.py",
    "without the report of unittest",
  ],
])(
  "code that ends the process of %s test runner is caught by the runner's report",
  async (_name, files, check, cheat, says) => {
    const repo = projectOfTest(files);
    const done = await change(repo, cheat, "--check", check);
    expect(done, JSON.stringify(done)).toMatchObject({
      status: "failed",
      tasks: [{ verdict: "FAIL", code: "ANT_VERIFY_UNREPORTED" }],
    });
    expect(done.tasks[0]?.message).toContain(says);
    expect(repo.landed(done.runId)).toEqual([]);
    const honest = await change(repo, "sed -i s/2/1/ src/a.js a.py 2>/dev/null; true", "--check", check);
    expect(honest, JSON.stringify(honest)).toMatchObject({
      status: "succeeded",
      tasks: [{ verdict: "PASS" }],
    });
  },
);

test("an added test cannot hide what the sources break, and an honest one lands", async () => {
  const files = { "a.py": "value = 1\n", "test_a.py": UNITTEST };
  const patches = "printf 'import a\\na.value = 1\\n' > test_0.py";
  const repo = projectOfTest(files);
  const cheat = `echo 'value = 2' > a.py; ${patches}`;
  const done = await change(repo, cheat, "--check", "python3 -m unittest", "--workflow", "BUILD");
  expect(done, JSON.stringify(done)).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "FAIL", code: "ANT_VERIFY_MASKED" }],
  });
  const honest = `echo 'more = 2' >> a.py; printf 'import unittest, a\\nclass B(unittest.TestCase):\\n    def test_more(self): self.assertEqual(a.more, 2)\\n' > test_b.py`;
  const landed = await change(repo, honest, "--check", "python3 -m unittest", "--workflow", "BUILD");
  expect(landed, JSON.stringify(landed)).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
});

test("a new test that also passes on the sources of the base proves nothing, and tests alone land as what they are", async () => {
  const repo = projectOfTest({ "a.py": "value = 1\n", "test_a.py": UNITTEST });
  const build = ["--check", "python3 -m unittest", "--workflow", "BUILD"] as const;
  const testOf = (assertion: string): string =>
    `printf 'import unittest, a\\nclass B(unittest.TestCase):\\n    def test_b(self): ${assertion}\\n' > test_b.py`;
  const vacuous = await change(repo, `echo '# a' >> a.py; ${testOf("self.assertTrue(a)")}`, ...build);
  expect(vacuous, JSON.stringify(vacuous)).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "UNVERIFIABLE", code: "ANT_VERIFY_OWN_TESTS" }],
  });
  expect(vacuous.tasks[0]?.message).toContain("own test_b.py it passes on the sources of the base, too");
  expect(repo.landed(vacuous.runId)).toEqual([]);
  const alone = await change(repo, testOf("self.assertEqual(a.value, 1)"), ...build);
  expect(alone, JSON.stringify(alone)).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
  expect(alone.tasks[0]?.message).toContain("tests alone (test_b.py), which describe what is there");
});

test("data that only a test knows cannot be bent to a broken source, and may change beside an honest one", async () => {
  const files = {
    "src/vat.js": "module.exports = (net) => net * 2;\n",
    "data/amounts.json": "[[100, 200], [50, 100]]\n",
    "src/names.json": '{"title": "VAT"}\n',
    "src/title.js": 'module.exports = require("./names.json").title;\n',
    "test/vat.test.js": [
      "const { test } = require('node:test');",
      "for (const [net, gross] of require('../data/amounts.json'))",
      "  test(`${net}`, () => require('node:assert').equal(require('../src/vat.js')(net), gross));",
      "",
    ].join("\n"),
  };
  const repo = projectOfTest(files);
  const build = ["--check", "node --test test/*.test.js", "--workflow", "BUILD"] as const;
  const bent = await change(
    repo,
    "sed -i s/2/3/ src/vat.js; echo '[[100, 300], [50, 150]]' > data/amounts.json",
    ...build,
  );
  expect(bent, JSON.stringify(bent)).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "FAIL", code: "ANT_VERIFY_MASKED" }],
  });
  expect(bent.tasks[0]?.message).toContain("data/amounts.json");
  const honest = await change(
    repo,
    "echo '// gross' >> src/vat.js; sed -i s/VAT/Tax/ src/names.json",
    ...build,
  );
  expect(honest, JSON.stringify(honest)).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
});

test("data whose name only the run of the check shows cannot be bent to a broken source, and may change beside an honest one", async () => {
  const repo = projectOfTest({
    "src/vat.js": "module.exports = (net) => net * 2;\n",
    "amounts/one": "100 200\n",
    "amounts/unread": "no check opens it\n",
    "test/vat.test.js": [
      "const { readFileSync } = require('node:fs');",
      "const place = [__dirname, '..', ['am', 'ounts'].join(''), ['o', 'ne'].join('')].join('/');",
      "const [net, gross] = readFileSync(place, 'utf8').split(' ').map(Number);",
      "require('node:test')('vat', () => require('node:assert').equal(require('../src/vat.js')(net), gross));",
      "",
    ].join("\n"),
  });
  const check = ["--check", "node --test test/*.test.js"] as const;
  const bend = "sed -i s/2/3/ src/vat.js; echo '100 300' > amounts/one";
  const bent = await change(repo, bend, ...check, "--workflow", "BUILD");
  expect(bent, JSON.stringify(bent)).toMatchObject({
    status: "failed",
    tasks: [{ verdict: "FAIL", code: "ANT_VERIFY_MASKED" }],
  });
  expect(bent.tasks[0]?.message).toContain("amounts/one");
  const build = "sed -i 's/net . 2/2 * net/' src/vat.js; echo changed > amounts/unread";
  const honest = await change(repo, build, ...check, "--workflow", "BUILD");
  expect(honest, JSON.stringify(honest)).toMatchObject({ status: "succeeded", tasks: [{ verdict: "PASS" }] });
});
