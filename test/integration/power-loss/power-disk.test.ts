/** Tests the power-loss rig itself: what it keeps and loses, and that it does so in the order of a real disk. */
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { mountPowerDisk, type PowerDisk, type PowerDiskOptions } from "../../chaos/power-loss/power-disk.ts";

const disks: PowerDisk[] = [];

async function mounted(options: PowerDiskOptions = {}): Promise<PowerDisk> {
  const disk = await mountPowerDisk({ mebibytes: 64, ...options });
  disks.push(disk);
  return disk;
}

afterEach(async () => {
  for (const disk of disks.splice(0)) await disk.remove();
});

function put(file: string, content: string | Buffer, { fsync }: { fsync: boolean }): void {
  const fd = openSync(file, "w");
  writeSync(fd, Buffer.from(content));
  if (fsync) fsyncSync(fd);
  closeSync(fd);
}

function fsyncDirectory(path: string): void {
  const fd = openSync(path, "r");
  fsyncSync(fd);
  closeSync(fd);
}

describe("a disk like ext4", () => {
  it("after a cut keeps a file that was fsynced, complete, and loses bytes that were not", async () => {
    const disk = await mounted();
    const at = (name: string): string => join(disk.path, name);
    put(at("before"), "no fsync, but its name is older than the next fsync", { fsync: false });
    put(at("safe"), "x".repeat(100_000), { fsync: true });
    put(at("after"), "no fsync", { fsync: false });
    writeFileSync(at("safe"), "appended", { flag: "a" });
    expect(readdirSync(disk.path).toSorted()).toEqual(["after", "before", "safe"]);

    const lost = await disk.cut();

    expect(readdirSync(disk.path).toSorted()).toEqual(["before", "safe"]);
    expect(readFileSync(at("before"), "utf8")).toBe("");
    expect(readFileSync(at("safe"), "utf8")).toBe("x".repeat(100_000));
    expect(lost).toEqual({ changes: 1, writes: 3, bytes: 51 + 8 + 8, kept: 0 });
  });

  it("a file opened with O_SYNC needs no fsync", async () => {
    const disk = await mounted();
    writeFileSync(join(disk.path, "a"), "safe", { flag: "as" });
    await disk.cut();
    expect(readFileSync(join(disk.path, "a"), "utf8")).toBe("safe");
  });

  it("undoes a rename, a link and an unlink that were not committed", async () => {
    const disk = await mounted();
    const at = (name: string): string => join(disk.path, name);
    for (const name of ["moved", "linked", "removed"]) put(at(name), name, { fsync: true });
    const settled = readdirSync(disk.path);
    renameSync(at("moved"), at("elsewhere"));
    linkSync(at("linked"), at("twin"));
    unlinkSync(at("removed"));
    await disk.cut();
    expect(readdirSync(disk.path)).toEqual(settled);
    expect(readFileSync(at("removed"), "utf8")).toBe("removed");

    renameSync(at("moved"), at("elsewhere"));
    linkSync(at("linked"), at("twin"));
    unlinkSync(at("removed"));
    fsyncDirectory(disk.path);
    await disk.cut();
    expect(readdirSync(disk.path).toSorted()).toEqual(["elsewhere", "linked", "twin"]);
  });

  it("a file replaced by another that was not fsynced is empty after the next commit", async () => {
    const disk = await mounted();
    const at = (name: string): string => join(disk.path, name);
    put(at("state"), "old", { fsync: true });
    put(at("draft"), "new", { fsync: false });
    renameSync(at("draft"), at("state"));
    put(at("other"), "", { fsync: true });
    await disk.cut();
    expect(readFileSync(at("state"), "utf8")).toBe("");
  });

  it("the names that survive a cut by chance are the first that were made", async () => {
    const disk = await mounted();
    const names = Array.from({ length: 20 }, (_, index) => `f${String(index).padStart(2, "0")}`);
    const counts = new Set<number>();
    for (let seed = 0; seed < 12; seed += 1) {
      const dir = join(disk.path, String(seed));
      mkdirSync(dir);
      fsyncDirectory(dir);
      for (const name of names) put(join(dir, name), "", { fsync: false });
      await disk.cut({ seed });
      const kept = readdirSync(dir).toSorted();
      expect(kept).toEqual(names.slice(0, kept.length));
      counts.add(kept.length);
    }
    expect(counts.size).toBeGreaterThan(4);
  });

  it("by chance any blocks of unsynced bytes survive, torn at sectors; synced ones always do", async () => {
    const disk = await mounted();
    const file = join(disk.path, "file");
    const outcomes = new Set<string>();
    for (let seed = 0; seed < 40; seed += 1) {
      put(file, Buffer.alloc(32_768, "o"), { fsync: true });
      const fd = openSync(file, "r+");
      writeSync(fd, Buffer.alloc(16_384, "n"), 0, 16_384, 8_192);
      closeSync(fd);
      await disk.cut({ seed });
      const after = readFileSync(file, "latin1");
      expect(after).toHaveLength(32_768);
      expect(after.slice(0, 8_192) + after.slice(24_576)).toBe("o".repeat(16_384));
      expect(after.match(/.{512}/g)?.every((sector) => /^(o+|n+)$/.test(sector))).toBe(true);
      outcomes.add(after);
    }
    const blocks = [...outcomes].map((after) => after.match(/.{4096}/g) ?? []);
    expect(outcomes.size).toBeGreaterThan(10);
    expect(blocks.some((four) => four.some((one) => /on|no/.test(one)))).toBe(true);
    expect(blocks.some((four) => /^o+$/.test(four[3] ?? "") && /^n+$/.test(four[5] ?? ""))).toBe(true);
  });

  it("does not restore truncated bytes, or keep bytes written after the truncation without it", async () => {
    const disk = await mounted();
    const file = join(disk.path, "file");
    for (let seed = 0; seed < 12; seed += 1) {
      put(file, "old".repeat(1_000), { fsync: true });
      truncateSync(file, 0);
      writeFileSync(file, "new", { flag: "a" });
      await disk.cut({ seed });
      expect(["old".repeat(1_000), "", "new"]).toContain(readFileSync(file, "utf8"));
    }
  });

  it("loses the same with the same seed", async () => {
    const contents: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const disk = await mounted();
      put(join(disk.path, "file"), Buffer.alloc(200_000, "n"), { fsync: false });
      fsyncDirectory(disk.path);
      await disk.cut({ seed: 9 });
      contents.push(readFileSync(join(disk.path, "file"), "latin1"));
    }
    expect(contents[0]).toMatch(/n/);
    expect(contents[0]).toBe(contents[1]);
  });

  it("kills a process and its children with the power, and its open file is dead", async () => {
    const disk = await mounted();
    const file = join(disk.path, "file");
    const script = 'while :; do echo line; done >> "$0"';
    const writer = spawn("sh", ["-c", `sh -c '${script}' "$0" & wait`, file], { stdio: "ignore" });
    const ended = new Promise((resolve) => writer.once("exit", (_code, signal) => resolve(signal)));
    while (!existsSync(file) || readFileSync(file).length < 1_000) await new Promise(setImmediate);
    const mine = openSync(file, "a");
    await disk.cut({ kill: [writer.pid ?? 0] });
    expect(await ended).toBe("SIGKILL");
    expect(() => writeSync(mine, "from before the cut")).toThrow("EIO");
    closeSync(mine);
    expect(readdirSync(disk.path)).toEqual([]); // A surviving writer would have made it again.
  });

  it("reports a full disk, and has room again when something is removed", async () => {
    const disk = await mounted({ mebibytes: 4 });
    const put4 = (): void => put(join(disk.path, "big"), Buffer.alloc(4 * 1024 * 1024), { fsync: true });
    put4();
    expect(() => put(join(disk.path, "more"), "x", { fsync: true })).toThrow("ENOSPC");
    unlinkSync(join(disk.path, "big"));
    put4();
  });
});

