/** Repositories a run can start from, and a coded reason for every one it cannot start from. */
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { commitFiles, discoverChecks, inspectRepo, protectionOf, type InspectOptions } from "@antiphon/git";
import { cleanUpRepos, makeRepo, rawGit, tempDir } from "../../support/repo.ts";

afterEach(() => cleanUpRepos());

const FILES = { "a.txt": "a\n", "dir/b.txt": "b\n" };

describe("a repository a run can start from", () => {
  it("is described: branch, commit, tree, number of files", async () => {
    const repo = makeRepo({ files: FILES, branch: "trunk" });
    expect(await inspectRepo(repo.path)).toEqual({
      base: {
        repo: { name: repo.path.split("/").at(-1), path: repo.path },
        ref: "refs/heads/trunk",
        commit: repo.head,
      },
      tree: repo.git("rev-parse", "HEAD^{tree}"),
      branch: "refs/heads/trunk",
      dirty: false,
      files: 2,
      image: null,
      verifyGit: false,
      gates: [],
      absent: [],
      needs: { programs: [], because: [] },
      bare: false,
      home: repo.path,
      landOn: null,
      services: [],
    });
  });

  it("is found from a path inside it, and through a symbolic link", async () => {
    const repo = makeRepo({ files: FILES });
    const link = join(tempDir(), "link");
    symlinkSync(repo.path, link);
    for (const path of [join(repo.path, "dir"), `${repo.path}/`, link, join(link, "dir")]) {
      expect((await inspectRepo(path)).base.repo.path, path).toBe(repo.path);
    }
  });

  it("may be bare, detached, a linked work tree, a submodule, shallow or SHA-256", async () => {
    const repo = makeRepo({ files: FILES, commits: [{ files: { "c.txt": "c\n" } }] });
    const dir = tempDir();
    const bare = makeRepo({ files: FILES, bare: true });
    expect(await inspectRepo(bare.path)).toMatchObject({
      bare: true,
      branch: "refs/heads/main",
      files: 2,
      dirty: false,
    });
    repo.git("worktree", "add", "-q", join(dir, "linked"), "-b", "topic");
    expect(await inspectRepo(join(dir, "linked", "dir"))).toMatchObject({
      branch: "refs/heads/topic",
      files: 3,
    });
    rawGit(dir, "clone", "-q", "--depth=1", `file://${repo.path}`, "shallow");
    expect(await inspectRepo(join(dir, "shallow"))).toMatchObject({ files: 3, base: { commit: repo.head } });
    const outer = makeRepo({ files: FILES });
    outer.git("submodule", "add", "-q", repo.path, "sub");
    outer.git("commit", "-q", "-m", "submodule");
    expect(await inspectRepo(join(outer.path, "sub", "dir"))).toMatchObject({
      base: { repo: { path: join(outer.path, "sub") }, commit: repo.head },
    });
    const sha256 = makeRepo({ files: FILES, format: "sha256" });
    expect((await inspectRepo(sha256.path)).base.commit).toBe(sha256.head);
    repo.git("checkout", "-q", "--detach");
    expect(await inspectRepo(repo.path)).toMatchObject({ branch: null, base: { ref: "HEAD" } });
  });

  it("may start from any branch, tag or commit, under its full name", async () => {
    const repo = makeRepo({ files: FILES, commits: [{ files: { "c.txt": "c\n" } }] });
    const [first = ""] = repo.commits;
    repo.git("branch", "feature/x", first);
    repo.git("tag", "-a", "v1", "-m", "one", first);
    const ref = async (baseRef: string): Promise<string[]> => {
      const { base } = await inspectRepo(repo.path, { baseRef });
      return [base.ref, base.commit];
    };
    expect(await ref("feature/x")).toEqual(["refs/heads/feature/x", first]);
    expect(await ref("refs/heads/main")).toEqual(["refs/heads/main", repo.head]);
    expect(await ref("v1")).toEqual(["refs/tags/v1", first]);
    expect(await ref(first)).toEqual([first, first]);
    expect(await ref(first.slice(0, 12))).toEqual([first, first]);
  });

  it("refuses a branch to land on that nobody meant, unless a new one is named in full", async () => {
    const repo = makeRepo();
    const landing = (landOn: string) => inspectRepo(repo.path, { landOn });
    repo.git("tag", "v1");
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/antiphon/run_b");
    for (const own of ["antiphon/run_a", "refs/heads/antiphon/run_a", "alias"])
      await expect(landing(own)).rejects.toMatchObject({ code: "ANT_REPO_REF_RESERVED" });
    const unsure = { code: "ANT_REPO_REF_UNSURE" };
    await expect(landing("mian")).rejects.toMatchObject({
      ...unsure,
      detail: "there is no branch mian; did you mean main?",
    });
    await expect(landing("v1")).rejects.toMatchObject(unsure);
    for (const name of ["refs/heads/mian", "refs/heads/v1", "topic"])
      expect((await landing(name)).landOn).toMatchObject({ commit: null });
    repo.git("branch", "v1");
    expect((await landing("v1")).landOn).toMatchObject({ moves: "refs/heads/v1" });
  });

  it("says where it would land, also on a branch that is not there yet", async () => {
    const repo = makeRepo({ files: FILES });
    expect((await inspectRepo(repo.path, { landOn: "main" })).landOn).toEqual({
      ref: "refs/heads/main",
      commit: repo.head,
      moves: "refs/heads/main",
    });
    expect((await inspectRepo(repo.path, { landOn: "new/branch" })).landOn).toEqual({
      ref: "refs/heads/new/branch",
      commit: null,
      moves: "refs/heads/new/branch",
    });
  });

  it("says which branch moves with a symbolic ref, and where the branches of a linked work tree are", async () => {
    const repo = makeRepo({ files: FILES });
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
    repo.git("symbolic-ref", "refs/heads/alias-of-alias", "refs/heads/alias");
    const tree = `${repo.path}/.git/tree`;
    repo.git("worktree", "add", "-q", tree, "-b", "topic");
    const { landOn, home } = await inspectRepo(tree, { landOn: "alias-of-alias" });
    expect([landOn?.moves, home]).toEqual(["refs/heads/main", repo.path]);
  });
});

