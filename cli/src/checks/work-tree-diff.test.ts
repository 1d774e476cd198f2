import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkTextsOf } from "./repository-files.ts";
import { workTreeDiff } from "./work-tree-diff.ts";

let repo: string;
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", repo, "-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
    encoding: "utf8",
  });
const write = (name: string, content: string | Buffer): void => writeFileSync(join(repo, name), content);

beforeEach(() => {
  repo = realpathSync(mkdtempSync(join(tmpdir(), "antiphon-diff-")));
  git("init", "--quiet", "--initial-branch=main");
  write("kept", "kept\n");
  write("changed", "before\n");
  write("deleted", "gone\n");
  write(".gitignore", "ignored\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Begin");
});
afterEach(() => rmSync(repo, { recursive: true, force: true }));

/** Applies the patch to the last commit, in a clone, and returns the names and contents. */
function applied(patch: string): string {
  const clone = mkdtempSync(join(tmpdir(), "antiphon-applied-"));
  try {
    execFileSync("git", ["clone", "--quiet", repo, clone]);
    execFileSync("git", ["-C", clone, "apply", "--index", "--binary"], { input: patch });
    return execFileSync("git", ["-C", clone, "ls-files", "-s"], { encoding: "utf8" });
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

function stagedTree(): string {
  git("add", "--all");
  return git("ls-files", "-s");
}

test("is null if nothing differs", async () => {
  write("ignored", "x");
  expect(await workTreeDiff(repo)).toEqual({
    top: repo,
    head: git("rev-parse", "HEAD").trim(),
    patch: null,
    files: 0,
  });
});

test("holds changed, deleted, new, executable and binary files, staged or not, and no ignored ones", async () => {
  write("changed", "after\n");
  git("rm", "--quiet", "deleted");
  write("new", "new\n");
  chmodSync(join(repo, "new"), 0o755);
  write("binary", Buffer.from([0, 1, 2, 255]));
  write("ignored", "x");
  const index = readFileSync(join(repo, ".git/index"));
  const objects = git("count-objects");
  const { patch, files } = await workTreeDiff(repo);
  expect(files).toBe(4);
  expect(readFileSync(join(repo, ".git/index")).equals(index)).toBe(true);
  expect(git("count-objects")).toBe(objects);
  expect(applied(patch ?? "")).toBe(stagedTree());
});

test("keeps every byte of a text in another encoding", async () => {
  write("changed", Buffer.from("gr\xfc\xdfe\n", "latin1"));
  write("new", "über\n");
  const { patch } = await workTreeDiff(repo);
  expect(applied(patch ?? "")).toBe(stagedTree());
});

test("starts at the top of the work tree, wherever it is called", async () => {
  write("changed", "after\n");
  execFileSync("mkdir", [join(repo, "sub")]);
  const { top, files } = await workTreeDiff(join(repo, "sub"));
  expect([top, files]).toEqual([repo, 1]);
});

test("names a link that is new, so that the rules for patches judge it", async () => {
  symlinkSync("/etc/passwd", join(repo, "link"));
  expect((await workTreeDiff(repo)).patch).toContain("new file mode 120000");
});

test("says that there is no repository, or no commit", async () => {
  const empty = mkdtempSync(join(tmpdir(), "antiphon-empty-"));
  try {
    await expect(workTreeDiff(empty)).rejects.toMatchObject({ code: "ANT_REPO_NOT_GIT" });
    execFileSync("git", ["-C", empty, "init", "--quiet"]);
    await expect(workTreeDiff(empty)).rejects.toMatchObject({ code: "ANT_REPO_NO_COMMITS" });
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
});

test("lock files of package managers are told from the commit, not from the work tree", async () => {
  write("yarn.lock", "");
  symlinkSync("kept", join(repo, "pnpm-lock.yaml"));
  const locks = async () => (await checkTextsOf(repo, "HEAD")).locks;
  expect(await locks()).toEqual([]);
  git("add", "--all");
  git("commit", "--quiet", "--message", "Locks");
  expect(await locks()).toEqual(["yarn.lock"]);
});

test("a file that changed in the second of the last commit, and is as long as before, is in the patch", async () => {
  git("config", "core.checkStat", "minimal"); // size and time alone, as if all of it had been done in one second
  const second = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 60_000);
  const inThatSecond = (name: string): void => utimesSync(join(repo, name), second, second);
  inThatSecond("changed");
  git("update-index", "--refresh");
  write("changed", "behind\n");
  inThatSecond("changed");
  inThatSecond(".git/index");
  expect((await workTreeDiff(repo)).patch).toContain("+behind");
});