describe("the least that POSIX promises", () => {
  it("keeps a name only if its directory, and every directory above it, was fsynced", async () => {
    const disk = await mounted({ ordering: "strict" });
    const at = (...names: string[]): string => join(disk.path, ...names);
    put(at("named"), "safe", { fsync: true });
    fsyncDirectory(disk.path);
    put(at("nameless"), "its bytes are on the disk", { fsync: true });
    mkdirSync(at("dir"));
    put(at("dir", "child"), "safe in a directory that is not there", { fsync: true });
    fsyncDirectory(at("dir"));
    await disk.cut();
    expect(readdirSync(disk.path)).toEqual(["named"]);
    expect(readFileSync(at("named"), "utf8")).toBe("safe");
  });

  it("keeps a file that was moved to another directory in one of the two", async () => {
    const disk = await mounted({ ordering: "strict" });
    const at = (...names: string[]): string => join(disk.path, ...names);
    mkdirSync(at("from"));
    mkdirSync(at("to"));
    put(at("from", "file"), "safe", { fsync: true });
    await disk.sync();
    for (let seed = 0; seed < 8; seed += 1) {
      const [source = "", target = ""] = existsSync(at("from", "file")) ? ["from", "to"] : ["to", "from"];
      renameSync(at(source, "file"), at(target, "file"));
      await disk.cut({ seed });
      const found = ["from", "to"].filter((dir) => existsSync(at(dir, "file")));
      expect(found).toHaveLength(1);
      expect(readFileSync(at(found[0] ?? "", "file"), "utf8")).toBe("safe");
    }
  });
});
