/** The scripts of git tasks, run by a real shell and a real git in a repository as a sandbox has it. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GitAction } from "@antiphon/contracts";
import { afterEach, expect, test } from "vitest";
import { gitTask } from "../../../services/associate/src/agents/git-task.ts";
import { dispatchOf } from "../../../services/associate/src/testing/dispatch.fixture.ts";
import { cleanUpRepos, makeRepo, type TestRepo } from "../../support/repo.ts";

afterEach(cleanUpRepos);

/** `to`: the commit that the task goes back to. */
function ran(
  { path }: TestRepo,
  git_action: GitAction,
  to: string,
  scope: string[] = [],
  scope_except: string[] = [],
) {
  const task = { ...dispatchOf().task, kind: "git" as const, git_action, base_ref: to };
  const [step] = gitTask(dispatchOf({ task, scope, scope_except })).steps;
  const [program = "", ...args] = step?.argv ?? [];
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", LC_ALL: "C", ...step?.env };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: path, env, encoding: "utf8" });
  return { status, stdout, stderr };
}

const changed = (repo: TestRepo): string[] => repo.git("status", "--porcelain").split("\n").filter(Boolean);

function moved(): TestRepo {
  return makeRepo({
    files: { "src/a.ts": "one\n", "src/b.js": "one\n", "docs/[id].md": "one\n" },
    commits: [{ files: { "src/a.ts": "two\n", "src/new.tsx": "new\n", "docs/[id].md": "two\n" } }],
  });
}

test("git_checkout brings what is there, though other patterns match nothing or only files that came later", () => {
  const repo = moved();
  const [first = ""] = repo.commits;
  const done = ran(repo, "git_checkout", first, [
    "src/**/*.{ts,tsx}",
    "docs/[id].md",
    "gone/",
    "src/new.tsx",
  ]);
  expect(done).toMatchObject({ status: 0, stderr: "" });
  expect(done.stdout).toContain("2 files changed");
  expect(changed(repo)).toEqual(["M  docs/[id].md", "M  src/a.ts"]);
  expect(readFileSync(join(repo.path, "src/a.ts"), "utf8")).toBe("one\n");
  expect(existsSync(join(repo.path, "src/new.tsx"))).toBe(true);
});

test("git_checkout leaves the files alone that the plan does not let its task change", () => {
  const repo = moved();
  const [first = ""] = repo.commits;
  const except = ["docs/", "src/*.{js,py}"];
  expect(ran(repo, "git_checkout", first, ["docs/**", "src/"], except)).toMatchObject({
    ...{ status: 0, stderr: "" },
  });
  expect(changed(repo)).toEqual(["M  src/a.ts"]);
  expect(ran(repo, "git_checkout", first, [], ["**"])).toMatchObject({
    ...{ status: 3, stderr: `no file of ${first} matches :(exclude,glob)** .\n` },
  });
});

test("git_checkout without files of its own brings all, and changes none that came later", () => {
  const repo = moved();
  expect(ran(repo, "git_checkout", repo.commits[0] ?? "")).toMatchObject({ status: 0, stderr: "" });
  expect(changed(repo)).toEqual(["M  docs/[id].md", "M  src/a.ts"]);
});

test("git_checkout fails, and says what was asked for, if no pattern matches a file of the commit", () => {
  const repo = moved();
  const [first = ""] = repo.commits;
  expect(ran(repo, "git_checkout", first, ["gone/**", "src/new.tsx"])).toMatchObject({
    ...{ status: 3, stdout: "" },
    stderr: `no file of ${first} matches :(glob)gone/** :(glob)src/new.tsx\n`,
  });
  expect(changed(repo)).toEqual([]);
});

test("git_checkpoint stands beside files that the environment has prepared, and not on changed ones", () => {
  const repo = moved();
  repo.write({ "pkg.egg-info/PKG-INFO": "Name: pkg\n" });
  const done = ran(repo, "git_checkpoint", repo.head);
  expect(done).toMatchObject({ status: 0, stderr: "" });
  expect(done.stdout).toContain(`commit ${repo.head}\ntree `);
  repo.write({ "src/a.ts": "three\n" });
  const refused = ran(repo, "git_checkpoint", repo.head);
  expect(refused.status).toBe(3);
  expect(refused.stderr).toContain("the files are not those of the commit");
});
