/** A landing happens once or not at all, whatever crashed, moved or stands in the way. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  applyPatch,
  buildCommit,
  commitObject,
  diffOverlay,
  openRepo,
  readCommits,
  landRef,
  rebaseOnto,
  replayCommits,
  tipOf,
  treeOf,
  updateWorktree,
} from "@antiphon/git";
import { landOnce } from "../../support/land-once.ts";
import { cleanUpRepos, makeRepo, rawGit, tempDir, type TestRepo } from "../../support/repo.ts";
import { builtProgram } from "../../support/built-program.ts";
import { patient } from "../../support/patience.ts";

const AT = new Date("2026-02-03T04:05:06Z");
const REF = "refs/heads/antiphon/run_x";
const TRAILERS = {
  "Antiphon-Run": "run_x",
  "Antiphon-Task": "T-001",
  "Antiphon-Epoch": "1",
  "Antiphon-Evidence": "sha256-e",
};

afterEach(() => cleanUpRepos());

async function change(repo: TestRepo, path: string, content: string, parent = repo.head): Promise<string> {
  const tree = await treeOf(repo.path, parent);
  const files = [{ path, mode: "100644" as const, content: Buffer.from(content) }];
  const diff = await diffOverlay(repo.path, tree, { files, deletions: [] });
  const applied = await applyPatch(repo.path, parent, diff.patch);
  const plan = {
    parent,
    tree: applied.tree,
    objects: applied.objects,
    message: `Change ${path}`,
    trailers: TRAILERS,
    at: AT,
  };
  return buildCommit(repo.path, plan);
}

describe("landRef", () => {
  it("git/G3: lands once, and says so when asked again, also after others have built on it", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const commit = await change(repo, "a.txt", "b\n");
    expect(await landRef(repo.path, "refs/heads/side", commit, null)).toEqual({
      kind: "landed",
      actual: commit,
    });
    expect(await landRef(repo.path, "refs/heads/side", commit, null)).toEqual({
      kind: "already",
      actual: commit,
    });
    repo.git("checkout", "-q", "side");
    const later = repo.commit("more", { "c.txt": "c\n" });
    expect(await landRef(repo.path, "refs/heads/side", commit, null)).toEqual({
      kind: "already",
      actual: later,
    });
    expect(await landRef(repo.path, "refs/heads/side", commit, repo.commits[0] ?? "")).toEqual({
      kind: "already",
      actual: later,
    });
    expect(await landRef(repo.path, "refs/heads/side", commit, later)).toEqual({
      kind: "already",
      actual: later,
    });
    expect(repo.git("rev-parse", "side")).toBe(later);
  });

  it("git/G3: never takes a commit away from the branch", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const first = repo.head;
    const commit = await change(repo, "a.txt", "b\n");
    const newer = repo.commit("meanwhile", { "d.txt": "d\n" });
    expect(await landRef(repo.path, "refs/heads/main", commit, first)).toEqual({
      kind: "moved",
      actual: newer,
    });
    await expect(landRef(repo.path, "refs/heads/main", commit, newer)).rejects.toMatchObject({
      code: "ANT_LANDING_REWIND",
    });
    expect(repo.git("rev-parse", "main")).toBe(newer);
  });

  it("of many concurrent landings exactly one succeeds, and the others learn the new head", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const commits = await Promise.all(
      ["1", "2", "3", "4", "5", "6"].map((text) => change(repo, "a.txt", `${text}\n`)),
    );
    const outcomes = await Promise.all(
      commits.map((commit) => landRef(repo.path, "refs/heads/main", commit, repo.head)),
    );
    const landed = outcomes.filter((outcome) => outcome.kind === "landed");
    expect(landed).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome.kind === "moved")).toHaveLength(5);
    expect(outcomes.every((outcome) => outcome.actual === landed[0]?.actual)).toBe(true);
  });

  it("the same commit landed by many at once is landed once and already there for the rest", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const commit = await change(repo, "a.txt", "b\n");
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => landRef(repo.path, REF, commit, null)),
    );
    expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual([
      "already",
      "already",
      "already",
      "already",
      "already",
      "landed",
    ]);
  });

  it("tells a branch in the way, a stale lock and a bad name apart", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const commit = await change(repo, "a.txt", "b\n");
    repo.git("branch", "antiphon");
    await expect(landRef(repo.path, REF, commit, null)).rejects.toMatchObject({
      code: "ANT_REPO_REF_BLOCKED",
    });
    writeFileSync(join(repo.path, ".git", "refs", "heads", "main.lock"), "");
    await expect(landRef(repo.path, "refs/heads/main", commit, repo.head)).rejects.toMatchObject({
      code: "ANT_LANDING_REF_LOCKED",
    });
    for (const ref of [
      "HEAD",
      "refs/tags/x",
      "refs/heads/../x",
      "refs/heads/-x",
      "refs/heads/a b",
      "refs/heads/x.lock",
      "refs/heads/",
    ]) {
      await expect(landRef(repo.path, ref, commit, null)).rejects.toMatchObject({
        code: "ANT_REPO_REF_INVALID",
      });
    }
    expect(repo.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/antiphon\nrefs/heads/main");
  });

  it("lands in bare, shallow, sha256 and alternate-backed repositories and in linked work trees", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" }, commits: [{ files: { "b.txt": "b\n" } }] });
    const bare = makeRepo({ files: { "a.txt": "a\n" }, bare: true });
    const sha256 = makeRepo({ files: { "a.txt": "a\n" }, format: "sha256" });
    const dir = tempDir();
    rawGit(dir, "clone", "-q", "--depth=1", `file://${repo.path}`, "shallow");
    rawGit(dir, "clone", "-q", "--shared", repo.path, "shared");
    repo.git("worktree", "add", "-q", join(dir, "linked"));
    const places = [bare.path, sha256.path, join(dir, "shallow"), join(dir, "shared"), join(dir, "linked")];
    for (const path of places) {
      const head = rawGit(path, "rev-parse", "HEAD");
      const commit = await change({ ...repo, path, head }, "a.txt", "b\n");
      expect(await landRef(path, REF, commit, null), path).toMatchObject({ kind: "landed" });
      expect(rawGit(path, "rev-parse", REF)).toBe(commit);
      rawGit(path, "update-ref", "-d", REF);
    }
  });
});

describe("buildCommit", () => {
  it("makes the same bytes for the same arguments, whoever and wherever asks", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const commit = await change(repo, "a.txt", "b\n");
    const text = repo.git("cat-file", "commit", commit);
    expect(text).toBe(
      [
        `tree ${repo.git("rev-parse", `${commit}^{tree}`)}`,
        `parent ${repo.head}`,
        "author Antiphon <antiphon@localhost> 1770091506 +0000",
        "committer Antiphon <antiphon@localhost> 1770091506 +0000",
        "",
        "Change a.txt",
        "",
        "Antiphon-Run: run_x",
        "Antiphon-Task: T-001",
        "Antiphon-Epoch: 1",
        "Antiphon-Evidence: sha256-e",
      ].join("\n"),
    );
    expect(repo.git("log", "-1", "--format=%(trailers:key=Antiphon-Task,valueonly)", commit).trim()).toBe(
      "T-001",
    );
  });

  it("reports a commit that was pruned before it landed, instead of waiting for it", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const first = await change(repo, "a.txt", "b\n");
    repo.git("-c", "gc.reflogExpire=now", "gc", "--quiet", "--prune=now");
    const gone = { code: "ANT_LANDING_COMMIT_GONE" };
    await expect(landRef(repo.path, "refs/heads/side", first, null)).rejects.toMatchObject(gone);
    const second = await change(repo, "a.txt", "c\n");
    repo.git("gc", "--quiet", "--prune=now");
    await expect(landRef(repo.path, "refs/heads/main", second, repo.head)).rejects.toMatchObject(gone);
    expect(repo.git("rev-parse", "main").trim()).toBe(repo.head);
  });

  it.each([
    ["Fix it [skip ci]", "Fix it (skip ci)"],
    ["Fix it [CI SKIP] [no-ci]", "Fix it (CI SKIP) (no-ci)"],
    ["Fix a[i] and [id].ts", "Fix a[i] and [id].ts"],
    ["Fix src/[skip ci].ts", "Fix src/(skip ci).ts"],
    [
      "Fix app/[ci skip]/page.tsx, app/[slug]/[...all].tsx",
      "Fix app/(ci skip)/page.tsx, app/[slug]/[...all].tsx",
    ],
    ["Fix docs/***NO_CI***.md", "Fix docs/* * *NO_CI* * *.md"],
    ["Fix [skip\nci].ts", "Fix [skip\nci].ts"],
    ["Fix\n\nskip-checks: true", "Fix\n\n> skip-checks: true"],
    ["Fix\n\nCo-authored-by: X <x@y>", "Fix\n\n> Co-authored-by: X <x@y>"],
    ["Fix ***NO_CI***", "Fix * * *NO_CI* * *"],
  ])("a message holds no command for a CI and no trailer of others: %j", (message, expected) => {
    const id = "1".repeat(40);
    const made = commitObject({ parent: id, tree: id, message, trailers: {}, at: AT });
    expect(made.body.toString("utf8").split("\n\n").slice(1).join("\n\n").trimEnd()).toBe(expected);
  });

  it("an agent's message can neither forge a trailer nor hide text", async () => {
    const repo = makeRepo();
    const tree = repo.git("rev-parse", "HEAD^{tree}");
    const message = "Fine\u001b[2J\u202e\r\n\r\nantiphon-run: run_y\n  Antiphon-Task: T-999\n\0\x07end\n\n";
    const { body } = commitObject({
      parent: repo.head,
      tree,
      message,
      trailers: { "Antiphon-Run": "run_x" },
      at: AT,
    });
    expect(body.toString().split("\n\n").slice(1)).toEqual([
      "Fine[2J",
      "> antiphon-run: run_y\n> Antiphon-Task: T-999\nend",
      "Antiphon-Run: run_x\n",
    ]);
    for (const trailers of [
      { "Antiphon-Run": "x\ny" },
      { "a b": "x" },
      { "": "x" },
      { "Antiphon-Run": "" },
    ]) {
      expect(() => commitObject({ parent: repo.head, tree, message, trailers, at: AT })).toThrow(
        /not a trailer/,
      );
    }
  });

  it("refuses a commit whose objects are not all there", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const other = makeRepo({ files: { "z.txt": "z\n" } });
    const tree = other.git("rev-parse", "HEAD^{tree}");
    const plan = { parent: repo.head, message: "m", trailers: TRAILERS, at: AT };
    await expect(buildCommit(repo.path, { ...plan, tree })).rejects.toMatchObject({ code: "ANT_GIT_FAILED" });
    await expect(
      buildCommit(repo.path, { ...plan, tree: repo.git("rev-parse", "HEAD^{tree}"), parent: other.head }),
    ).rejects.toMatchObject({ code: "ANT_GIT_FAILED" });
    expect(repo.git("fsck", "--strict")).toBe("");
  });

  it("brings a change of many files as one pack", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const files = Array.from({ length: 150 }, (_, index) => ({
      path: `n/${index}.txt`,
      mode: "100644" as const,
      content: Buffer.from(`${index}\n`),
    }));
    const diff = await diffOverlay(repo.path, await treeOf(repo.path, repo.head), { files, deletions: [] });
    const commit = await buildCommit(repo.path, {
      parent: repo.head,
      tree: diff.tree,
      objects: diff.objects,
      message: "m",
      trailers: TRAILERS,
      at: AT,
    });
    await landRef(repo.path, "refs/heads/main", commit, repo.head);
    expect(repo.git("ls-tree", "-r", "--name-only", "main").split("\n")).toHaveLength(151);
    expect(repo.git("fsck", "--strict")).toBe("");
  });

  it(
    "git/G3: a process killed at any moment of a landing leaves a sound repository, and the retry lands once",
    { timeout: patient(120_000) },
    async () => {
      const repo = makeRepo({ files: { "a.txt": "a\n" } });
      const script = await builtProgram(new URL("../../support/landing-process.ts", import.meta.url));
      let killed = 0;
      for (const killAfterMs of [0, 15, 35, 70, 150]) {
        const ref = `refs/heads/antiphon/run_k${killAfterMs}`;
        const env = { ...process.env, TMPDIR: tempDir() };
        const args = [script, repo.path, repo.head, ref, String(killAfterMs)];
        const said = await new Promise<string>((resolve) => {
          execFile(process.execPath, args, { env }, (_error, stdout) => resolve(stdout));
        });
        if (said === "") killed += 1;
        expect(repo.git("fsck", "--strict", "--no-dangling")).toBe("");
        const retried = await landOnce(repo.path, repo.head, ref);
        expect(retried.kind).toBeOneOf(["landed", "already"]);
        expect(await tipOf(repo.path, ref)).toBe(retried.commit);
        expect(repo.git("rev-list", "--count", ref)).toBe("2");
      }
      console.log(`${killed} of 5 landings were killed half-way`);
      expect(killed).toBeGreaterThan(0);
    },
  );
});

describe("readCommits", () => {
  it("reads the trailers at the end of a message, and nothing else as one", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const landed = await change(repo, "a.txt", "b\n");
    const talk = "talks about it\n\nAntiphon-Run: run_x\nAntiphon-Task: T-001\n\nbut in its middle";
    const others = [
      repo.commit(talk, { "c.txt": "c\n" }),
      repo.commit("Antiphon-Run: run_x", { "d.txt": "d\n" }),
    ];
    const [ours, ...rest] = await readCommits(await openRepo(repo.path), [landed, ...others]);
    expect(ours).toMatchObject({
      id: landed,
      parents: [repo.commits[0]],
      trailers: TRAILERS,
    });
    expect(rest.map(({ trailers }) => trailers)).toEqual([{}, {}]);
  });
});

describe("a branch that went on", () => {
  it("a change that does not conflict with the branch's own is moved onto it, by the same id each time", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const text = (edit: Record<number, string>): string =>
      lines.map((line, index) => edit[index] ?? line).join("\n") + "\n";
    const repo = makeRepo({ files: { "a.txt": text({}), "b.txt": "b\n" } });
    const start = repo.head;
    const first = await change(repo, "a.txt", text({ 2: "ours" }));
    const second = await change(repo, "b.txt", "B\n", first);
    const moved = repo.commit("meanwhile", { "a.txt": text({ 27: "theirs" }), "new.txt": "n\n" });
    const range = { from: start, to: second, onto: moved };
    const replayed = await replayCommits(repo.path, range);
    expect(await replayCommits(repo.path, range)).toEqual(replayed);
    if (replayed.kind !== "replayed") throw new Error("no conflict expected");
    await landRef(repo.path, "refs/heads/main", replayed.commit, moved);
    expect(repo.git("show", "main:a.txt")).toBe(text({ 2: "ours", 27: "theirs" }).trimEnd());
    expect(repo.git("log", "--format=%s", "main").split("\n")).toEqual([
      "Change b.txt",
      "Change a.txt",
      "meanwhile",
      "first",
    ]);
  });

  it("a change that conflicts with the branch's own is reported with its path, and nothing moves", async () => {
    const repo = makeRepo({ files: { "a.txt": "one\ntwo\n" } });
    const commit = await change(repo, "a.txt", "1\ntwo\n");
    const moved = repo.commit("meanwhile", { "a.txt": "uno\ntwo\n" });
    const outcome = await replayCommits(repo.path, { from: repo.commits[0] ?? "", to: commit, onto: moved });
    expect(outcome).toMatchObject({ kind: "conflict", paths: ["a.txt"], commit });
    const trees = await Promise.all(
      [repo.commits[0] ?? "", commit, moved].map((id) => treeOf(repo.path, id)),
    );
    const [base = "", changed = "", onto = ""] = trees;
    expect(await rebaseOnto(repo.path, { base, changed, onto })).toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("CONFLICT") as string,
    });
    expect(repo.git("rev-parse", "main")).toBe(moved);
  });

  it("applyPatch merges three-way when asked, and says which file conflicts", async () => {
    const repo = makeRepo({ files: { "a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n" } });
    const tree = await treeOf(repo.path, repo.head);
    const edit = (content: string): Promise<{ patch: string }> =>
      diffOverlay(repo.path, tree, {
        files: [{ path: "a.txt", mode: "100644", content: Buffer.from(content) }],
        deletions: [],
      });
    const { patch } = await edit("1\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n");
    const head = repo.commit("meanwhile", { "a.txt": "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\n" });
    await expect(applyPatch(repo.path, head, patch)).rejects.toMatchObject({
      code: "ANT_PATCH_DOES_NOT_APPLY",
      data: { files: [{ path: "a.txt", line: 1 }] },
    });
    await expect(applyPatch(repo.path, head, patch, { threeWay: true })).rejects.toMatchObject({
      code: "ANT_PATCH_DOES_NOT_APPLY",
      data: { files: [{ path: "a.txt" }] },
    });
    const far = repo.commit("elsewhere", { "a.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\nEIGHT\n" });
    const applied = await applyPatch(repo.path, far, patch, { threeWay: true });
    expect(applied.overlay[0]?.content.toString()).toBe("1\ntwo\nthree\nfour\nfive\nsix\nseven\nEIGHT\n");
  });
});

describe("updateWorktree", () => {
  async function landed(repo: TestRepo): Promise<{ ref: string; from: string; to: string }> {
    const to = await change(repo, "dir/new.txt", "new\n", await change(repo, "a.txt", "b\n"));
    await landRef(repo.path, "refs/heads/main", to, repo.head);
    return { ref: "refs/heads/main", from: repo.head, to };
  }

  it("updates clean files to the landed commit, and a repeated update changes nothing", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const move = await landed(repo);
    expect(await updateWorktree(repo.path, move)).toEqual({ kind: "updated", top: repo.path });
    expect(await updateWorktree(repo.path, move)).toEqual({ kind: "unchanged" });
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(readFileSync(join(repo.path, "dir/new.txt"), "utf8")).toBe("new\n");
  });

  it("keeps local changes to other files, and refuses before it touches any file if one is in the way", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n", "mine.txt": "m\n" } });
    const to = await change(repo, "dir/new.txt", "new\n", await change(repo, "a.txt", "b\n"));
    const move = { ref: "refs/heads/main", from: repo.head, to };
    repo.write({ "mine.txt": "mine\n", "a.txt": "local\n" });
    expect(await updateWorktree(repo.path, { ...move, dryRun: true })).toMatchObject({ kind: "refused" });
    await landRef(repo.path, "refs/heads/main", to, repo.head);
    expect(await updateWorktree(repo.path, move)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("a.txt") as string,
    });
    expect(readFileSync(join(repo.path, "a.txt"), "utf8")).toBe("local\n");
    expect(existsSync(join(repo.path, "dir/new.txt"))).toBe(false);
    repo.write({ "a.txt": "a\n" });
    expect(await updateWorktree(repo.path, move)).toMatchObject({ kind: "updated" });
    expect(repo.git("status", "--porcelain").trim()).toBe("M mine.txt");
  });

  it("never overwrites a file that git does not track", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const move = await landed(repo);
    repo.write({ "dir/new.txt": "mine\n" });
    expect(await updateWorktree(repo.path, move)).toMatchObject({ kind: "refused" });
    expect(readFileSync(join(repo.path, "dir/new.txt"), "utf8")).toBe("mine\n");
  });

  it("finds the linked work tree that has the branch, with a split index and line endings of its own", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n", ".gitattributes": "*.txt text\n" } });
    const linked = join(tempDir(), "linked");
    repo.git("branch", "topic");
    repo.git("worktree", "add", "-q", linked, "topic");
    repo.git("config", "core.autocrlf", "true");
    rawGit(linked, "update-index", "--split-index");
    const to = await change(repo, "new.txt", "new\n");
    await landRef(repo.path, "refs/heads/topic", to, repo.head);
    expect(await updateWorktree(repo.path, { ref: "refs/heads/topic", from: repo.head, to })).toEqual({
      kind: "updated",
      top: linked,
    });
    expect(readFileSync(join(linked, "new.txt"), "utf8")).toBe("new\r\n");
    expect(rawGit(linked, "-c", "core.autocrlf=true", "status", "--porcelain")).toBe("");
  });

  it("works in a sparse checkout and in a submodule, and passes over a work tree that is gone", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n", "in/x.txt": "x\n", "out/y.txt": "y\n" } });
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in");
    const to = await change(repo, "out/y.txt", "Y\n", await change(repo, "in/x.txt", "X\n"));
    await landRef(repo.path, "refs/heads/main", to, repo.head);
    const move = { ref: "refs/heads/main", from: repo.head, to };
    expect(await updateWorktree(repo.path, move)).toEqual({ kind: "updated", top: repo.path });
    expect([existsSync(join(repo.path, "out")), repo.git("status", "--porcelain")]).toEqual([false, ""]);

    const outer = makeRepo();
    outer.git("submodule", "add", "-q", repo.path, "sub");
    const sub = join(outer.path, "sub");
    const next = await change({ ...repo, path: sub, head: to }, "a.txt", "b\n", to);
    await landRef(sub, "refs/heads/main", next, to);
    const inside = { ref: "refs/heads/main", from: to, to: next };
    expect(await updateWorktree(sub, inside)).toEqual({ kind: "updated", top: sub });
    expect(readFileSync(join(sub, "a.txt"), "utf8")).toBe("b\n");

    const gone = join(tempDir(), "gone");
    repo.git("worktree", "add", "-q", gone, "-b", "topic");
    rmSync(gone, { recursive: true });
    expect(await updateWorktree(repo.path, { ...move, ref: "refs/heads/topic", dryRun: true })).toEqual({
      kind: "unchanged",
    });
  });

  it("has nothing to do where no work tree has the branch", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" }, bare: true });
    const to = await change(repo, "a.txt", "b\n");
    expect(await updateWorktree(repo.path, { ref: "refs/heads/main", from: repo.head, to })).toEqual({
      kind: "unchanged",
    });
  });
});
