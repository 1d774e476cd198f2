/** A commit and its recent history as a `.git` directory, read by plain git beside the tree it belongs to. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { exportHistory, FILE_TIME_S } from "@antiphon/git";
import { makeTrappedRepo } from "../../support/hostile-repo.ts";
import { layOut } from "../../support/laid-out.ts";
import { cleanUpRepos, makeRepo, manyFiles, rawGit, scratchLeftovers, tempDir } from "../../support/repo.ts";

beforeEach(() => {
  // A temp directory of its own: files of other tests that run at the same time are not looked at.
  vi.stubEnv("TMPDIR", tempDir());
});

afterEach(() => {
  vi.unstubAllEnvs();
  cleanUpRepos();
});

const lines = (count: number, text = "line"): string =>
  Array.from({ length: count }, (_, i) => `${text} ${i}\n`).join("");

/** Every file of the laid out `.git` as text, to search for what must not be in it. */
function everything(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

describe("a history", () => {
  it.each(["sha1", "sha256"] as const)("is that of the repository and starts clean (%s)", async (format) => {
    const repo = makeRepo({
      format,
      files: {
        "a.txt": lines(20),
        "run.sh": { content: "#!/bin/sh\n", mode: "100755" },
        "dir/link": { link: "../a.txt" },
        empty: "",
        "naïve name.txt": "n\n",
        "binary.bin": Buffer.from([0, 1, 2, 255]),
        [`${"deep/".repeat(30)}file-with-a-long-name`]: "deep\n",
      },
      commits: [
        { message: "second", files: { "a.txt": `${lines(20)}more\n` } },
        { message: "third", files: { "run.sh": null, "b.txt": "b\n" } },
      ],
    });
    const inside = await layOut(repo.path, repo.head);
    expect(scratchLeftovers()).toEqual([]);
    expect([inside.commits, inside.cut]).toEqual([3, false]);
    expect(inside.git("rev-parse", "HEAD")).toBe(repo.head);
    expect(inside.git("status", "--porcelain=v2", "--branch").split("\n").slice(0, 2)).toEqual([
      `# branch.oid ${repo.head}`,
      "# branch.head main",
    ]);
    for (const question of [
      ["log", "--format=%H %P %an %s"],
      ["ls-tree", "-r", "HEAD"],
      ["ls-files", "-s"],
      ["blame", "--line-porcelain", "a.txt"],
      ["show", "HEAD~1"],
    ]) {
      expect([question, inside.git(...question)]).toEqual([question, repo.git(...question)]);
    }
    expect(inside.git("status", "--porcelain")).toBe("");
    expect(inside.git("fsck", "--full", "--strict")).toBe("");
  });

  it("takes part in ordinary work: diff, commit, stash, blame and a branch", async () => {
    const repo = makeRepo({ files: { "a.txt": lines(5), "b.txt": "b\n" } });
    const { path, git } = await layOut(repo.path, repo.head);
    writeFileSync(join(path, "a.txt"), lines(5).replace("line 3", "changed"));
    expect(git("diff", "--stat")).toContain("1 file changed, 1 insertion(+), 1 deletion(-)");
    git("stash");
    expect(git("status", "--porcelain")).toBe("");
    git("stash", "pop");
    expect(git("status", "--porcelain")).toBe(" M a.txt");
    git("commit", "-qam", "inside");
    expect(git("log", "--format=%s")).toBe("inside\nfirst");
    expect(git("blame", "-s", "a.txt").split("\n")[3]).toContain("changed");
    git("switch", "-qc", "topic");
    expect(git("branch", "--list")).toContain("* topic");
  });

  it("reads no file of the tree for the first status, and sees each change after it", async () => {
    const repo = makeRepo({ files: { "a.txt": "one\n", "b.txt": "one\n", c: "gone\n" } });
    const { path, git } = await layOut(repo.path, repo.head);
    // Content that the index cannot know about: it takes the file for unchanged by its size and time alone.
    writeFileSync(join(path, "a.txt"), "two\n");
    utimesSync(join(path, "a.txt"), FILE_TIME_S, FILE_TIME_S);
    expect(git("status", "--porcelain")).toBe("");
    writeFileSync(join(path, "b.txt"), "two\n");
    execFileSync("rm", [join(path, "c")]);
    expect(
      git("status", "--porcelain")
        .split("\n")
        .map((line) => line.trim()),
    ).toEqual(["M b.txt", "D c"]);
  });

  it("answers a status of many files without reading them", async () => {
    const repo = makeRepo({ files: manyFiles(2_000) });
    const { path, git } = await layOut(repo.path, repo.head);
    // Without its content a file would count as changed, if it was read.
    for (const name of ["src/part-0/unit-0/file-0.js", "src/part-7/unit-3/file-82.js"]) {
      const place = join(path, name);
      writeFileSync(place, "x".repeat(statSync(place).size));
      utimesSync(place, FILE_TIME_S, FILE_TIME_S);
    }
    expect(git("status", "--porcelain")).toBe("");
  });

  it("has a detached HEAD for a commit that is on no branch", async () => {
    const repo = makeRepo();
    const { git } = await layOut(repo.path, repo.head, { branch: null });
    expect(git("rev-parse", "--abbrev-ref", "HEAD")).toBe("HEAD");
    expect(git("for-each-ref")).toBe("");
  });

  it("takes a branch name that no path could be", async () => {
    const repo = makeRepo({ branch: "fix/é@home" });
    const { git } = await layOut(repo.path, repo.head, { branch: "refs/heads/fix/é@home" });
    expect(git("branch", "--show-current")).toBe("fix/é@home");
    expect(git("status", "--porcelain")).toBe("");
  });
});

describe("the depth of a history", () => {
  const commits = Array.from({ length: 20 }, (_, i) => ({ message: `c${i}`, files: { "a.txt": `${i}\n` } }));

  it("is the number asked for, and `git log` shows the same commits as outside", async () => {
    const repo = makeRepo({ commits });
    const inside = await layOut(repo.path, repo.head, { commits: 10 });
    expect(inside.commits).toBe(11);
    const newest = ["log", "-10", "--format=%H %P"];
    expect(inside.git(...newest)).toBe(repo.git(...newest));
    expect(inside.git("log", "--format=%s").split("\n")).toHaveLength(11);
    expect(inside.git("rev-parse", "--is-shallow-repository")).toBe("true");
    expect(inside.git("fsck", "--full")).toBe("");
  });

  it("keeps the main line when an old branch was merged", async () => {
    const repo = makeRepo({ commits });
    repo.git("switch", "-qc", "old", repo.commits[2] ?? "");
    repo.commit("from the past", { "old.txt": "old\n" });
    repo.git("switch", "-q", "main");
    repo.git("merge", "-q", "--no-edit", "old");
    repo.commit("after the merge", { "a.txt": "after\n" });
    const inside = await layOut(repo.path, repo.head, { commits: 8 });
    const newest = ["log", "-8", "--format=%H %P"];
    expect(inside.git(...newest)).toBe(repo.git(...newest));
    expect(inside.git("fsck", "--full")).toBe("");
  });

  it("ends where a shallow repository ends", async () => {
    const repo = makeRepo({ commits });
    const clone = join(tempDir(), "clone");
    rawGit(tempDir(), "clone", "-q", "--depth", "3", `file://${repo.path}`, clone);
    const inside = await layOut(clone, repo.head);
    expect(inside.commits).toBe(3);
    expect(inside.git("log", "--format=%s").split("\n")).toEqual(["c19", "c18", "c17"]);
    expect(inside.git("status", "--porcelain")).toBe("");
  });

  it("is less when more would be too large, and nothing when one commit is too large", async () => {
    const noise = (): string => execFileSync("head", ["-c", "60000", "/dev/urandom"]).toString("base64");
    const large = Array.from({ length: 12 }, () => ({ files: { "large.txt": noise() } }));
    const repo = makeRepo({ commits: large });
    const few = await layOut(repo.path, repo.head, { maxBytes: 700_000 });
    expect([few.commits, few.cut]).toEqual([9, true]);
    const one = await layOut(repo.path, repo.head, { maxBytes: 100_000 });
    expect(one.commits).toBe(1);
    expect(one.git("log", "--format=%H")).toBe(repo.head);
    expect(one.git("status", "--porcelain")).toBe("");
    expect((await layOut(repo.path, repo.head, { maxBytes: 10_000 })).commits).toBeNull();
  });

  it("is one commit when the older objects are missing in a partial clone", async () => {
    const repo = makeRepo({ commits });
    repo.git("config", "uploadpack.allowFilter", "true");
    const clone = join(tempDir(), "clone");
    rawGit(tempDir(), "clone", "-q", "--filter=blob:none", `file://${repo.path}`, clone);
    const inside = await layOut(clone, repo.head);
    expect(inside.commits).toBe(1);
    expect(inside.git("status", "--porcelain")).toBe("");
  });

  it("is an honest failure when the commit itself is missing", async () => {
    const repo = makeRepo();
    const exporting = exportHistory(repo.path, "1".repeat(40), { commits: 5, branch: null });
    await expect(exporting).rejects.toMatchObject({ code: "ANT_REPO_INCOMPLETE" });
  });
});

describe("nothing but the history", () => {
  it("git/G1: a hostile repository starts no program and brings none of its config in", async () => {
    const repo = makeTrappedRepo();
    const { path, git } = await layOut(repo.path, repo.head);
    git("status");
    git("log");
    git("commit", "-q", "--allow-empty", "-m", "inside");
    expect(repo.sprung()).toEqual([]);
    const found = everything(join(path, ".git"));
    for (const word of ["trap", "sprung", "ext::", "promisor", "include", repo.path, "hooksPath"])
      expect([word, found.includes(word)]).toEqual([word, false]);
    expect(readdirSync(join(path, ".git")).sort()).not.toContain("hooks");
    expect(git("remote")).toBe("");
  });

  it("carries no other branch, tag, note, stash, reflog, alternate or dangling object", async () => {
    const lender = makeRepo({ files: { "lent.txt": "lent\n" } });
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    repo.git("switch", "-qc", "secret");
    const secret = repo.commit("the secret of another branch", { "secret.txt": "hidden\n" });
    repo.git("tag", "-am", "secret tag", "v-secret");
    repo.git("notes", "add", "-m", "secret note");
    repo.git("switch", "-q", "main");
    repo.write({ "a.txt": "stashed secret\n" });
    repo.git("stash");
    repo.git("remote", "add", "origin", "https://user:hunter2@host.test/repo.git");
    writeFileSync(
      join(repo.path, ".git", "objects", "info", "alternates"),
      `${join(lender.path, ".git", "objects")}\n`,
    );
    const first = repo.commits[0] ?? "";
    const { path, git } = await layOut(repo.path, first);
    expect(git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    expect(git("cat-file", "--batch-all-objects", "--batch-check").split("\n")).toHaveLength(3);
    for (const gone of [secret, lender.head]) expect(() => git("cat-file", "-e", gone)).toThrow();
    const found = everything(join(path, ".git"));
    for (const word of ["secret", "hunter2", "host.test", repo.path, lender.path, "origin"])
      expect([word, found.includes(word)]).toEqual([word, false]);
  });

  it("works where the objects are borrowed from another repository", async () => {
    const lender = makeRepo({ commits: [{ files: { "b.txt": "b\n" } }] });
    const clone = join(tempDir(), "clone");
    rawGit(tempDir(), "clone", "-q", "--shared", lender.path, clone);
    const { path, git } = await layOut(clone, lender.head);
    expect(git("fsck", "--full")).toBe("");
    expect(everything(join(path, ".git")).includes(lender.path)).toBe(false);
  });
});