describe("a file whose name no sandbox can hold", () => {
  it.each([
    ["bytes that are no UTF-8", Buffer.from("caf\xe9.txt", "latin1"), "not valid UTF-8"],
    ["a backslash", Buffer.from("a\\b.txt"), "a backslash"],
    ["a line break", Buffer.from("a\nb.txt"), "a control character"],
  ])("refuses the run before it begins: %s", async (_name, name, told) => {
    const repo = makeRepo({ files: FILES });
    writeFileSync(Buffer.concat([Buffer.from(`${repo.path}/`), name]), "x\n");
    repo.git("add", "--all");
    repo.git("commit", "-q", "-m", "odd");
    const refusal = { code: "ANT_REPO_FILE_NAME", message: expect.stringContaining(told) as string };
    await expect(inspectRepo(repo.path)).rejects.toMatchObject(refusal);
    expect(await inspectRepo(repo.path, { baseRef: repo.head, allowDirty: true })).toMatchObject({
      files: 2,
    });
  });
});

describe("local changes", () => {
  it("refuse a run that starts from the commit they are on, unless allowed", async () => {
    const repo = makeRepo({ files: FILES });
    repo.write({ "a.txt": "changed\n" });
    await expect(inspectRepo(repo.path)).rejects.toMatchObject({
      code: "ANT_REPO_DIRTY",
      data: { paths: ["a.txt"] },
    });
    expect(await inspectRepo(repo.path, { allowDirty: true })).toMatchObject({ dirty: true });
    repo.git("branch", "other");
    repo.git("checkout", "-q", "other");
    repo.git("commit", "-q", "--allow-empty", "-m", "on");
    expect(await inspectRepo(repo.path, { baseRef: "main" })).toMatchObject({ dirty: true });
    await expect(inspectRepo(repo.path, { baseRef: "main", landOn: "other" })).rejects.toMatchObject({
      code: "ANT_REPO_DIRTY",
    });
  });

  it.each([
    ["a changed file", { "a.txt": "x\n" }, []],
    ["a deleted file", { "a.txt": null }, []],
    ["a staged new file", { "new.txt": "n\n" }, ["add", "new.txt"]],
    ["a staged removal", {}, ["rm", "-q", "--cached", "a.txt"]],
    ["a new mode", { "a.txt": { content: "a\n", mode: "100755" as const } }, []],
  ])("are seen: %s", async (_name, files, command) => {
    const repo = makeRepo({ files: FILES });
    repo.write(files);
    if (command.length > 0) repo.git(...command);
    await expect(inspectRepo(repo.path)).rejects.toMatchObject({ code: "ANT_REPO_DIRTY" });
  });

  it("are neither untracked files nor files with only a new time", async () => {
    const repo = makeRepo({ files: FILES });
    repo.write({ "untracked.txt": "u\n", "a.txt": "a\n" });
    expect(await inspectRepo(repo.path)).toMatchObject({ dirty: false });
  });

  it("are told apart from line endings that the repository converts", async () => {
    const repo = makeRepo({ files: FILES });
    repo.git("config", "core.autocrlf", "true");
    repo.write({ "a.txt": null });
    repo.git("-c", "core.autocrlf=true", "checkout", "-q", "a.txt");
    repo.write({ "a.txt": "a\r\n" });
    expect(await inspectRepo(repo.path)).toMatchObject({ dirty: false });
  });
});

