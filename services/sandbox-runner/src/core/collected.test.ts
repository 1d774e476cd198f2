import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pax, rawEntry, rawTar, TAR_END, type RawEntry } from "../../../../test/support/raw-tar.ts";
import { Collector, type Baseline, type Collected, type Hasher } from "./collected.ts";
import { REFUSAL_RULES, Refusal, type RefusalRule } from "./refusal.ts";
import { TarReader } from "./tar-reader.ts";
import { canonicalTar } from "./tar-writer.ts";

const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");
const newHasher = (): Hasher => {
  const hash = createHash("sha256");
  return { update: (piece) => void hash.update(piece), digest: () => hash.digest("hex") };
};
const bounds = { maxEntries: 20, maxFiles: 4, maxBytes: 4096 };
const baseline: Baseline = new Map([
  ["kept.txt", { kind: "file", mode: "100644", size: 4, sha256: sha256("kept") }],
  ["link", { kind: "symlink", target: "kept.txt" }],
  ["huge", { kind: "file", mode: "100644", size: 8192, sha256: sha256(Buffer.alloc(8192)) }],
  ["odd\\name", { kind: "file", mode: "100644", size: 1, sha256: sha256("o") }],
]);

function collect(tar: Buffer, pieceBytes = tar.length): Collected {
  const collector = new Collector(baseline, bounds, newHasher);
  const reader = new TarReader(collector);
  for (let at = 0; at < tar.length; at += pieceBytes) reader.push(tar.subarray(at, at + pieceBytes));
  reader.finish();
  return collector.result();
}

const KEPT: readonly RawEntry[] = [
  { name: "./kept.txt", content: "kept" },
  { name: "./link", type: "2", link: "kept.txt" },
  { name: "./huge", content: Buffer.alloc(8192) },
  { name: "./odd\\name", content: "o" },
];

const file = (name: string | Buffer, more: Partial<RawEntry> = {}): RawEntry => ({
  name,
  content: "x",
  ...more,
});
const long = (path: string, kind = "L"): Buffer =>
  rawEntry({ name: "././@LongLink", type: kind, content: `${path}\0` });
const extended = (records: string, type = "x"): Buffer => rawEntry({ name: "pax", type, content: records });
const base256 = Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);

