/** The changes that the trusted side takes over from a sandbox, and those it leaves there. */
import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { limits } from "@antiphon/contracts";
import { applyPatch, diffOverlay, sweepScratch, TreeCache, treeOf, type OverlayDiff } from "@antiphon/git";
import { cleanUpRepos, makeRepo, scratchLeftovers, tempDir, type FilesSpec } from "../../support/repo.ts";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { exportedTree } from "../../support/exported-tree.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  cleanUpRepos();
});

async function diff(
  base: FilesSpec,
  files: Record<string, string>,
  deletions: string[] = [],
): Promise<OverlayDiff> {
  const repo = makeRepo({ files: base });
  const tree = await treeOf(repo.path, repo.head);
  const overlay = Object.entries(files).map(([path, text]) => ({
    path,
    mode: "100644" as const,
    content: Buffer.from(text),
  }));
  return diffOverlay(repo.path, tree, { files: overlay, deletions });
}

describe("an overlay", () => {
  it("that deletes more than a patch may hold is refused as too large, and nothing stays behind", async () => {
    const line = `${"0123456789".repeat(6)}abc\n`;
    const file = line.repeat(limits.treeHeldBytes / 4 / line.length);
    const names = ["a", "b", "c", "d"];
    const repo = makeRepo({ files: Object.fromEntries(names.map((name) => [`${name}.txt`, file + name])) });
    const tree = await treeOf(repo.path, repo.head);
    const without = (gone: string[]): Promise<OverlayDiff> =>
      diffOverlay(repo.path, tree, { files: [], deletions: gone.map((name) => `${name}.txt`) });
    await expect(without(names)).rejects.toMatchObject({ code: "ANT_PATCH_TOO_LARGE" });
    const { patch } = await without(names.slice(1));
    expect(patch.length).toBeGreaterThan((limits.treeHeldBytes * 3) / 4);
    await expect(applyPatch(repo.path, tree, patch.repeat(2))).rejects.toMatchObject({
      code: "ANT_PATCH_TOO_LARGE",
    });
  });

  it("of a sandbox that made its own .git brings nothing of it", async () => {
    const made = await diff(
      { "a.txt": "a\n" },
      { ".git/config": "x", "sub/.git/hooks/post-checkout": "x", ".git": "gitdir: /x", "b.txt": "b\n" },
    );
    expect(made.files_changed).toEqual(["b.txt"]);
    expect(made.patch).not.toContain(".git/");
  });

  it("leaves out what the repository ignores and what tools leave behind, but never what is tracked", async () => {
    const base = {
      ".gitignore": "dist/\n*.log\n!keep.log\n",
      "lib/.gitignore": "/made\n",
      "dist/tracked.js": "1\n",
      "a.txt": "a\n",
    };
    const made = await diff(base, {
      "dist/new.js": "x",
      "dist/tracked.js": "2\n",
      "run.log": "x",
      "keep.log": "x",
      "lib/made": "x",
      made: "x",
      "node_modules/x/index.js": "x",
      "pkg/__pycache__/m.cpython-311.pyc": "x",
      ":(top)odd": "x",
    });
    expect(made.files_changed).toEqual(["dist/tracked.js", "keep.log", "made", ":(top)odd"]);
    expect(made.ignored.sort()).toEqual([
      "dist/new.js",
      "lib/made",
      "node_modules/x/index.js",
      "pkg/__pycache__/m.cpython-311.pyc",
      "run.log",
    ]);
  });

  it("obeys a .gitignore that the same change adds or deletes", async () => {
    const made = await diff({ ".gitignore": "*.a\n" }, { ".gitignore": "*.b\n", "x.a": "x", "x.b": "x" });
    expect(made.files_changed).toEqual([".gitignore", "x.a"]);
  });

  it("is no change where the files are as they were", async () => {
    expect(await diff({ "a.txt": "a\n" }, { "a.txt": "a\n" })).toMatchObject({
      patch: "",
      files_changed: [],
      objects: [],
    });
    expect(await diff({ "a.txt": "a\n" }, { "x.pyc": "x" }, ["nothing"])).toMatchObject({
      patch: "",
      ignored: ["x.pyc"],
    });
  });

  it.each(["../x", "/x", "a/../x", "a//b", "./x", "", "a\0b", "a.txt/below", "link/x"])(
    "refuses the path %j",
    async (path) => {
      await expect(diff({ "a.txt": "a\n", link: { link: "/etc" } }, { [path]: "x" })).rejects.toMatchObject({
        code: "ANT_SANDBOX_OUTPUT",
      });
    },
  );

  it("replaces a directory by a file and a file by a directory", async () => {
    const made = await diff({ "d/x": "x\n", f: "f\n" }, { d: "d\n", "f/y": "y\n" }, ["d/x", "f"]);
    expect(made.deletions.sort()).toEqual(["d/x", "f"]);
    expect(made.overlay.map((file) => file.path).sort()).toEqual(["d", "f/y"]);
  });

  it("finds a rename, and writes a text in another encoding as binary", async () => {
    const text = Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join("");
    const made = await diff({ "old.txt": text }, { "new name.txt": `${text}more\n` }, ["old.txt"]);
    expect(made.patch).toContain("rename from old.txt\nrename to new name.txt\n");
    const repo = makeRepo({ files: { "l1[a].txt": Buffer.from("caf\xe9\n", "latin1"), "u.txt": "ü\n" } });
    const tree = await treeOf(repo.path, repo.head);
    const files = [
      { path: "l1[a].txt", mode: "100644" as const, content: Buffer.from("na\xefve\n", "latin1") },
      { path: "u.txt", mode: "100644" as const, content: Buffer.from("ö\n") },
    ];
    const { patch } = await diffOverlay(repo.path, tree, { files, deletions: [] });
    expect(patch.match(/GIT binary patch/g)).toHaveLength(1);
    expect(patch).toContain("-ü\n+ö\n");
  });
});

