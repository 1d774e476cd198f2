/** A tree that is larger than what a process may hold goes from a repository into a cache. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limits } from "@antiphon/contracts";
import { exportTree, TreeCache } from "@antiphon/git";
import { largeRepo } from "../../support/large-repo.ts";
import { sized } from "../../support/night.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";
import type { Moved } from "../../support/tree-mover.ts";
import { builtProgram } from "../../support/built-program.ts";
import { patient } from "../../support/patience.ts";

const MOVER = await builtProgram(new URL("../../support/tree-mover.ts", import.meta.url));
const MiB = 1024 * 1024;
const FILE_MIB = 80;
/** More than the process may hold in any case. */
const LARGE_MIB = sized(400, 560);

afterEach(() => {
  cleanUpRepos();
});

describe("a large tree", () => {
  it("git/G5: leaves nothing that is used when its import is killed in the middle", async () => {
    const repo = largeRepo({ mib: 128, fileMiB: 8 });
    const dir = tempDir();
    const args = [MOVER, repo.path, repo.head, dir, String(limits.treeBytes)];
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    await vi.waitFor(() => expect(growing(dir)).toBeGreaterThan(20 * MiB), { timeout: 30_000, interval: 5 });
    child.kill("SIGKILL");
    await once(child, "close");
    const cache = new TreeCache(dir);
    const { tree, tar } = await exportTree(repo.path, repo.head);
    expect(await cache.has(tree)).toBe(false);
    if (Buffer.isBuffer(tar)) throw new Error("the archive is held");
    await cache.importTree(tree, tar());
    expect((await cache.list(tree)).length).toBe(16);
  });

  it("is moved within 300 MiB of memory although it is larger", { timeout: patient(120_000) }, async () => {
    const repo = largeRepo({ mib: LARGE_MIB, fileMiB: FILE_MIB });
    const args = [MOVER, repo.path, repo.head, tempDir(), String(limits.treeBytes)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const moved = JSON.parse(stdout) as Moved;
    expect(moved).toMatchObject({ tree: repo.git("rev-parse", "HEAD^{tree}"), streamed: true });
    expect(moved.bytes).toBeGreaterThan(LARGE_MIB * MiB);
    expect(moved.peakMiB).toBeLessThan(300);
  });
});

/** Bytes of the packs that are being written below a directory. */
function growing(dir: string): number {
  const listed = execFileSync("du", ["-sk", dir], { encoding: "utf8" });
  return Number.parseInt(listed, 10) * 1024;
}
