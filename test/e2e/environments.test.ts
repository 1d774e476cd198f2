/** Repositories whose checks need installed packages, as they are: the real package managers and the real registries. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registryAccess } from "../support/package-registries.ts";
import { makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

interface Summary {
  runId: string;
  status: string;
  code: string | null;
  message: string;
}

let stack: Stack;
let directory: string;
const projects: Project[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-environments-"));
  const npm = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const hosts = [new URL(npm).hostname, "pypi.org", "files.pythonhosted.org"];
  stack = await startStack({ env: await registryAccess(directory, hosts) });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
  rmSync(directory, { recursive: true, force: true });
});

function project(files: Record<string, string>): Project {
  const made = makeProject(files);
  projects.push(made);
  return made;
}

/** A module that needs a package from the registry; `npm test` fails on it. */
function npmProject(): Project {
  const made = project({
    "package.json": JSON.stringify({
      name: "app",
      version: "1.0.0",
      scripts: { test: "node test.js" },
      dependencies: { ms: "2.1.3" },
    }),
    ".gitignore": "node_modules/\n",
    "app.js": 'module.exports = (days) => require("ms")(`${days}h`);\n',
    "test.js":
      'const n = require("./app.js")(1);\nif (n !== 86400000) throw new Error(`one day is ${n} ms`);\n',
  });
  execFileSync("npm", ["install", "--package-lock-only", "--no-audit", "--no-fund"], { cwd: made.path });
  made.commitAll("Lock the dependencies");
  return made;
}

const FIX = "sed -i 's/}h/}d/' app.js";
const run = (repo: Project, ...args: string[]) =>
  stack.json<Summary>(["run", "Fix the length of a day", "--repo", repo.path, ...args]);

/** All paths of a run's evidence, as text. */
async function filesOf(runId: string): Promise<string> {
  return JSON.stringify((await stack.http("GET", `/runs/${runId}/evidence`)).body);
}

test("npm: packages are installed once, for the attempt and for the clean room, and the change lands", async () => {
  const repo = npmProject();
  const { document } = await run(repo, "--command", `${FIX} && npm test`);
  expect(document).toMatchObject({ status: "succeeded", code: null });
  expect(repo.landed(document.runId)).toHaveLength(1);
  expect(repo.git("show", "--stat", "--format=", `antiphon/${document.runId}`)).not.toContain("node_modules");
  expect(await filesOf(document.runId)).toContain("environment/setup.log");
  const evidence = (path: string) => stack.antiphon(["evidence", "get", document.runId, "T-001", "1", path]);
  const report = JSON.parse((await evidence("environment/report.json")).stdout) as Record<string, unknown>;
  expect(report).toMatchObject({ commands: ["npm ci"], found: ["package-lock.json: npm ci"], cached: true });
  expect((await evidence("environment/setup.log")).stdout).toContain("added 1 package");
  const packages = JSON.parse((await evidence("provenance/packages.json")).stdout) as unknown[];
  expect(packages).toEqual([
    expect.objectContaining({
      name: "ms",
      version: "2.1.3",
      digest: expect.stringMatching(/^sha512-/) as unknown,
    }),
  ]);
  expect((await evidence("environment/requests.jsonl")).stdout).toContain("ms-2.1.3.tgz");
});

test("what an attempt writes into installed packages reaches neither the clean room nor another run", async () => {
  const repo = npmProject();
  const poison =
    "echo 'module.exports = () => 86400000' > node_modules/ms/index.js && npm test && touch note.txt";
  const poisoned = await run(repo, "--command", poison, "--attempts", "1");
  expect(poisoned.document).toMatchObject({ status: "failed", code: "ANT_VERIFY_CHECK_FAILED" });
  const clean = await run(repo, "--command", `${FIX} && npm test`);
  expect(clean.document).toMatchObject({ status: "succeeded" });
});

