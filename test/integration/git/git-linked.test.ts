/** Content that a commit only points to: submodules and Git LFS. What is on this machine is laid out, the rest is named. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  commitFiles,
  diffOverlay,
  exportLinked,
  inspectRepo,
  refuseLfsOf,
  servedPlaces,
  treeOf,
} from "@antiphon/git";
import { layOut } from "../../support/laid-out.ts";
import { cleanUpRepos, makeRepo, rawGit, tempDir, type TestRepo } from "../../support/repo.ts";

afterEach(cleanUpRepos);

const anywhere = (): Promise<boolean> => Promise.resolve(true);

/** A repository with the submodule `vendor/lib`, which has the submodule `inner` itself. */
function withSubmodules(): TestRepo {
  const innermost = makeRepo({ files: { "deep.txt": "deep\n" } });
  const library = makeRepo({ files: { "lib.c": "int x;\n", ".gitignore": "*.o\n" } });
  library.git("submodule", "add", "-q", innermost.path, "inner");
  library.git("commit", "-qm", "with inner");
  const repo = makeRepo({ files: { "main.c": "int main;\n" } });
  repo.git("submodule", "add", "-q", "--name", "the/library", library.path, "vendor/lib");
  repo.git("submodule", "update", "-q", "--init", "--recursive");
  repo.commit("with a submodule");
  return repo;
}

describe("a submodule", () => {
  it("is laid out at its pinned commit, with the submodules inside it, and git inside is clean", async () => {
    const repo = withSubmodules();
    const inside = await layOut(repo.path, repo.head);
    expect(inside.absent).toEqual([]);
    expect(inside.files()).toEqual(
      [".gitmodules", "main.c", "vendor/lib/.gitignore", "vendor/lib/.gitmodules"]
        .concat(["vendor/lib/inner/deep.txt", "vendor/lib/lib.c"])
        .sort(),
    );
    expect(readFileSync(join(inside.path, "vendor/lib/inner/deep.txt"), "utf8")).toBe("deep\n");
    expect(inside.git("status", "--porcelain")).toBe("");
    expect((await inspectRepo(repo.path)).absent).toEqual([]);
  });

  it("keeps its pinned commit when its own branch has moved on", async () => {
    const repo = withSubmodules();
    rawGit(join(repo.path, "vendor/lib"), "commit", "-q", "--allow-empty", "-m", "later");
    writeFileSync(join(repo.path, "vendor/lib/lib.c"), "not committed\n");
    const inside = await layOut(repo.path, repo.head);
    expect(readFileSync(join(inside.path, "vendor/lib/lib.c"), "utf8")).toBe("int x;\n");
  });

  it("is laid out for a linked work tree, which has modules of its own", async () => {
    const repo = withSubmodules();
    const tree = join(tempDir(), "linked");
    repo.git("worktree", "add", "-q", tree, "-b", "topic");
    rawGit(tree, "submodule", "update", "-q", "--init");
    const inside = await layOut(tree, repo.head);
    expect(inside.files()).toContain("vendor/lib/lib.c");
  });

  it("that is not on this machine stays an empty directory and is named with its remedy", async () => {
    const repo = withSubmodules();
    const clone = join(tempDir(), "clone");
    rawGit(tempDir(), "clone", "-q", repo.path, clone);
    const pinned = repo.git("rev-parse", "HEAD:vendor/lib");
    const told = [
      `submodule vendor/lib at ${pinned.slice(0, 12)}; fetch it with \`git submodule update --init vendor/lib\``,
    ];
    const inside = await layOut(clone, repo.head);
    expect([inside.absent, inside.files()]).toEqual([told, [".gitmodules", "main.c"]]);
    expect(inside.git("status", "--porcelain")).toBe("");
    expect((await inspectRepo(clone)).absent).toEqual(told);
    // The remedy works.
    rawGit(clone, "submodule", "update", "-q", "--init", "vendor/lib");
    expect((await layOut(clone, repo.head)).files()).toContain("vendor/lib/lib.c");
  });

  it("that would be too large is named, too", async () => {
    const repo = withSubmodules();
    const { tar, absent } = await exportLinked(repo.path, repo.head, anywhere, 4);
    expect([tar, absent]).toEqual([
      null,
      [expect.stringContaining("vendor/lib"), expect.stringContaining("inner")],
    ]);
  });

  it("cannot lead to a repository outside of the modules or of the roots, by no name and by no link", async () => {
    const secret = makeRepo({ files: { "secret.txt": "secret\n" } });
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const names = ["../../..", "..", "link", "borrower"];
    const modules = names.map(
      (name, i) => `[submodule "${name}"]\n\tpath = m${i}\n\turl = https://u:pw@host.test/\n`,
    );
    repo.write({ ".gitmodules": modules.join("") });
    for (const [i] of names.entries())
      repo.git("update-index", "--add", "--cacheinfo", `160000,${secret.head},m${i}`);
    repo.git("add", ".gitmodules");
    repo.git("commit", "-qm", "hostile modules");
    const head = repo.git("rev-parse", "HEAD");
    const place = join(repo.path, ".git", "modules");
    mkdirSync(join(place, "borrower", "objects", "info"), { recursive: true });
    symlinkSync(join(secret.path, ".git"), join(place, "link"));
    const lent = `${join(secret.path, ".git", "objects")}\n`;
    writeFileSync(join(place, "borrower", "objects", "info", "alternates"), lent);
    const inside = await layOut(repo.path, head, {}, servedPlaces([realpathSync(repo.path)]));
    expect(inside.files()).toEqual([".gitmodules", "a.txt"]);
    expect(inside.absent).toHaveLength(4);
    // Where every directory may be served, a link of the owner leads where the owner wants.
    expect((await layOut(repo.path, head)).files()).toContain("m2/secret.txt");
  });

  it("is out of reach for a change, which is refused by the name of the path", async () => {
    const repo = withSubmodules();
    const tree = await treeOf(repo.path, repo.head);
    const content = Buffer.from("int y;\n");
    const inModule = { path: "vendor/lib/lib.c", mode: "100644" as const, content };
    for (const overlay of [
      { files: [inModule], deletions: [] },
      { files: [], deletions: ["vendor/lib/lib.c"] },
    ]) {
      await expect(diffOverlay(repo.path, tree, overlay)).rejects.toMatchObject({
        code: "ANT_PATCH_GITLINK",
        detail: "vendor/lib/lib.c is a file of the submodule vendor/lib, which a change cannot reach",
      });
    }
  });
});