describe("a repository a run cannot start from", () => {
  it("is missing, a file, not a repository, empty, or on a branch without a commit", async () => {
    const repo = makeRepo({ files: FILES });
    const unborn = makeRepo({ unborn: true });
    const orphan = makeRepo({ files: FILES });
    orphan.git("checkout", "-q", "--orphan", "fresh");
    const cases: [string, string][] = [
      [join(repo.path, "nothing"), "ANT_REPO_NOT_FOUND"],
      [join(repo.path, "a.txt"), "ANT_REPO_NOT_FOUND"],
      [join(repo.path, "a.txt", "below"), "ANT_REPO_NOT_FOUND"],
      [join(repo.path, "x".repeat(300)), "ANT_REPO_UNREADABLE"],
      [`${repo.path}\nx`, "ANT_REPO_NOT_FOUND"],
      ["", "ANT_REPO_NOT_FOUND"],
      [tempDir(), "ANT_REPO_NOT_GIT"],
      [unborn.path, "ANT_REPO_NO_COMMITS"],
      [orphan.path, "ANT_REPO_REF_NOT_FOUND"],
    ];
    for (const [path, code] of cases) await expect(inspectRepo(path), path).rejects.toMatchObject({ code });
    expect(await inspectRepo(orphan.path, { baseRef: "main", allowDirty: true })).toMatchObject({ files: 2 });
  });

  it("has no such ref, whatever name is given", async () => {
    const repo = makeRepo({ files: FILES });
    for (const baseRef of ["nope", "refs/heads/nope", "1".repeat(40), "deadbeef"]) {
      await expect(inspectRepo(repo.path, { baseRef }), baseRef).rejects.toMatchObject({
        code: "ANT_REPO_REF_NOT_FOUND",
      });
    }
    // Git would evaluate an expression: `:/text` reads every message and may use any regular expression.
    const expressions = [
      "--all",
      "-x",
      "HEAD:a.txt",
      "main^{tree}",
      "HEAD^2",
      ":/first",
      "a b",
      "x\ny",
      "",
      ":/(((a*)*)*)*b",
      "HEAD~1",
      "HEAD@{1}",
      "main..HEAD",
      "../x",
    ];
    for (const baseRef of expressions) {
      await expect(inspectRepo(repo.path, { baseRef }), baseRef).rejects.toMatchObject({
        code: "ANT_REPO_REF_INVALID",
      });
    }
    for (const landOn of [
      "-x",
      "a b",
      "x..y",
      "refs/tags/v1",
      "x.lock",
      "HEAD^",
      "a//b",
      "/x",
      "x/",
      "@{u}",
      "HEAD",
      "refs/heads/HEAD",
      "",
    ]) {
      await expect(inspectRepo(repo.path, { landOn }), landOn).rejects.toMatchObject({
        code: "ANT_REPO_REF_INVALID",
      });
    }
  });

  it("has a branch in the place of run branches", async () => {
    const repo = makeRepo({ files: FILES });
    repo.git("branch", "antiphon");
    await expect(inspectRepo(repo.path)).rejects.toMatchObject({ code: "ANT_REPO_REF_BLOCKED" });
  });

  it("is damaged, or its work tree is elsewhere", async () => {
    const damaged = makeRepo({ files: FILES });
    const objects = join(damaged.path, ".git", "objects");
    const tree = damaged.git("rev-parse", "HEAD:dir");
    chmodSync(join(objects, tree.slice(0, 2)), 0o755);
    rmSync(join(objects, tree.slice(0, 2)), { recursive: true });
    await expect(inspectRepo(damaged.path)).rejects.toMatchObject({ code: "ANT_REPO_INCOMPLETE" });
    const config = makeRepo({ files: FILES });
    writeFileSync(join(config.path, ".git", "config"), "[core\n");
    await expect(inspectRepo(config.path)).rejects.toMatchObject({ code: "ANT_REPO_UNREADABLE" });
    const elsewhere = makeRepo({ files: FILES });
    const target = tempDir();
    mkdirSync(join(target, "x"));
    elsewhere.git("config", "core.worktree", target);
    await expect(inspectRepo(elsewhere.path)).rejects.toMatchObject({ code: "ANT_REPO_UNREADABLE" });
    expect(readdirSync(target)).toEqual(["x"]);
  });
});