test("a granted change of the lock file is checked in an environment of its own, prepared from the changed files", async () => {
  const repo = npmProject();
  const older = ["install", "--package-lock-only", "--save-exact", "--no-audit", "--no-fund", "ms@2.1.2"];
  execFileSync("npm", older, { cwd: repo.path });
  const patch = join(directory, "older.patch");
  writeFileSync(patch, repo.git("diff", "--binary"));
  repo.git("checkout", "--quiet", "--", ".");
  const check = `grep -q '"version": "2.1.2"' node_modules/ms/package.json`;
  const grants = ["--grant", "package.json", "--grant", "package-lock.json"];
  const { document } = await run(repo, "--patch", patch, "--check", check, ...grants);
  expect(document).toMatchObject({ status: "succeeded", code: null });
  const files = await filesOf(document.runId);
  expect(files).toContain("environment/report.json");
  const keys = [...files.matchAll(/environment\/report\.json/g)];
  expect(keys.length, files).toBeGreaterThan(1);
});

test("Python: requirements go into a virtual environment that checks find", async () => {
  const repo = project({
    "requirements.txt": "six==1.16.0\n",
    "app.py": "import six\n\ndef day():\n    return six.integer_types[0](86401)\n",
    "tests/test_app.py":
      "import unittest\nfrom app import day\n\nclass Day(unittest.TestCase):\n    def test_day(self):\n        self.assertEqual(day(), 86400)\n",
    "tests/__init__.py": "",
  });
  const check = "python3 -m unittest discover -q";
  const fix = "sed -i 's/86401/86400/' app.py && " + check;
  const { document } = await run(repo, "--command", fix, "--check", check);
  expect(document).toMatchObject({ status: "succeeded", code: null });
});

test("a setup that fails ends the run without an attempt, is not tried again by itself, and a retry does", async () => {
  const repo = project({
    "antiphon.yaml": "setup: cat /proc/sys/kernel/random/uuid; exit 7\ncheck: 'true'\n",
    "a.txt": "a\n",
  });
  const failing = async (...args: string[]): Promise<{ runId: string; log: string }> => {
    const begun = await stack.json<Summary>(args);
    const { document } = await stack.json<Summary>(["wait", begun.document.runId]);
    expect(document).toMatchObject({ status: "failed", code: "ANT_ENVIRONMENT_FAILED" });
    const { runId } = document;
    const place = [runId, "T-001", "1", "--verdict", "environment/setup.log"];
    const { stdout } = await stack.antiphon(["evidence", "get", ...place]);
    expect(stdout).toMatch(/^[0-9a-f-]{36}$/m);
    const logs = await stack.antiphon(["logs", runId]); // The command that the remedy names.
    expect(logs.stdout).toContain(/[0-9a-f-]{36}/.exec(stdout)![0]);
    return { runId, log: stdout };
  };
  const change = ["--command", "echo b > a.txt", "--allow-unproven"];
  const first = await failing("run", "Write b", "--repo", repo.path, ...change);
  const shown = await stack.antiphon(["get", first.runId]);
  expect(shown.stdout).toContain("ANT_ENVIRONMENT_FAILED");
  expect((await failing("run", "Write b again", "--repo", repo.path, ...change)).log).toBe(first.log);
  expect((await failing("retry", first.runId)).log).not.toBe(first.log);
  const none = await run(repo, ...change, "--no-setup");
  expect(none.document).toMatchObject({ status: "succeeded" });
});

test("an image without the package manager is named as the reason", async () => {
  const repo = project({ "go.mod": "module x\n\nrequire y.example/z v1.0.0\n", "a.txt": "a\n" });
  const options = ["--check", "grep -q b a.txt", "--image", "default"];
  const { document } = await run(repo, "--command", "echo b > a.txt", ...options);
  expect(document).toMatchObject({ status: "failed", code: "ANT_ENVIRONMENT_FAILED" });
  expect(document.message).toContain("the image has no go");
});

test("a setup that takes a while is told about in lines, with the last one of its log, made visible", async () => {
  const repo = project({
    "antiphon.yaml": "setup: printf 'fetching \\033]0;x\\007 packages\\n'; sleep 5\ncheck: grep -q b a.txt\n",
    "a.txt": "a\n",
  });
  const told = await stack.antiphon([
    ...["run", "Write b", "--repo", repo.path, "--command", "echo b > a.txt", "--allow-unproven"],
  ]);
  expect(told.stdout).toMatch(/T-001 +preparing the environment for \d+ s: printf /);
  expect(told.stdout).toContain("; sleep 5: fetching \\x1b]0;x\\x07 packages");
  expect(told.code).toBe(0);
});
