import { describe, expect, it } from "vitest";
import type { TarEntry } from "./tar.ts";
import { readTar } from "./tar-reader.ts";
import { writeTar } from "./tar-writer.ts";

const BOUNDS = { maxFiles: 10, maxBytes: 10_000 };
const file = (path: string, content = "x"): TarEntry => ({
  path,
  mode: "100644",
  content: Buffer.from(content),
});

/** A header block with one field edited and its checksum corrected. */
function forged(edit: (block: Buffer) => void): Buffer {
  const tar = writeTar([file("a")]);
  edit(tar.subarray(0, 512));
  tar.fill(0x20, 148, 156);
  const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  tar.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return tar;
}

describe("a tar", () => {
  it("returns what was put in: short and long names, links, bytes, modes", () => {
    const entries: TarEntry[] = [
      file("a"),
      { path: "run.sh", mode: "100755", content: Buffer.from([0, 255, 1]) },
      { path: "link", mode: "120000", content: Buffer.from("t".repeat(120)) },
      { path: "sub", mode: "160000", content: Buffer.from("1".repeat(40)) },
      file(`${"d".repeat(100)}/${"n".repeat(100)}`),
      file(`${"é".repeat(60)}/${"n".repeat(140)}`),
      file("e".repeat(255)),
      file("exactly-512", "y".repeat(512)),
      file("empty", ""),
    ];
    const tar = writeTar(entries);
    expect(tar.length % 512).toBe(0);
    expect(readTar(tar, BOUNDS)).toEqual(entries);
    expect(writeTar(readTar(tar, BOUNDS)).equals(tar)).toBe(true);
  });

  it.each([
    ["an absolute path", (block: Buffer) => block.write("/etc/x\0", 0)],
    ["a path that climbs", (block: Buffer) => block.write("a/../../x\0", 0)],
    ["a path that ends in a slash", (block: Buffer) => block.write("a/\0", 0)],
    ["a hard link", (block: Buffer) => block.write("1", 156)],
    ["a character device", (block: Buffer) => block.write("3", 156)],
    ["a block device", (block: Buffer) => block.write("4", 156)],
    ["a fifo", (block: Buffer) => block.write("6", 156)],
    ["a sparse file", (block: Buffer) => block.write("S", 156)],
    ["a GNU long name", (block: Buffer) => block.write("L", 156)],
    ["a link with content", (block: Buffer) => block.write("2", 156)],
    ["a size beyond the end", (block: Buffer) => block.write("77777777777\0", 124)],
    ["a size in base 256", (block: Buffer) => block.write("\x80", 124, "latin1")],
    ["a size that is no number", (block: Buffer) => block.write("9", 124)],
  ])("with %s is refused", (_name, edit) => {
    expect(() => readTar(forged(edit), BOUNDS)).toThrow(
      expect.objectContaining({ code: "ANT_SANDBOX_OUTPUT" }) as Error,
    );
  });

  it("that is damaged, cut off, doubled or too large is refused", () => {
    const tar = writeTar([file("a")]);
    const damaged = Buffer.from(tar).fill("b", 0, 1);
    const many = Array.from({ length: 11 }, (_, index) => file(`f${index}`));
    for (const bad of [
      damaged,
      tar.subarray(0, 1024),
      tar.subarray(0, 700),
      Buffer.alloc(0),
      Buffer.from("no tar"),
    ]) {
      expect(() => readTar(bad, BOUNDS)).toThrow();
    }
    expect(() => readTar(writeTar([file("a"), file("a")]), BOUNDS)).toThrow(/twice/);
    expect(() => readTar(writeTar(many), BOUNDS)).toThrow(/more than 10 files/);
    expect(() => readTar(writeTar([file("a", "x".repeat(10_001))]), BOUNDS)).toThrow(/bytes/);
  });

  it("skips directories that other tools put in", () => {
    const directory = forged((block) => {
      block.write("dir/\0", 0);
      block.write("5", 156);
      block.write("00000000000\0", 124);
    }).subarray(0, 512);
    expect(readTar(Buffer.concat([directory, writeTar([file("dir/a")])]), BOUNDS)).toEqual([file("dir/a")]);
  });

  it("with a pax record that moves things is refused", () => {
    const long = writeTar([file("e".repeat(255))]);
    for (const key of ["size", "GNU.sparse.map"]) {
      const record = `${String(key.length + 7).padStart(2, "0")} ${key}=99\n`;
      const bad = Buffer.from(long);
      bad.fill(0, 512, 1024).write(record, 512);
      expect(() => readTar(bad, BOUNDS)).toThrow(/pax record/);
    }
  });
});
