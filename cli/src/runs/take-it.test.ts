import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunSummary } from "./summary.ts";
import { takeIt } from "./take-it.ts";

let dir: string;
let repo: string;
const git = (...args: string[]): void => {
  const who = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  execFileSync("git", [...who, ...args], { stdio: "ignore" });
};
const run = (over: Partial<RunSummary> = {}): RunSummary =>
  ({
    status: "succeeded",
    repo,
    branch: "antiphon/run_a",
    landedOn: "refs/heads/antiphon/run_a",
    tasks: [],
    ...over,
  }) as RunSummary;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-take-"));
  repo = join(dir, "it's here");
  git("init", "--quiet", repo);
  git("-C", repo, "commit", "--quiet", "--allow-empty", "-m", "base");
  git("-C", repo, "checkout", "--quiet", "-b", "antiphon/run_a");
  git("-C", repo, "commit", "--quiet", "--allow-empty", "-m", "done");
  git("-C", repo, "checkout", "--quiet", "-");
  git("clone", "--quiet", "--bare", repo, join(dir, "bare.git"));
});
afterAll(() => rmSync(dir, { recursive: true }));

test("the suggested command works: a merge in a work tree, a fetch from a bare repository", () => {
  const merge = takeIt(run())!;
  expect(merge).toBe(`git -C '${repo.replace("'", `'\\''`)}' merge antiphon/run_a`);
  const bare = join(dir, "bare.git");
  expect(takeIt(run({ repo: bare }))).toBe(`git fetch ${bare} antiphon/run_a`);
  execFileSync("sh", ["-c", merge], { stdio: "ignore" });
  expect(takeIt(run())).toBeNull(); // Merged by now.
});

test("a run whose commits the branch of --land did not take still says how to take them", () => {
  const repo = "https://git.example.com/acme/app.git";
  const tasks = [{ commit: "c0ffee" }, { commit: null }] as unknown as RunSummary["tasks"];
  expect(takeIt(run({ repo, status: "failed", tasks: tasks.slice(0, 1) }))).toBe(
    `git fetch ${repo} antiphon/run_a`,
  );
  expect(takeIt(run({ repo, status: "failed", tasks }))).toBeNull();
});

test("no command is suggested if none would work", () => {
  expect(takeIt(run({ landedOn: "refs/heads/main" }))).toBeNull();
  expect(takeIt(run({ status: "failed" }))).toBeNull();
  expect(takeIt(run({ repo: join(dir, "elsewhere") }))).toBeNull();
  expect(takeIt(run({ branch: "antiphon/run_gone", landedOn: "refs/heads/antiphon/run_gone" }))).toBeNull();
});
