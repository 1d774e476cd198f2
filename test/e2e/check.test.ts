/** `antiphon check` and `antiphon init`: the clean room without a run. */
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, makeProject, type Project } from "./support/project.ts";
import { ANTIPHON, eventually, run, start, exitOf } from "./support/program.ts";
import { startStack, type Stack } from "./support/stack.ts";

interface Report {
  checkId: string;
  passed: boolean;
  discovered: boolean;
  files: number;
  checks: { command: string; exitCode: number | null; tail: string }[];
}

let stack: Stack;
let project: Project;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());
afterEach(() => project.remove());

const check = (...args: string[]) => stack.antiphon(["check", ...args], { cwd: project.path });
const report = (...args: string[]) => stack.json<Report>(["check", ...args], { cwd: project.path });

/** What standard error may hold, on a busy machine. */
const WAITS = /^(in the clean room .*\n)*$/;

describe("antiphon check", () => {
  test("judges the work tree as it is, and leaves no run, no record and no ref", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const refs = project.git("show-ref");
    const failed = await check("--", "node", "test.js");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(WAITS);
    expect(failed.stdout).toMatch(/✗ node test\.js {2}exited 1 after .*\n[^]*2 \+ 2 = 0[^]*1 of 1 failed/);
    project.write("add.js", "module.exports = (a, b) => a + b;\n");
    project.write("sub/new.txt", "new\n");
    const passed = await check("--check", "node test.js && cat sub/new.txt");
    expect(passed.code).toBe(0);
    expect(passed.stderr).toMatch(WAITS);
    expect(passed.stdout).toMatch(
      /^✓ node test\.js && cat sub\/new\.txt {2}\d.*\npassed .* with 2 changed files\n$/,
    );
    expect((await report("--head", "--", "node", "test.js")).document).toMatchObject({
      passed: false,
      files: 0,
    });
    expect((await stack.json<{ runs: unknown[] }>(["runs"])).document.runs).toEqual([]);
    expect(project.git("show-ref")).toBe(refs);
  });

  test("lets a person change tests and settings, and takes the check that the changed settings name", async () => {
    project = makeProject({ ...BROKEN_CALCULATOR, "package.json": '{"scripts":{"test":"node test.js"}}\n' });
    expect((await report()).document).toMatchObject({
      passed: false,
      discovered: true,
      checks: [{ command: "npm test" }],
    });
    project.write("test.js", "console.log('changed test');\n");
    project.write("antiphon.yaml", "check: node test.js | grep changed\n");
    expect((await report()).document).toMatchObject({
      passed: true,
      checks: [{ command: "node test.js | grep changed", tail: "changed test\n" }],
    });
  });

  test("has no network, no git repository and no ignored file inside", async () => {
    project = makeProject({ ...BROKEN_CALCULATOR, ".gitignore": "secret\n" });
    project.write("secret", "s3cret\n");
    const probes = ['test -z "$(ls /sys/class/net | grep -v lo)"', "test ! -e secret", "test ! -e .git"];
    const { document } = await report(...probes.flatMap((probe) => ["--check", probe]));
    expect(document.checks.map(({ command, exitCode }) => [command, exitCode])).toEqual(
      probes.map((probe) => [probe, 0]),
    );
  });

  test("refuses a link that leads out of the tree, by its name", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    symlinkSync("/etc/passwd", join(project.path, "outside"));
    const { code, stderr } = await check("--", "true");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error ANT_PATCH_SYMLINK: outside: .*\nremedy: /);
  });

  test("says so if there is no check, and if there is no such image", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const none = await check();
    expect(none).toMatchObject({ code: 1 });
    expect(none.stderr).toContain("error ANT_VERIFY_NO_CHECK");
    const image = await check("--image", "no-such-image:1", "--", "true");
    expect(image.stderr).toMatch(/^error ANT_SANDBOX_IMAGE_\w+: .*\nremedy: /);
  });

  test("tells in lines what takes long: its setup by the command, and how each check ended; JSON tells nothing", async () => {
    project = makeProject({ "antiphon.yaml": "setup: echo fetching; sleep 4\n" });
    expect((await check("--", "true")).stderr).toMatch(
      /^in the clean room \(\d.*\): preparing the environment( for \d+ s)?: echo fetching; sleep 4(: fetching)?$/m,
    );
    const { stdout, stderr } = await check("--check", "echo one", "--check", "sleep 4; exit 3");
    expect(stderr).toMatch(/^in the clean room \(\d.*\): echo one passed, running sleep 4; exit 3$/m);
    expect(stdout).toMatch(/✓ echo one .*\n✗ sleep 4; exit 3 {2}exited 3/);
    expect((await check("--json", "--", "sleep", "3")).stderr).toBe("");
  });

  test("says what helps where its environment cannot be prepared, and names no evidence, since there is none", async () => {
    project = makeProject({ "antiphon.yaml": "setup: echo broken >&2; exit 7\ncheck: 'true'\n" });
    const checked = await check();
    const tried = await stack.antiphon(["init", "--dry-run"], { cwd: project.path });
    for (const { code, stderr } of [checked, tried]) {
      expect({ code, stderr }).toMatchObject({ code: 1 });
      expect(stderr).toMatch(
        /error ANT_ENVIRONMENT_FAILED: .*broken.*\nremedy: Correct the .setup.*--image.*--setup.*--no-setup/,
      );
      expect(stderr).not.toMatch(/evidence|<runId>/);
    }
  });

  test("ends at its time budget, and removes its sandbox when it is interrupted", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const slow = await report("--time-budget", "2", "--", "sleep", "60");
    expect(slow.document.checks).toMatchObject([{ exitCode: null }]);
    const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway };
    const others = await sandboxes(); // Of other stacks on this machine.
    const child = start(process.execPath, [ANTIPHON, "check", "--", "sleep", "600"], {
      cwd: project.path,
      env,
    });
    const own = await eventually("the sandbox runs", async () => {
      const added = (await sandboxes()).filter((name) => !others.includes(name));
      return added.length > 0 ? added : null;
    });
    child.kill("SIGINT");
    await exitOf(child);
    await eventually("the sandbox is gone", async () => {
      const left = await sandboxes();
      return own.some((name) => left.includes(name)) ? null : true;
    });
  });
});

