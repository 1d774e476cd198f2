/** Archives that try to get forbidden content out of a sandbox, each with the rule that refuses it. */
import type { RefusalRule } from "../../services/sandbox-runner/src/workspace/refusal.ts";
import { pax, rawEntry, rawTar, TAR_END, type RawEntry } from "./raw-tar.ts";

export type HostileArchive = readonly [name: string, tar: Buffer, rule: RefusalRule];

/** The initial files of the workspace; `collected.test.ts` passes them to the collector. */
export const KEPT: readonly RawEntry[] = [
  { name: "./kept.txt", content: "kept" },
  { name: "./link", type: "2", link: "kept.txt" },
  { name: "./huge", content: Buffer.alloc(8192) },
  { name: "./odd\\name", content: "o" },
];

export const file = (name: string | Buffer, more: Partial<RawEntry> = {}): RawEntry => ({
  name,
  content: "x",
  ...more,
});
const long = (path: string, kind = "L"): Buffer =>
  rawEntry({ name: "././@LongLink", type: kind, content: `${path}\0` });
const extended = (records: string, type = "x"): Buffer => rawEntry({ name: "pax", type, content: records });
const base256 = Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);

/** Paths that are refused in any notation. */
const PATHS: readonly (readonly [what: string, path: string, rule: RefusalRule])[] = [
  ["an absolute path", "/etc/passwd", "path-absolute"],
  ["an absolute path with two slashes", "//host/share", "path-absolute"],
  ["a parent at the start", "../x", "path-parent"],
  ["a parent in the middle", "a/../../x", "path-parent"],
  ["a parent that stays inside", "a/../x", "path-parent"],
  ["a parent at the end", "a/..", "path-parent"],
  ["a backslash", "a\\b", "path-backslash"],
  ["a backslash parent", "..\\x", "path-backslash"],
  ["a path from a drive's root", "c:\\x", "path-backslash"],
  ["a dot part", "a/./b", "path-dot"],
  ["an empty part", "a//b", "path-dot"],
  ["a trailing slash on a file", "a/", "path-dot"],
  ["a control character", "a\u0007b", "path-control"],
  ["an escape sequence", "a\u001b[2Jb", "path-control"],
  ["a line break", "a\nb", "path-control"],
  ["a carriage return", "a\rb", "path-control"],
  ["a DEL", "a\u007fb", "path-control"],
  ["a direction override", "a\u202etxt.exe", "path-bidi"],
  ["an isolate", "a\u2067b", "path-bidi"],
  ["a right-to-left mark", "a\u200fb", "path-bidi"],
  [".git by NTFS's short name", "git~1/config", "path-git"],
  [".git in capitals", ".GIT/config", "path-git"],
  [".git in capitals, further down", "a/b/.Git/hooks/x", "path-git"],
  [".git with a trailing dot", ".git./config", "path-git"],
  [".git with a trailing space", ".git /config", "path-git"],
  [".git with a stream name", ".git::$INDEX_ALLOCATION/x", "path-git"],
  [".git with an ignored character", ".g\u200cit/config", "path-git"],
];

/** The ways an archive can write a path; null if one cannot write this path. */
const WAYS: readonly (readonly [how: string, say: (path: string) => Buffer | null])[] = [
  ["in the name field", (path) => rawTar(file(path))],
  ["behind ./", (path) => rawTar(file(`./${path}`))],
  ["in a GNU long name", (path) => rawTar(long(path), file("short"))],
  ["in a pax header", (path) => rawTar(extended(pax("path", path)), file("short"))],
  [
    "in the prefix field",
    (path) => {
      const [prefix = "", ...rest] = path.split("/");
      return prefix === "" || rest.join("/") === "" ? null : rawTar(file(rest.join("/"), { prefix }));
    },
  ],
];

const BY_PATH = PATHS.flatMap(([what, path, rule]) =>
  WAYS.flatMap(([how, say]): HostileArchive[] => {
    const tar = say(path);
    return tar === null ? [] : [[`${what} ${how}`, tar, rule]];
  }),
);

const SINGLE: readonly HostileArchive[] = [
  ["a pax path in a global header", rawTar(extended(pax("path", "x"), "g"), file("short")), "tar-extension"],
  ["a size in a global header", rawTar(extended(pax("size", "0"), "g"), file("x")), "tar-extension"],
  ["another character set", rawTar(extended(pax("hdrcharset", "BINARY")), file("x")), "tar-extension"],
  ["an empty name", rawTar(file("")), "path-empty"],
  ["./ as a file", rawTar(file("./")), "path-empty"],
  ["a NUL in a pax path", rawTar(extended(pax("path", "a\0b")), file("x")), "path-control"],
  ["bytes that are no UTF-8", rawTar(file(Buffer.from([0x61, 0xff, 0xfe]))), "path-text"],
  ["an overlong encoding of /", rawTar(file(Buffer.from([0x61, 0xc0, 0xaf]))), "path-text"],
  ["a surrogate", rawTar(file(Buffer.from([0xed, 0xa0, 0x80]))), "path-text"],
  ["an over-long part", rawTar(long("n".repeat(300)), file("x")), "path-length"],
  ["an over-long path", rawTar(long(`${"d/".repeat(600)}f`), file("x")), "path-length"],
  ["a symbolic link", rawTar({ name: "l", type: "2", link: "/etc/passwd" }), "type-symlink"],
  ["a symbolic link inside", rawTar({ name: "l", type: "2", link: "kept.txt" }), "type-symlink"],
  ["a known link with another target", rawTar({ name: "link", type: "2", link: "/" }), "type-symlink-moved"],
  [
    "a known link by a long target",
    rawTar(long("/", "K"), { name: "link", type: "2", link: "kept.txt" }),
    "type-symlink-moved",
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

export const HOSTILE_ARCHIVES: readonly HostileArchive[] = [...BY_PATH, ...SINGLE];