/** Every way out that is closed, and the rule that closes it. */
const HOSTILE: readonly (readonly [name: string, tar: Buffer, rule: RefusalRule])[] = [
  ["an absolute path", rawTar(file("/etc/passwd")), "path-absolute"],
  ["an absolute path behind ./", rawTar(file(".//etc/passwd")), "path-absolute"],
  ["a parent at the start", rawTar(file("../x")), "path-parent"],
  ["a parent behind ./", rawTar(file("./../x")), "path-parent"],
  ["a parent in the middle", rawTar(file("a/../../x")), "path-parent"],
  ["a parent at the end", rawTar(file("a/..")), "path-parent"],
  ["a parent in the prefix field", rawTar(file("x", { prefix: "../.." })), "path-parent"],
  ["an absolute prefix field", rawTar(file("x", { prefix: "/etc" })), "path-absolute"],
  ["a parent in a GNU long name", rawTar(long("../../x"), file("short")), "path-parent"],
  ["an absolute GNU long name", rawTar(long("/x"), file("short")), "path-absolute"],
  ["a parent in a pax path", rawTar(extended(pax("path", "../x")), file("short")), "path-parent"],
  ["an absolute pax path", rawTar(extended(pax("path", "/x")), file("short")), "path-absolute"],
  ["a pax path in a global header", rawTar(extended(pax("path", "x"), "g"), file("short")), "tar-extension"],
  ["a size in a global header", rawTar(extended(pax("size", "0"), "g"), file("x")), "tar-extension"],
  ["another character set", rawTar(extended(pax("hdrcharset", "BINARY")), file("x")), "tar-extension"],
  ["a backslash", rawTar(file("a\\b")), "path-backslash"],
  ["a backslash parent", rawTar(file("..\\x")), "path-backslash"],
  ["an empty name", rawTar(file("")), "path-empty"],
  ["./ as a file", rawTar(file("./")), "path-empty"],
  ["a dot part", rawTar(file("a/./b")), "path-dot"],
  ["an empty part", rawTar(file("a//b")), "path-dot"],
  ["a trailing slash on a file", rawTar(file("a/")), "path-dot"],
  ["a control character", rawTar(file("a\u0007b")), "path-control"],
  ["an escape sequence", rawTar(file("a\u001b[2Jb")), "path-control"],
  ["a line break", rawTar(file("a\nb")), "path-control"],
  ["a NUL in a pax path", rawTar(extended(pax("path", "a\0b")), file("x")), "path-control"],
  ["a direction override", rawTar(file("a\u202etxt.exe")), "path-bidi"],
  ["an isolate", rawTar(file("a\u2067b")), "path-bidi"],
  ["bytes that are no UTF-8", rawTar(file(Buffer.from([0x61, 0xff, 0xfe]))), "path-text"],
  ["an overlong encoding of /", rawTar(file(Buffer.from([0x61, 0xc0, 0xaf]))), "path-text"],
  ["a surrogate", rawTar(file(Buffer.from([0xed, 0xa0, 0x80]))), "path-text"],
  ["an over-long part", rawTar(long("n".repeat(300)), file("x")), "path-length"],
  ["an over-long path", rawTar(long(`${"d/".repeat(600)}f`), file("x")), "path-length"],
  [".git by NTFS's short name", rawTar(file("git~1/config")), "path-git"],
  [".git in capitals", rawTar(file(".GIT/config")), "path-git"],
  [".git with a trailing dot", rawTar(file(".git./config")), "path-git"],
  [".git with a stream name", rawTar(file(".git::$INDEX_ALLOCATION/x")), "path-git"],
  [".git with an ignored character", rawTar(file(".g\u200cit/config")), "path-git"],
  ["a symbolic link", rawTar({ name: "l", type: "2", link: "/etc/passwd" }), "type-symlink"],
  ["a symbolic link inside", rawTar({ name: "l", type: "2", link: "kept.txt" }), "type-symlink"],
  ["a known link with another target", rawTar({ name: "link", type: "2", link: "/" }), "type-symlink"],
  [
    "a known link by a long target",
    rawTar(long("/", "K"), { name: "link", type: "2", link: "kept.txt" }),
    "type-symlink",
  ],
  ["a known file turned link", rawTar({ name: "kept.txt", type: "2", link: "kept.txt" }), "type-symlink"],
  ["a hard link", rawTar({ name: "h", type: "1", link: "kept.txt" }), "type-hardlink"],
  ["a hard link outside", rawTar({ name: "h", type: "1", link: "/etc/shadow" }), "type-hardlink"],
  ["a character device", rawTar({ name: "d", type: "3" }), "type-device"],
  ["a block device", rawTar({ name: "d", type: "4" }), "type-device"],
  ["a named pipe", rawTar({ name: "p", type: "6" }), "type-fifo"],
  ["a GNU sparse file", rawTar({ name: "s", type: "S", content: "x" }), "type-sparse"],
  ["a pax sparse file", rawTar(extended(pax("GNU.sparse.realsize", "99")), file("s")), "type-sparse"],
  ["a GNU directory dump", rawTar({ name: "d", type: "D" }), "type-unknown"],
  ["a multi-volume part", rawTar({ name: "m", type: "M" }), "type-unknown"],
  ["a volume label", rawTar({ name: "v", type: "V" }), "type-unknown"],
  ["an unknown type", rawTar({ name: "z", type: "Z" }), "type-unknown"],
  ["a Solaris extension", rawTar({ name: "X", type: "X", content: "x" }), "type-unknown"],
  ["a wrong checksum", rawTar(file("a", { checksum: "000000\0 " })), "tar-header"],
  ["a checksum that is no number", rawTar(file("a", { checksum: "zzzzzz\0 " })), "tar-number"],
  ["a size that is no number", rawTar(file("a", { size: "9zzzzzzzzzz\0" })), "tar-number"],
  ["a base-256 size", rawTar(file("a", { size: base256 })), "tar-number"],
  ["a negative size", rawTar(file("a", { size: "-0000000001\0" })), "tar-number"],
  ["a pax size that is no number", rawTar(extended(pax("size", "1e3")), file("a")), "tar-number"],
  ["a negative pax size", rawTar(extended(pax("size", "-1")), file("a")), "tar-number"],
  ["a huge pax size", rawTar(extended(pax("size", "99999999999999")), file("a")), "tar-number"],
  ["a directory with a body", rawTar({ name: "d/", type: "5", content: "x" }), "tar-header"],
  ["a link with a body", rawTar({ name: "link", type: "2", link: "kept.txt", content: "x" }), "tar-header"],
  ["an empty long name", rawTar(rawEntry({ name: "L", type: "L" }), file("a")), "tar-extension"],
  ["an endless long name", rawTar(long("a".repeat(70_000)), file("a")), "tar-extension"],
  ["an endless pax header", rawTar(extended(pax("comment", "c".repeat(70_000))), file("a")), "tar-extension"],
  ["a pax record without a length", rawTar(extended("path=x\n"), file("a")), "tar-extension"],
  ["a pax record that is too short", rawTar(extended("5 path=x\n"), file("a")), "tar-extension"],
  ["a pax record that is too long", rawTar(extended("99 path=x\n"), file("a")), "tar-extension"],
  ["a pax record without =", rawTar(extended("7 path\n"), file("a")), "tar-extension"],
  ["the same path twice", rawTar(file("a"), file("a")), "path-duplicate"],
  ["the same path behind ./", rawTar(file("a"), file("./a")), "path-duplicate"],
  ["a file and a known link of one name", rawTar(...KEPT, file("link")), "path-duplicate"],
  ["a file below a file", rawTar(file("a"), file("a/b")), "path-conflict"],
  ["a file below a file, other order", rawTar(file("a/b"), file("a")), "path-conflict"],
  ["a file below a known link", rawTar(...KEPT, file("link/x")), "path-conflict"],
  ["too many files", rawTar(...Array.from({ length: 5 }, (_, i) => file(`f${i}`))), "too-many-files"],
  [
    "too many entries",
    rawTar(...Array.from({ length: 21 }, (_, i) => ({ name: `d${i}/`, type: "5" }))),
    "too-many-entries",
  ],
  ["too many bytes in one", rawTar(file("a", { content: Buffer.alloc(5000) })), "too-many-bytes"],
  [
    "too many bytes together",
    rawTar(file("a", { content: Buffer.alloc(3000) }), file("b", { content: Buffer.alloc(3000) })),
    "too-many-bytes",
  ],
  ["a sparse 8 GiB by its header alone", rawEntry(file("a", { size: "77777777777\0" })), "too-many-bytes"],
  [
    "a large file that only looks unchanged",
    rawTar(file("huge", { content: Buffer.alloc(8192, 1) })),
    "too-many-bytes",
  ],
  ["no end mark", rawEntry(file("a")), "tar-truncated"],
  ["an end in a header", rawEntry(file("a")).subarray(0, 100), "tar-truncated"],
  [
    "an end in the data",
    rawEntry(file("a", { content: Buffer.alloc(2000) })).subarray(0, 1500),
    "tar-truncated",
  ],
  ["nothing", Buffer.alloc(0), "tar-truncated"],
  [
    "an entry behind an end block",
    Buffer.concat([Buffer.alloc(512), rawEntry(file("a")), TAR_END]),
    "tar-header",
  ],
  ["text", Buffer.from("#!/bin/sh\n".repeat(60)), "tar-number"],
  ["a gzip archive", Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.alloc(508, 0xaa)]), "tar-number"],
];