const CONTENT = Buffer.from("\u0000the real content\n".repeat(100));

function pointerTo(content: Buffer): string {
  const oid = createHash("sha256").update(content).digest("hex");
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
}

/** Puts content where Git LFS keeps it. */
function store(gitDir: string, content: Buffer, named = content): string {
  const oid = createHash("sha256").update(named).digest("hex");
  const place = join(gitDir, "lfs", "objects", oid.slice(0, 2), oid.slice(2, 4), oid);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, content);
  return place;
}

function withLfs(): TestRepo {
  return makeRepo({
    files: {
      ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
      "assets/model.bin": pointerTo(CONTENT),
      "code.js": "1;\n",
      "pointer.txt": pointerTo(CONTENT),
    },
  });
}

describe("a file in Git LFS", () => {
  it("is laid out with its content, and git inside takes it for unchanged", async () => {
    const repo = withLfs();
    store(join(repo.path, ".git"), CONTENT);
    const inside = await layOut(repo.path, repo.head);
    expect(readFileSync(join(inside.path, "assets/model.bin")).equals(CONTENT)).toBe(true);
    // Without the attribute it is a text about LFS, not a file in LFS.
    expect(readFileSync(join(inside.path, "pointer.txt"), "utf8")).toBe(pointerTo(CONTENT));
    expect([inside.absent, inside.git("status", "--porcelain")]).toEqual([[], ""]);
  });

  it("whose content is absent, damaged or too large stays a pointer and is named with its remedy", async () => {
    const repo = withLfs();
    const told = ["content of Git LFS for assets/model.bin; fetch it with `git lfs pull`"];
    expect((await inspectRepo(repo.path)).absent).toEqual(told);
    expect((await layOut(repo.path, repo.head)).absent).toEqual(told);
    store(join(repo.path, ".git"), Buffer.alloc(CONTENT.length), CONTENT);
    const damaged = await layOut(repo.path, repo.head);
    expect(damaged.absent).toEqual(told);
    expect(readFileSync(join(damaged.path, "assets/model.bin"), "utf8")).toBe(pointerTo(CONTENT));
    store(join(repo.path, ".git"), CONTENT);
    expect((await exportLinked(repo.path, repo.head, anywhere, 100)).absent).toEqual(told);
  });

  it("is not read through a link that leads out of the roots", async () => {
    const repo = withLfs();
    const place = store(join(repo.path, ".git"), CONTENT);
    const elsewhere = join(tempDir(), "content");
    renameSync(place, elsewhere);
    symlinkSync(elsewhere, place);
    const inside = await layOut(repo.path, repo.head, {}, servedPlaces([realpathSync(repo.path)]));
    expect(inside.absent).toHaveLength(1);
  });

  it("is found in the repository of a linked work tree", async () => {
    const repo = withLfs();
    store(join(repo.path, ".git"), CONTENT);
    const tree = join(tempDir(), "linked");
    repo.git("worktree", "add", "-q", tree, "-b", "topic");
    expect((await layOut(tree, repo.head)).absent).toEqual([]);
  });

  it("refuses a change by its name: changed, new, or replaced by another pointer; other files are free", async () => {
    const repo = withLfs();
    const tree = await treeOf(repo.path, repo.head);
    const { entries } = await commitFiles(repo.path, repo.head);
    const overlayOf = (path: string, text: string) => ({
      files: [{ path, mode: "100644" as const, content: Buffer.from(text) }],
      deletions: [],
    });
    for (const [path, text] of [
      ["assets/model.bin", "new content"],
      ["assets/model.bin", pointerTo(Buffer.from("other"))],
      ["assets/new.bin", "content of a new file"],
    ] as const) {
      const told = { code: "ANT_PATCH_LFS", detail: `${path} belongs into Git LFS` };
      await expect(diffOverlay(repo.path, tree, overlayOf(path, text))).rejects.toMatchObject(told);
      await expect(refuseLfsOf(repo.path, repo.head, entries, [path])).rejects.toMatchObject(told);
    }
    const { files_changed } = await diffOverlay(repo.path, tree, overlayOf("code.js", "2;\n"));
    expect(files_changed).toEqual(["code.js"]);
    const deleted = await diffOverlay(repo.path, tree, { files: [], deletions: ["assets/model.bin"] });
    expect(deleted.files_changed).toEqual(["assets/model.bin"]);
  });
});