/** The containers of checks on this machine. */
async function sandboxes(): Promise<string[]> {
  const filter = ["--filter", "name=-chk_", "--format", "{{.Names}}"];
  const { stdout } = await run("docker", ["ps", ...filter]);
  return stdout.split("\n").filter((name) => name !== "");
}

describe("antiphon init", () => {
  const init = (...args: string[]) => stack.antiphon(["init", ...args], { cwd: project.path });
  const scripts = { test: "node -e 0", lint: "echo unclean; exit 3" };

  test("goes on with the ecosystem's own tests where `make test` names a program that the image lacks", async () => {
    project = makeProject({
      Makefile: "test:\n\tno-such-runner ./...\n",
      "test_sum.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_sum(self): pass\n",
    });
    const { code, stderr } = await init();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toMatch(/✗ make test {2}exited 2[^]*✓ python3 -m unittest discover -q/);
    const text = readFileSync(join(project.path, "antiphon.yaml"), "utf8");
    expect(text).toMatch(
      /^checks:\n {2}- python3 -m unittest discover -q\n# These do not pass:\n# {3}- make test$/m,
    );
  });

  test("tries what it finds on the last commit, and writes what passed; it replaces a file only if told to", async () => {
    project = makeProject({ "package.json": JSON.stringify({ scripts }) });
    const first = await init();
    expect(first.code, first.stderr).toBe(0);
    expect(first.stderr).toMatch(/✓ npm test {2}\d[^]*^✗ npm run lint {2}exited 3 after/m);
    const file = join(project.path, "antiphon.yaml");
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(/^checks:\n {2}- npm test\n# These do not pass:\n# {3}- npm run lint$/m);
    expect((await stack.antiphon(["validate", file])).code).toBe(0);

    const again = await init();
    expect(again).toMatchObject({ code: 2 });
    expect(again.stderr).toMatch(/^error ANT_PROJECT_FILE_EXISTS: .*\nremedy: .*--force/);
    project.write("antiphon.yaml", "check: false\n");
    expect((await init("--dry-run")).stdout).toContain("- npm test");
    expect(readFileSync(file, "utf8")).toBe("check: false\n");
    expect((await init("--force")).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("- npm test");
  });

  test("exits with 1 if nothing passes, and still writes a file that explains it", async () => {
    project = makeProject(BROKEN_CALCULATOR);
    const { code, document } = await stack.json<{ written: string; found: unknown[] }>(["init"], {
      cwd: project.path,
    });
    expect({ code, ...document }).toMatchObject({ code: 1, found: [] });
    expect(existsSync(document.written)).toBe(true);
  });

  test("says how to add a module of Python that the sandbox lacks, instead of a run that could not mend it", async () => {
    project = makeProject({ "antiphon.yaml": "check: python3 -m pytest -q\n", "add.py": "x = 1\n" });
    const tried = await init("--force");
    expect({ code: tried.code, stderr: tried.stderr }).toMatchObject({ code: 1 });
    expect(tried.stderr).toMatch(/`python3 -m pytest -q` needs pytest.*Commit a requirements\.txt/);
    expect(tried.stderr).not.toContain("if that failure is what to fix");
    const checked = await check("--head");
    expect(checked.code).toBe(1);
    expect(checked.stderr).toMatch(/^error ANT_VERIFY_NO_PROGRAM: .*pytest.*\nremedy: .*requirements\.txt/m);
  });

  test("says how to start a run on a test that ran and failed, and names what passed", async () => {
    const red = { test: "exit 1", build: "node -e 0" };
    project = makeProject({ "package.json": JSON.stringify({ scripts: red }) });
    const { code, stderr } = await init();
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toContain("no test passes on the last commit; `npm run build` passed");
    expect(stderr).toMatch(/if that failure is what to fix: antiphon run "<intent>" --check 'npm test'/);
  });
});
