/**
 * Files that services keep on their own disk, after a power cut: a cached tree is complete or absent, and acknowledged
 * results stand. Each time another file on the disk is fsynced before the cut, so that the file system's journal has
 * the names of all files but the bytes of only the flushed ones.
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { TreeCache } from "@antiphon/git";
import { openSigningKey } from "@antiphon/runtime";
import { AllowlistFile } from "../../../services/sandbox-runner/src/images/allowlist-file.ts";
import { TreeArchive } from "../../../services/sandbox-runner/src/workspace/tree-archive.ts";
import { mountPowerDisk, type PowerDisk } from "../../chaos/power-loss/power-disk.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { exportedTree } from "../../support/exported-tree.ts";

/** Null: everything that can be lost is lost; the other seeds leave something by chance. */
const SEEDS = [null, 1, 2, 3, 4];
const disks: PowerDisk[] = [];

afterEach(async () => {
  for (const disk of disks.splice(0)) await disk.remove();
  cleanUpRepos();
});

async function mounted(ordering: "ordered" | "strict" = "ordered"): Promise<PowerDisk> {
  const disk = await mountPowerDisk({ mebibytes: 64, ordering });
  disks.push(disk);
  return disk;
}

async function cutAfterAnotherFsync(disk: PowerDisk, seed: number | null): Promise<void> {
  const fd = openSync(join(disk.path, "another"), "w");
  fsyncSync(fd);
  closeSync(fd);
  await disk.cut({ seed });
}

describe("a power cut", () => {
  it("git/G5: leaves no unreadable tree in an Associate's cache", async () => {
    const disk = await mounted();
    for (const [index, seed] of SEEDS.entries()) {
      const repo = makeRepo({ files: { "a.txt": `${index}\n`, "b/c.txt": "c\n" } });
      const { tree, tar } = await exportedTree(repo.path, repo.head);
      await new TreeCache(join(disk.path, "trees")).importTree(tree, tar);
      await cutAfterAnotherFsync(disk, seed);
      const cache = new TreeCache(join(disk.path, "trees"));
      if (!(await cache.has(tree))) await cache.importTree(tree, tar);
      expect((await cache.readFile(tree, "a.txt"))?.toString()).toBe(`${index}\n`);
    }
  });

  it("leaves no base tree without its bytes at a sandbox-runner", async () => {
    const disk = await mounted();
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const { tar } = await exportedTree(repo.path, repo.head);
    const source = {
      async *stream() {
        yield await Promise.resolve(Buffer.isBuffer(tar) ? tar : Buffer.from(tar));
      },
    };
    for (const [index, seed] of SEEDS.entries()) {
      const name = `tree-${index}.tar`;
      await new TreeArchive(join(disk.path, "trees"), source, 1e9).open(name);
      await cutAfterAnotherFsync(disk, seed);
      const tree = await new TreeArchive(join(disk.path, "trees"), source, 1e9).open(name);
      expect([...tree.baseline.keys()]).toEqual(["a.txt"]);
      const pieces: Buffer[] = [];
      for await (const piece of tree.tar()) pieces.push(piece);
      expect(Buffer.concat(pieces).equals(tar)).toBe(true);
    }
  });

  it("keeps every allowed image on the list", async () => {
    const disk = await mounted();
    const path = join(disk.path, "images.json");
    for (const [index, seed] of SEEDS.entries()) {
      const image = {
        id: `sha256:${String(index).repeat(64)}`,
        ref: `image:${index}`,
        allowedAt: new Date(0).toISOString(),
      };
      await new AllowlistFile(path).change((images) => [...images, image]);
      await disk.cut({ seed });
      expect(await new AllowlistFile(path).read()).toHaveLength(index + 1);
    }
  });

  it.each(["ordered", "strict"] as const)(
    "leaves a Director the key it signed with, wherever the key file was created (%s)",
    async (ordering) => {
      const disk = await mounted(ordering);
      for (const [index, seed] of SEEDS.entries()) {
        const file = join(disk.path, `new-${index}`, "keys", "director.pem");
        const { jwk } = openSigningKey(file);
        await disk.cut({ seed });
        expect(openSigningKey(file).jwk).toEqual(jwk);
      }
    },
  );
});