describe("a base that was made by hand", () => {
  it.each(["..", ".git", ".GIT", "."])("is not exported when it has an entry called %s", async (name) => {
    const repo = makeRepo();
    const blob = repo.git("rev-parse", "HEAD:README.md");
    const body = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, "hex")]);
    const hash = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
    const tree = execFileSync("git", hash, { cwd: repo.path, input: body, encoding: "utf8" }).trim();
    const commit = repo.git("commit-tree", tree, "-m", "odd");
    await expect(exportedTree(repo.path, commit)).rejects.toMatchObject({ code: "ANT_REPO_UNREADABLE" });
  });
});

/** Counts files; a count during which the name was lost does not count, because the walk then found nothing. */
function filesUnder(place: string): number {
  try {
    const count = readdirSync(place, { recursive: true }).length;
    return existsSync(place) ? count : 0;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    return 0;
  }
}

describe("the tree cache", () => {
  it("git/G5: drops the least recently used tree, but none in use and none used lately", async () => {
    const dir = tempDir();
    const cache = new TreeCache(dir, { maxTrees: 2 });
    const trees: string[] = [];
    for (const text of ["1", "2", "3", "4"]) {
      const repo = makeRepo({ files: { "a.txt": text } });
      const { tree, tar } = await exportedTree(repo.path, repo.head);
      await cache.importTree(tree, tar);
      const long = new Date(Date.now() - 3_600_000 + trees.length * 60_000);
      utimesSync(join(dir, `${tree}.git`), long, long);
      trees.push(tree);
    }
    expect(await Promise.all(trees.map((tree) => cache.has(tree)))).toEqual([false, false, true, true]);
    await expect(cache.list(trees[0] ?? "")).rejects.toMatchObject({ code: "ANT_BLOB_MISSING" });
  });

  it("git/G5: keeps a tree that took long to arrive, and makes room before the next one even if that fails", async () => {
    const dir = tempDir();
    const cache = new TreeCache(dir, { maxTrees: 0 });
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const { tree, tar } = await exportedTree(repo.path, repo.head);
    const long = new Date(Date.now() - 1_800_000);
    async function* slow(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(tar);
      for (const name of readdirSync(dir)) utimesSync(join(dir, name), long, long);
    }
    await cache.importTree(tree, slow());
    expect(await cache.has(tree)).toBe(true);

    const half = join(dir, ".incoming-half");
    mkdirSync(half);
    for (const place of [half, join(dir, `${tree}.git`)]) utimesSync(place, new Date(0), new Date(0));
    const other = "1".repeat(40);
    await expect(cache.importTree(other, tar)).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
    expect(readdirSync(dir)).toEqual([]);
  });

  it("can be imported by many at once, from several caches, and temp directories of crashes are swept", async () => {
    const dir = tempDir();
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const { tree, tar } = await exportedTree(repo.path, repo.head);
    mkdirSync(join(dir, ".incoming-dead"));
    utimesSync(join(dir, ".incoming-dead"), new Date(0), new Date(0));
    const caches = Array.from({ length: 6 }, () => new TreeCache(dir));
    await Promise.all(caches.map((cache) => cache.importTree(tree, tar)));
    expect(readdirSync(dir)).toEqual([`${tree}.git`]);
    expect((await caches[3]?.readFile(tree, "a.txt"))?.toString()).toBe("a\n");
  });

  it("git/G5: a tree that is dropped is whole as long as it has its name", async () => {
    const dir = tempDir();
    const cache = new TreeCache(dir, { maxTrees: 1 });
    const [old, next] = await Promise.all(
      ["1", "2"].map(async (text) => {
        const repo = makeRepo({ files: { "a.txt": text } });
        return exportedTree(repo.path, repo.head);
      }),
    );
    if (old === undefined || next === undefined) throw new Error("two trees were made");
    await cache.importTree(old.tree, old.tar);
    const place = join(dir, `${old.tree}.git`);
    // More files to remove, so that the removal takes long enough to be observed.
    for (let index = 0; index < 300; index += 1) writeFileSync(join(place, "objects", `${index}`), "");
    utimesSync(place, new Date(0), new Date(0));
    const whole = readdirSync(place, { recursive: true }).length;
    const seen = new Set<number>();
    let isOver = false;
    const importing = cache.importTree(next.tree, next.tar).finally(() => (isOver = true));
    while (!isOver) {
      seen.add(filesUnder(place));
      await new Promise(setImmediate);
    }
    await importing;
    expect([...seen].sort((a, b) => a - b)).toEqual([0, whole]);
    expect(readdirSync(dir)).toEqual([`${next.tree}.git`]);
  });

  it("git/G5: an incomplete tree that a kill left is replaced by the next import", async () => {
    const dir = tempDir();
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const { tree, tar } = await exportedTree(repo.path, repo.head);
    await new TreeCache(dir).importTree(tree, tar);
    rmSync(join(dir, `${tree}.git`, "HEAD"));
    const cache = new TreeCache(dir);
    expect(await cache.has(tree)).toBe(false);
    await cache.importTree(tree, tar);
    expect((await cache.readFile(tree, "a.txt"))?.toString()).toBe("a\n");
    expect(readdirSync(dir)).toEqual([`${tree}.git`]);
  });

  it("a left-over that may not be removed is skipped, and the others are removed", async () => {
    const tmp = tempDir();
    chmodSync(tmp, 0o777);
    const kept = join(tmp, "antiphon-git-a");
    for (const place of [kept, join(tmp, "antiphon-git-b")]) {
      mkdirSync(place);
      writeFileSync(join(place, "file"), "");
      chmodSync(place, place === kept ? 0o555 : 0o777);
      utimesSync(place, new Date(0), new Date(0));
    }
    // Root may remove everything, so the sweep is another user's then.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(await sweepScratch(new Date(), tmp)).toBe(1);
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(kept, 0o777);
    }
    expect(readdirSync(tmp)).toEqual(["antiphon-git-a"]);
  });

  it("scratch repositories of crashed processes are swept, those of living ones are not", async () => {
    vi.stubEnv("TMPDIR", tempDir());
    const now = new Date();
    for (const [name, ageMs] of [
      ["antiphon-git-old", 7_200_000],
      ["antiphon-git-new", 1000],
      ["other-old", 7_200_000],
    ] as const) {
      const place = join(process.env["TMPDIR"] ?? "", name);
      mkdirSync(place);
      utimesSync(place, new Date(now.getTime() - ageMs), new Date(now.getTime() - ageMs));
    }
    expect(await sweepScratch(now)).toBe(1);
    expect(scratchLeftovers()).toEqual(["antiphon-git-new"]);
  });
});
