import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rawTar } from "../../../../test/support/raw-tar.ts";
import { TreeArchive, type TreeSource } from "./tree-archive.ts";

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

describe("trees on disk", () => {
  it("tell what is in them and give the same bytes back", async () => {
    const tree = await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    expect([...tree.baseline.keys()]).toEqual(["a.txt", "run", "l"]);
    expect(tree.baseline.get("run")).toMatchObject({ kind: "file", mode: "100755", size: 2 });
    expect(tree.baseline.get("l")).toEqual({ kind: "symlink", target: "a.txt" });
    expect(tree.contentBytes).toBe(3);
    const pieces: Buffer[] = [];
    for await (const piece of tree.tar()) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(tar)).toBe(true);
  });

  it("A3: are fetched once, also by two at a time, also by the next process", async () => {
    const archive = new TreeArchive(directory, source, 1e6);
    await Promise.all([archive.open("tree-1.tar"), archive.open("tree-1.tar")]);
    await archive.open("tree-1.tar");
    await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    expect(asked).toEqual(["tree-1.tar"]);
  });

  it("A1: are not there when they did not come whole", async () => {
    const archive = new TreeArchive(directory, source, 1e6);
    await expect(archive.open("broken.tar")).rejects.toThrow("lost");
    expect(readdirSync(directory)).toEqual([]);
  });

  it("A1: are fetched again when their index cannot be read", async () => {
    await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    writeFileSync(join(directory, "tree-1.tar.index.json"), "{");
    await new TreeArchive(directory, source, 1e6).open("tree-1.tar");
    expect(asked).toHaveLength(2);
  });

  it("A2: go when there are too many, the newest stays", async () => {
    const archive = new TreeArchive(directory, source, tar.length + 10);
    await archive.open("tree-1.tar");
    await archive.open("tree-2.tar");
    expect(readdirSync(directory).filter((name) => name.endsWith(".tar.tar"))).toEqual(["tree-2.tar.tar"]);
    await archive.open("tree-1.tar");
    expect(asked).toEqual(["tree-1.tar", "tree-2.tar", "tree-1.tar"]);
  });

  it.each(["../x", "/etc/passwd", "a/b", "", ".hidden"])("have no name like %j", async (name) => {
    await expect(new TreeArchive(directory, source, 1e6).open(name)).rejects.toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
  });
});
