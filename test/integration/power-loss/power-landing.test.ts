/** After a power cut an acknowledged landing is on its branch, regardless of what else is on that disk. */
import { cpSync, existsSync, fsyncSync, openSync, closeSync, mkdirSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { limits } from "@antiphon/contracts";
import { applyPatch, buildCommit, diffOverlay, landRef, treeOf } from "@antiphon/git";
import { mountPowerDisk, type PowerDisk } from "../../chaos/power-loss/power-disk.ts";
import { cleanUpRepos, makeRepo, rawGit } from "../../support/repo.ts";

const disks: PowerDisk[] = [];

afterEach(async () => {
  for (const disk of disks.splice(0)) await disk.remove();
  cleanUpRepos();
});

async function repoOn(
  ordering: "ordered" | "strict",
): Promise<{ disk: PowerDisk; path: string; head: string }> {
  const disk = await mountPowerDisk({ mebibytes: 64, ordering });
  disks.push(disk);
  const made = makeRepo({ files: { "src/a.txt": "a\n" } });
  const path = join(disk.path, "repo");
  cpSync(made.path, path, { recursive: true });
  await disk.sync();
  return { disk, path, head: made.head };
}

/** A commit that adds `count` files. */
async function change(path: string, parent: string, name: string, count: number): Promise<string> {
  const files = Array.from({ length: count }, (_, index) => ({
    path: `${name}/${index}.txt`,
    mode: "100644" as const,
    content: Buffer.from(`${name} ${index}\n`),
  }));
  const diff = await diffOverlay(path, await treeOf(path, parent), { files, deletions: [] });
  const { tree, objects } = await applyPatch(path, parent, diff.patch);
  const at = new Date("2026-02-03T04:05:06Z");
  const trailers = { "Antiphon-Run": "run_x", "Antiphon-Task": "T-001", "Antiphon-Epoch": "1" };
  return buildCommit(path, { parent, tree, objects, message: name, trailers, at });
}

for (const ordering of ["ordered", "strict"] as const) {
  describe(`a power cut right after a landing, on a disk that is ${ordering}`, () => {
    for (const { size, count } of [
      { size: "loose objects", count: 3 },
      { size: "a pack", count: 150 },
    ]) {
      it(`git/G3: keeps the branch at the acknowledged commit, with ${size}`, async () => {
        const { disk, path, head } = await repoOn(ordering);
        const first = await change(path, head, "first", count);
        expect(await landRef(path, "refs/heads/antiphon/run_x", first, null)).toMatchObject({
          kind: "landed",
        });
        await disk.cut();
        expect(rawGit(path, "rev-parse", "antiphon/run_x")).toBe(first);
        rawGit(path, "fsck", "--strict", "--full");

        const second = await change(path, first, "second", count);
        expect(await landRef(path, "refs/heads/antiphon/run_x", second, first)).toMatchObject({
          kind: "landed",
        });
        await disk.cut({ seed: count });
        expect(rawGit(path, "rev-parse", "antiphon/run_x")).toBe(second);
        rawGit(path, "fsck", "--strict", "--full");
      });
    }

    it("keeps a commit that was built and not landed yet, because the verdict names it", async () => {
      const { disk, path, head } = await repoOn(ordering);
      const built = await change(path, head, "built", 3);
      await disk.cut();
      rawGit(path, "cat-file", "-e", `${built}^{tree}`);
      rawGit(path, "rev-list", "--objects", built);
    });

    it("git/G3: keeps a landing found done already, although the process that did it died at once", async () => {
      const { disk, path, head } = await repoOn(ordering);
      const commit = await change(path, head, "found", 3);
      rawGit(path, "update-ref", "refs/heads/antiphon/run_y", commit);
      expect(await landRef(path, "refs/heads/antiphon/run_y", commit, null)).toMatchObject({
        kind: "already",
      });
      await disk.cut();
      expect(rawGit(path, "rev-parse", "antiphon/run_y")).toBe(commit);
    });
  });
}

describe("a lock that a power cut left behind", () => {
  function leaveLock(path: string, ref: string, ageMs: number): string {
    const lock = join(path, ".git", `${ref}.lock`);
    mkdirSync(dirname(lock), { recursive: true });
    const fd = openSync(lock, "w");
    fsyncSync(fd);
    closeSync(fd);
    const then = new Date(Date.now() - ageMs);
    utimesSync(lock, then, then);
    return lock;
  }

  it("on a run's own branch is removed once it is older than any landing takes, and not before", async () => {
    const { disk, path, head } = await repoOn("ordered");
    const commit = await change(path, head, "change", 1);
    const ref = "refs/heads/antiphon/run_x";
    const young = leaveLock(path, ref, limits.refLockMs / 2);
    await disk.cut();
    await expect(landRef(path, ref, commit, null)).rejects.toMatchObject({ code: "ANT_LANDING_REF_LOCKED" });
    expect(existsSync(young)).toBe(true);

    leaveLock(path, ref, limits.refLockMs + 1_000);
    expect(await landRef(path, ref, commit, null)).toEqual({ kind: "landed", actual: commit });
    expect(rawGit(path, "for-each-ref", "--format=%(refname)", "refs/heads/antiphon")).toBe(ref);
  });

  it("on another branch stays, because a user may hold it", async () => {
    const { path, head } = await repoOn("ordered");
    const commit = await change(path, head, "change", 1);
    const lock = leaveLock(path, "refs/heads/main", limits.refLockMs * 10);
    await expect(landRef(path, "refs/heads/main", commit, head)).rejects.toMatchObject({
      code: "ANT_LANDING_REF_LOCKED",
    });
    expect(existsSync(lock)).toBe(true);
  });
});
