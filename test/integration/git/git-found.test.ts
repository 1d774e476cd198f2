import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FoundRepos, openRepo } from "@antiphon/git";
import { afterEach, expect, it } from "vitest";
import { makeRepo, rawGit, tempDir } from "../../support/repo.ts";

const path = process.env["PATH"];
afterEach(() => {
  process.env["PATH"] = path;
});

/** Without git on the path, only what is remembered can be answered. */
const withoutGit = (): void => {
  process.env["PATH"] = "/nonexistent";
};
/** Far enough ahead that no file was changed just now. */
const later = (): number => Date.now() + 60_000;
const asked = { code: "ANT_GIT_MISSING" };

it("asks git once for a repository whose places stay, also through a link and from a sub-directory", async () => {
  const repo = makeRepo({ files: { "a/b/c.js": "1;\n" } });
  const link = join(tempDir(), "link");
  symlinkSync(repo.path, link);
  const below = join(repo.path, "a/b");
  const found = new FoundRepos(later);
  const first = await found.find(link);
  expect(first).toEqual(await openRepo(repo.path));
  const inside = await found.find(below);
  rawGit(repo.path, "commit", "--quiet", "--allow-empty", "--message", "the branch moves");
  withoutGit();
  expect(await found.find(repo.path)).toBe(first);
  expect(await found.find(below)).toBe(inside);
});

it.each<[string, (repo: string) => void]>([
  ["its config is changed", (repo) => rawGit(repo, "config", "core.bare", "true")],
  ["a config of its work tree appears", (repo) => writeFileSync(join(repo, ".git/config.worktree"), "")],
  ["it becomes shallow", (repo) => writeFileSync(join(repo, ".git/shallow"), "")],
  ["its HEAD is gone", (repo) => rmSync(join(repo, ".git/HEAD"))],
  ["its git directory is another one", (repo) => exchange(join(repo, ".git"))],
  ["its git directory is a link", (repo) => relink(join(repo, ".git"))],
  ["another repository takes its place", (repo) => exchange(repo)],
])("asks git again when %s", async (_what, change) => {
  const repo = makeRepo({ files: { "a.js": "1;\n" } });
  const found = new FoundRepos(later);
  await found.find(repo.path);
  change(repo.path);
  withoutGit();
  await expect(found.find(repo.path)).rejects.toMatchObject(asked);
});

it("asks git again when a directory between the path and the top becomes a repository of its own", async () => {
  const repo = makeRepo({ files: { "a/b/c.js": "1;\n" } });
  const found = new FoundRepos(later);
  const below = join(repo.path, "a/b");
  expect((await found.find(below)).top).toBe(repo.path);
  rawGit(join(repo.path, "a"), "init", "--quiet");
  expect((await found.find(below)).top).toBe(join(repo.path, "a"));
});

it("asks git each time while a file that decides was changed within the last seconds", async () => {
  const repo = makeRepo({ files: { "a.js": "1;\n" } });
  writeFileSync(join(repo.path, ".git/config.worktree"), "");
  const found = new FoundRepos();
  await found.find(repo.path);
  withoutGit();
  await expect(found.find(repo.path)).rejects.toMatchObject(asked);
});

it("says of a place that is gone, and of one that is no repository, what openRepo says", async () => {
  const found = new FoundRepos(later);
  await expect(found.find("/nonexistent/repo")).rejects.toMatchObject({ code: "ANT_REPO_NOT_FOUND" });
  await expect(found.find(tempDir())).rejects.toMatchObject({ code: "ANT_REPO_NOT_GIT" });
  const repo = makeRepo({ files: { "a.js": "1;\n" } });
  await found.find(repo.path);
  rmSync(join(repo.path, ".git"), { recursive: true });
  await expect(found.find(repo.path)).rejects.toMatchObject({ code: "ANT_REPO_NOT_GIT" });
});

function exchange(place: string): void {
  const aside = `${place}-aside`;
  renameSync(place, aside);
  mkdirSync(place);
  for (const name of ["HEAD", "config"]) writeFileSync(join(place, name), "");
}

function relink(place: string): void {
  const aside = `${place}-aside`;
  renameSync(place, aside);
  symlinkSync(aside, place);
}