describe("the image a repository names", () => {
  const imageOf = async (files: Record<string, string>, imageNamed = false) =>
    (await inspectRepo(makeRepo({ files }).path, { imageNamed })).image;

  it("is that of antiphon.yaml, then that of devcontainer.json, else none", async () => {
    const own = "image: mine:1\nchecks:\n  - make test\n";
    const devcontainer = '{ // the team\'s\n  "image": "theirs:2", }';
    expect(await imageOf({ "antiphon.yaml": own, ".devcontainer/devcontainer.json": devcontainer })).toEqual({
      ref: "mine:1",
      from: "antiphon.yaml",
    });
    expect(await imageOf({ ".devcontainer/devcontainer.json": devcontainer })).toEqual({
      ref: "theirs:2",
      from: ".devcontainer/devcontainer.json",
    });
    expect(
      await imageOf({ "antiphon.yml": "check: make check\n", ".devcontainer.json": devcontainer }),
    ).toBeNull();
    expect(await imageOf(FILES)).toBeNull();
  });

  it("comes from the commit, not from the work tree", async () => {
    const repo = makeRepo({ files: { "antiphon.yaml": "image: committed\n" } });
    repo.write({ "antiphon.yaml": "image: edited\n" });
    const { image } = await inspectRepo(repo.path, { allowDirty: true });
    expect(image).toEqual({ ref: "committed", from: "antiphon.yaml" });
  });

  it.each([
    ["a key that is none", "imgae: x\n", /antiphon\.yaml:1: .*imgae/],
    ["a value of the wrong kind", "check: make\nimage: [x]\n", /antiphon\.yaml:2: .*image/],
    ["invalid YAML", "image: [\n", /antiphon\.yaml:/],
  ])("is refused with its line where antiphon.yaml has %s", async (_name, text, message) => {
    const repo = makeRepo({ files: { "antiphon.yaml": text } });
    for (const imageNamed of [false, true]) {
      const refused = inspectRepo(repo.path, { imageNamed });
      await expect(refused).rejects.toMatchObject({ code: "ANT_REPO_CONFIG_INVALID" });
      await expect(refused).rejects.toThrow(message);
    }
  });

  it("is refused where antiphon.yaml is a directory, also of the branch to land on", async () => {
    const repo = makeRepo({ commits: [{ files: { "antiphon.yaml/note.txt": "x\n" } }] });
    await expect(inspectRepo(repo.path)).rejects.toMatchObject({
      code: "ANT_REPO_CONFIG_INVALID",
      message: expect.stringContaining("antiphon.yaml is a directory") as string,
    });
    const [before = ""] = repo.commits;
    await expect(inspectRepo(repo.path, { baseRef: before, landOn: "main" })).rejects.toMatchObject({
      code: "ANT_REPO_CONFIG_INVALID",
      message: expect.stringContaining("antiphon.yaml of refs/heads/main is a directory") as string,
    });
  });

  it("is asked for by name where devcontainer.json builds one, unless the run names another", async () => {
    const files = { ".devcontainer/devcontainer.json": '{"build": {"dockerfile": "Dockerfile"}}' };
    await expect(imageOf(files)).rejects.toMatchObject({ code: "ANT_REPO_DEVCONTAINER" });
    await expect(imageOf(files)).rejects.toThrow(/built from Dockerfile/);
    expect(await imageOf(files, true)).toBeNull();
  });
});

