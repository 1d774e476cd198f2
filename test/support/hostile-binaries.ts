/** Binary parts of diffs that must be refused: damaged, lying about their size, or bombs. */
import { deflateSync } from "node:zlib";
import type { HostileDiff } from "./hostile-diffs.ts";

const ID = "1".repeat(40);
const ZERO = "0".repeat(40);
const opening = (path: string): string => `diff --git a/${path} b/${path}\n`;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

export function base85Lines(data: Buffer): string {
  let text = "";
  for (let at = 0; at < data.length; at += 52) {
    const row = data.subarray(at, at + 52);
    text += String.fromCharCode(row.length <= 26 ? 64 + row.length : 70 + row.length);
    for (let group = 0; group < row.length; group += 4) {
      const four = Buffer.alloc(4);
      row.copy(four, 0, group, Math.min(group + 4, row.length));
      let value = four.readUInt32BE(0);
      let digits = "";
      for (let digit = 0; digit < 5; digit += 1) {
        digits = (ALPHABET[value % 85] ?? "") + digits;
        value = Math.floor(value / 85);
      }
      text += digits;
    }
    text += "\n";
  }
  return text;
}

/** A binary section; its declared and its actual content may differ. */
export function binaryDiff(kind: string, declared: number, data: Buffer, path = "x.bin"): string {
  const start = `${opening(path)}new file mode 100644\nindex ${ZERO}..${ID}\nGIT binary patch\n`;
  return `${start}${kind} ${declared}\n${base85Lines(deflateSync(data))}\nliteral 0\nHcmV?d00001\n\n`;
}

/** Source size, result size, then copies of 16 MiB each: a few bytes that expand to gigabytes. */
function deltaBomb(copies: number): Buffer {
  const varint = (value: number): number[] => {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
    return [...bytes, rest];
  };
  const piece = 0xff_ffff;
  const copy = [0x80 | 0x70, 0xff, 0xff, 0xff];
  return Buffer.from([
    ...varint(piece),
    ...varint(piece * copies),
    ...Array.from({ length: copies }, () => copy).flat(),
  ]);
}

export function hostileBinaries(): HostileDiff[] {
  const bad = (name: string, diff: string, ...codes: string[]): HostileDiff => ({
    name,
    diff,
    codes: codes.map((code) => `ANT_PATCH_${code}`),
  });
  const good = binaryDiff("literal", 5, Buffer.from("bytes"));
  return [
    bad(
      "content left out",
      `${opening("x.bin")}index ${ID}..${ID} 100644\nBinary files a/x.bin and b/x.bin differ\n`,
      "BINARY",
    ),
    bad(
      "new content left out",
      `${opening("x.bin")}new file mode 100644\nindex ${ZERO}..${ID}\nBinary files /dev/null and b/x.bin differ\n`,
      "BINARY",
    ),
    bad("no index line", good.replace(/index .*\n/, ""), "BINARY"),
    bad("short index line", good.replace(ID, ID.slice(0, 7)), "BINARY"),
    bad("smaller than said", good.replace("literal 5", "literal 6"), "BINARY"),
    bad("larger than said", good.replace("literal 5", "literal 4"), "BINARY"),
    bad("an unknown part", good.replace("literal 5", "image 5"), "BINARY"),
    bad("a size that is none", good.replace("literal 5", "literal -5"), "BINARY"),
    bad("a size beyond any bound", good.replace("literal 5", "literal 999999999999"), "TOO_LARGE"),
    bad("a zip bomb", binaryDiff("literal", 1024 ** 3, Buffer.alloc(1024)), "TOO_LARGE"),
    bad("a zip bomb that lies", binaryDiff("literal", 16, Buffer.alloc(64 * 1024 * 1024)), "BINARY"),
    bad("a delta bomb", binaryDiff("delta", deltaBomb(100).length, deltaBomb(100)), "TOO_LARGE"),
    bad(
      "a delta bomb that lies",
      binaryDiff("delta", 8, Buffer.from([5, 200, 1, 0x91, 0, 5, 0, 0])),
      "BINARY",
    ),
    bad(
      "a delta that copies beyond its source",
      binaryDiff("delta", 5, Buffer.from([5, 9, 0x91, 0, 9])),
      "BINARY",
    ),
    bad("a delta that inserts beyond its end", binaryDiff("delta", 4, Buffer.from([0, 9, 9, 65])), "BINARY"),
    bad("a delta with a reserved command", binaryDiff("delta", 3, Buffer.from([0, 1, 0])), "BINARY"),
    bad("an empty delta", binaryDiff("delta", 0, Buffer.alloc(0)), "BINARY"),
    bad("not base85", good.replace(/literal 5\n.*\n/, 'literal 5\nE"""""\n'), "BINARY"),
    bad(
      "new content cut off",
      binaryDiff("literal", 5, Buffer.from("bytes")).replace(/GIT binary[^]*$/, ""),
      "TRUNCATED",
    ),
    bad("a line of a wrong length", good.replace(/(literal 5\n.)/, "$1A"), "BINARY"),
    bad("base85 beyond 32 bits", good.replace(/literal 5\n.*\n/, "literal 5\nD~~~~~\n"), "BINARY"),
    bad(
      "not zlib",
      good.replace(/literal 5\n.*\n/, `literal 5\n${base85Lines(Buffer.from("plain text"))}`),
      "BINARY",
    ),
    bad("no blank line at the end", good.slice(0, good.indexOf("\n\n") + 1), "BINARY"),
    bad("prose after it", `${good}and so on\n`, "MALFORMED"),
    bad("a binary symbolic link", good.replace("100644", "120000"), "SYMLINK"),
    bad("a binary hook", binaryDiff("literal", 5, Buffer.from("bytes"), ".git/hooks/post-checkout"), "PATH"),
    bad(
      "text and binary",
      good.replace("GIT binary patch\n", "--- /dev/null\n+++ b/x.bin\n@@ -0,0 +1 @@\n+x\nGIT binary patch\n"),
      "MALFORMED",
    ),
  ];
}
