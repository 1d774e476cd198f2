import { mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rawTar } from "../../../../test/support/raw-tar.ts";
import { TreeArchive, type Tree, type TreeSource } from "./tree-archive.ts";

const tar = rawTar(
  { name: "a.txt", content: "a" },
  { name: "run", content: "#!", mode: 0o755 },
  { name: "l", type: "2", link: "a.txt" },
  { name: "submodule/", type: "5", link: "gitlink:0123" },
);
let directory: string;
let asked: string[];
const source: TreeSource = {
  async *stream(name) {
    asked.push(name);
    if (name.includes("broken")) {
      yield tar.subarray(0, 700);
      throw new Error("lost");
    }
    for (let at = 0; at < tar.length; at += 100) yield await Promise.resolve(tar.subarray(at, at + 100));
  },
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-archive-"));
  asked = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function bytesOf(tree: Tree): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of tree.tar()) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The trees in the directory; each has an index. */
const trees = (): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith(".index.json"))
    .map((name) => name.slice(0, -".index.json".length))
    .sort();

/** Dates the last use of a tree back to `minute` of a day long ago. */
function usedAt(name: string, minute: number): void {
  const then = new Date(2020, 0, 1, 0, minute);
  utimesSync(join(directory, `${name}.index.json`), then, then);
}

describe("trees on disk", () => {
  it("list their entries and return the same bytes", async () => {
    const tree = await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    expect([...tree.baseline.keys()]).toEqual(["a.txt", "run", "l"]);
    expect(tree.baseline.get("run")).toMatchObject({ kind: "file", mode: "100755", size: 2 });
    expect(tree.baseline.get("l")).toEqual({ kind: "symlink", target: "a.txt" });
    expect(tree.contentBytes).toBe(3);
    expect((await bytesOf(tree)).equals(tar)).toBe(true);
  });

  it("are fetched once, even by two jobs at a time or by the next process", async () => {
    const archive = new TreeArchive(directory, source, 1e6);
    await Promise.all([archive.open("tree-1.tar"), archive.open("tree-1.tar")]);
    await archive.open("tree-1.tar");
    await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    expect(asked).toEqual(["tree-1.tar"]);
  });

  it("do not appear when they did not arrive whole", async () => {
    const archive = new TreeArchive(directory, source, 1e6);
    await expect(archive.open("broken.tar")).rejects.toThrow("lost");
    expect(readdirSync(directory)).toEqual([]);
  });

  it("do not appear when the disk holds fewer bytes than arrived", async () => {
    const lossy: TreeSource = {
      async *stream(name) {
        yield* source.stream(name);
        for (const file of readdirSync(directory)) truncateSync(join(directory, file), tar.length - 1);
      },
    };
    await expect(new TreeArchive(directory, lossy, 1e6).open("tree-1.tar")).rejects.toThrow("were written");
    expect(readdirSync(directory)).toEqual([]);
  });

  it("make room before the next one is fetched: what a killed process left goes, even when the fetch fails", async () => {
    await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    const long = new Date(Date.now() - 2 * 3_600_000);
    for (const name of [".tree-2.tar.7.1", ".tree-3.tar.8.1"]) writeFileSync(join(directory, name), "half");
    utimesSync(join(directory, ".tree-2.tar.7.1"), long, long);
    await expect(new TreeArchive(directory, source, 10).open("broken.tar")).rejects.toThrow("lost");
    expect(readdirSync(directory)).toEqual([".tree-3.tar.8.1"]);
  });

  it("are fetched again when they were dropped", async () => {
    const archive = new TreeArchive(directory, source, 1e6);
    const tree = await archive.open("tree-1.tar");
    writeFileSync(join(directory, "tree-1.tar.tar"), Buffer.alloc(tar.length, "x"));
    await tree.drop();
    expect(readdirSync(directory)).toEqual([]);
    expect((await bytesOf(await archive.open("tree-1.tar"))).equals(tar)).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it("are swept at start: what a killed process left goes before any tree arrives", async () => {
    const fresh = new TreeArchive(join(directory, "new"), source, 1e6);
    await fresh.sweep();
    const long = new Date(Date.now() - 2 * 3_600_000);
    for (const name of [".tree-2.tar.7.1", ".tree-3.tar.8.1"])
      writeFileSync(join(directory, "new", name), "half");
    utimesSync(join(directory, "new", ".tree-2.tar.7.1"), long, long);
    await fresh.sweep();
    expect(readdirSync(join(directory, "new"))).toEqual([".tree-3.tar.8.1"]);
    expect(asked).toEqual([]);
  });

  it("are fetched again when their index cannot be read", async () => {
    await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    writeFileSync(join(directory, "tree-1.tar.index.json"), "{");
    await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    expect(asked).toHaveLength(2);
  });

  it("are evicted when there are too many, except the newest", async () => {
    const archive = new TreeArchive(directory, source, tar.length + 10);
    await archive.open("tree-1.tar");
    await archive.open("tree-2.tar");
    expect(trees()).toEqual(["tree-2.tar"]);
    await archive.open("tree-1.tar");
    expect(asked).toEqual(["tree-1.tar", "tree-2.tar", "tree-1.tar"]);
  });

  it("count as used when opened from memory, so another tree is evicted first", async () => {
    const archive = new TreeArchive(directory, source, 2 * tar.length + 10);
    await archive.open("tree-1.tar");
    await archive.open("tree-2.tar");
    usedAt("tree-1.tar", 1);
    usedAt("tree-2.tar", 2);
    await archive.open("tree-1.tar");
    await archive.open("tree-3.tar");
    expect(trees()).toEqual(["tree-1.tar", "tree-3.tar"]);
  });

  it("are fetched again, once for two readers, when evicted between opening and reading", async () => {
    const archive = new TreeArchive(directory, source, tar.length + 10);
    const tree = await archive.open("tree-1.tar");
    const bytes = tree.tar(); // obtained before the eviction, read after it
    await archive.open("tree-2.tar");
    expect(trees()).toEqual(["tree-2.tar"]);
    const [first, second] = await Promise.all([bytesOf({ ...tree, tar: () => bytes }), bytesOf(tree)]);
    expect([first.equals(tar), second.equals(tar)]).toEqual([true, true]);
    expect(asked).toEqual(["tree-1.tar", "tree-2.tar", "tree-1.tar"]);
  });

  it("are fetched again when another job has just removed the index, even if it is in memory", async () => {
    const archive = new TreeArchive(directory, source, 1e6);
    await archive.open("tree-1.tar");
    rmSync(join(directory, "tree-1.tar.index.json"));
    expect((await bytesOf(await archive.open("tree-1.tar"))).equals(tar)).toBe(true);
    expect(trees()).toEqual(["tree-1.tar"]);
    expect(asked).toEqual(["tree-1.tar", "tree-1.tar"]);
  });

  it.each(["../x", "/etc/passwd", "a/b", "", ".hidden"])("cannot have the name %j", async (name) => {
    await expect(new TreeArchive(directory, source, 1e6).open(name)).rejects.toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
  });
});