describe("the skills that judge the changes of a repository", () => {
  const GATED = { "antiphon.yaml": "gates: [reviewer]\n" };
  const gatesOf = async (path: string, options: InspectOptions) => (await inspectRepo(path, options)).gates;

  it("are those of the base and of the branch that the result is to land on", async () => {
    const repo = makeRepo({ files: FILES, commits: [{ files: GATED }] });
    const [old = ""] = repo.commits;
    expect(await gatesOf(repo.path, { baseRef: old })).toEqual([]);
    expect(await gatesOf(repo.path, { baseRef: old, landOn: "main" })).toEqual(["reviewer"]);
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
    expect(await gatesOf(repo.path, { baseRef: old, landOn: "alias" })).toEqual(["reviewer"]);
    expect(await gatesOf(repo.path, { baseRef: old, landOn: "new" })).toEqual([]);
    repo.git("branch", "topic");
    repo.commit("other", { "antiphon.yaml": null, "antiphon.yml": "gates: [qa, reviewer]\n" });
    expect(await gatesOf(repo.path, { baseRef: "topic", landOn: "main" })).toEqual(["reviewer", "qa"]);
    expect(await gatesOf(repo.path, { landOn: "topic" })).toEqual(["qa", "reviewer"]);
  });

  it("are not guessed where the branch's antiphon.yaml cannot be read: no run starts then", async () => {
    const broken = makeRepo({ files: FILES, commits: [{ files: { "antiphon.yaml": "gates: [poet]\n" } }] });
    const refused = inspectRepo(broken.path, { baseRef: broken.commits[0]!, landOn: "main" });
    await expect(refused).rejects.toMatchObject({ code: "ANT_REPO_CONFIG_INVALID" });
    await expect(refused).rejects.toThrow("antiphon.yaml of refs/heads/main:1:");
    const partial = makeRepo({ files: FILES, commits: [{ files: GATED }] });
    const id = partial.git("rev-parse", "main:antiphon.yaml");
    rmSync(join(partial.path, ".git/objects", id.slice(0, 2), id.slice(2)));
    const lost = inspectRepo(partial.path, { baseRef: partial.commits[0]!, landOn: "main" });
    await expect(lost).rejects.toMatchObject({ code: "ANT_REPO_INCOMPLETE" });
  });
});

describe("what a commit says about its checks", () => {
  it("names the check and what it depends on from the commit, not from the work tree", async () => {
    const repo = makeRepo({
      files: {
        "package.json": '{"scripts":{"test":"node --test"}}',
        "test/a.test.js": "t\n",
        "src/a.js": "s\n",
      },
    });
    repo.write({ "package.json": '{"scripts":{"test":"true"}}' });
    const files = await commitFiles(repo.path, repo.head);
    const checks = await discoverChecks(files.paths, (path) => files.read(path));
    expect(checks).toEqual(["npm test"]);
    const read = (paths: readonly string[]) => files.readAll(paths);
    const guards = await protectionOf({ listing: files, read, checks, discovered: true });
    const globs = guards.map(({ glob }) => glob);
    expect(globs).toEqual(expect.arrayContaining(["test/a.test.js", "**/package.json", ".github/**"]));
    expect(globs).not.toContain("src/a.js");
  });
});