function refusalOf(tar: Buffer, pieceBytes?: number): string {
  try {
    collect(tar, pieceBytes);
  } catch (error) {
    if (error instanceof Refusal) return error.rule;
    throw error;
  }
  return "nothing";
}

describe("what comes out of a sandbox", () => {
  it.each(HOSTILE)("C1, C2, T1, T3: %s is refused by its rule", (_name, tar, rule) => {
    expect(refusalOf(tar)).toBe(rule);
    expect(refusalOf(tar, 7)).toBe(rule); // wherever the stream is cut
  });

  it(`every rule has an archive that it refuses (${HOSTILE.length} archives)`, () => {
    const rules = Object.keys(REFUSAL_RULES).filter((rule) => rule !== "ignore-work"); // ignore-rules.test.ts
    expect([...new Set(HOSTILE.map(([, , rule]) => rule))].sort()).toEqual(rules.sort());
  });

  it("C3: is the same in whatever order, with modes and sums", () => {
    const entries = [...KEPT, file("b", { mode: 0o755 }), file("a/é"), { name: "a/", type: "5" }];
    const expected = {
      files: [
        { path: "a/é", mode: "100644", content: Buffer.from("x"), sha256: sha256("x") },
        { path: "b", mode: "100755", content: Buffer.from("x"), sha256: sha256("x") },
      ],
      deletions: [],
    };
    expect(collect(rawTar(...entries))).toEqual(expected);
    expect(collect(rawTar(...entries.toReversed()))).toEqual(expected);
  });

  it("tells changed content, changed modes and deletions", () => {
    const { files, deletions } = collect(
      rawTar({ name: "kept.txt", content: "kepT" }, { name: "odd\\name", content: "o", mode: 0o4755 }),
    );
    expect(files.map(({ path, mode }) => [path, mode])).toEqual([
      ["kept.txt", "100644"],
      ["odd\\name", "100755"],
    ]);
    expect(deletions).toEqual(["huge", "link"]);
  });

  it("C4: passes over the sandbox's own repository, whatever is in it", () => {
    const { files } = collect(
      rawTar(
        ...KEPT,
        file(".git/config"),
        { name: "sub/.git/hooks/x", type: "2", link: "/bin/sh" },
        file("new"),
      ),
    );
    expect(files.map(({ path }) => path)).toEqual(["new"]);
  });

  it("C5: what is ignored is neither kept nor counted, and a link among it refuses nothing", () => {
    const ignores = (path: string): boolean => path.startsWith("node_modules/");
    const collector = new Collector(baseline, bounds, newHasher, ignores);
    const reader = new TarReader(collector);
    const modules = Array.from({ length: 8 }, (_, i) =>
      file(`node_modules/${i}`, { content: Buffer.alloc(4096) }),
    );
    const link = { name: "node_modules/.bin/x", type: "2", link: "../0" };
    reader.push(rawTar(...KEPT, ...modules, link, file("new")));
    reader.finish();
    expect(collector.result().files.map(({ path }) => path)).toEqual(["new"]);
  });

  it("C5: what was there before is judged, whatever ignores it", () => {
    const collector = new Collector(baseline, bounds, newHasher, () => true);
    const reader = new TarReader(collector);
    expect(() => {
      reader.push(rawTar({ name: "kept.txt", type: "2", link: "/etc/passwd" }));
    }).toThrow("type-symlink");
  });

  it("reads what it writes: long names, modes, empty files", () => {
    const files = [
      { path: "z/empty", mode: "100644" as const, content: Buffer.alloc(0) },
      { path: `${"d".repeat(99)}/${"ü".repeat(60)}`, mode: "100755" as const, content: Buffer.from("long") },
      { path: "a", mode: "100644" as const, content: Buffer.alloc(1024, 7) },
    ];
    const tar = canonicalTar(files);
    expect(canonicalTar(files.toReversed()).equals(tar)).toBe(true);
    const collector = new Collector(new Map(), bounds, newHasher);
    const reader = new TarReader(collector);
    reader.push(tar);
    reader.finish();
    expect(collector.result().files.map(({ path, mode, content }) => [path, mode, content.length])).toEqual([
      ["a", "100644", 1024],
      [files[1]?.path, "100755", 4],
      ["z/empty", "100644", 0],
    ]);
  });

  it("T2: never fails but by a rule, on any bytes", () => {
    const bytes = fc.uint8Array({ minLength: 512, maxLength: 4096 });
    fc.assert(
      fc.property(bytes, fc.nat({ max: 3 }), (noise, keep) => {
        const tar = rawTar(file("a"), file("b"), { name: "d/", type: "5" });
        Buffer.from(noise).copy(tar, keep * 200, 0, 40);
        expect(["nothing", ...Object.keys(REFUSAL_RULES)]).toContain(refusalOf(tar));
        expect(Object.keys(REFUSAL_RULES)).toContain(
          refusalOf(Buffer.concat([Buffer.from([1]), Buffer.from(noise)])),
        );
      }),
    );
  });
});
