/**
 * Git paths are bytes; ours are strings. UTF-8 decodes as usual. Any other byte becomes the lone surrogate U+DC00 + byte
 * (Python's "surrogateescape"), so that every path survives the conversion both ways. `isUtf8Path` detects such paths.
 */
import { isUtf8 } from "node:buffer";

/** False for a path with a byte that is not UTF-8. */
export function isUtf8Path(path: string): boolean {
  return !/\p{Surrogate}/u.test(path);
}

export function decodePath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  for (let at = 0; at < bytes.length;) {
    let width = 0;
    for (const candidate of [1, 2, 3, 4]) {
      if (at + candidate <= bytes.length && isUtf8(bytes.subarray(at, at + candidate))) {
        width = candidate;
        break;
      }
    }
    if (width === 0) {
      text += String.fromCharCode(0xdc00 + (bytes[at] ?? 0));
      at += 1;
    } else {
      text += bytes.toString("utf8", at, at + width);
      at += width;
    }
  }
  return text;
}

export function encodePath(path: string): Buffer {
  if (isUtf8Path(path)) return Buffer.from(path, "utf8");
  const parts: Buffer[] = [];
  for (const char of path) {
    const code = char.codePointAt(0) ?? 0;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(char, "utf8"));
  }
  return Buffer.concat(parts);
}

/** Sort key in git's order, which compares unsigned bytes. A latin1 string of the bytes compares the same way. */
export function byteKey(path: string): string {
  return encodePath(path).toString("latin1");
}

const SIMPLE: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};

/** Reads a C-quoted name starting at `"`. Returns the name and the remaining text, or null when it is malformed. */
export function unquotePath(text: string): { path: string; rest: string } | null {
  if (!text.startsWith('"')) return null;
  const bytes: Buffer[] = [];
  for (let at = 1; at < text.length;) {
    const char = text[at] ?? "";
    if (char === '"') return { path: decodePath(Buffer.concat(bytes)), rest: text.slice(at + 1) };
    if (char !== "\\") {
      const code = text.codePointAt(at) ?? 0;
      const whole = String.fromCodePoint(code);
      bytes.push(encodePath(whole));
      at += whole.length;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(at + 1, at + 4));
    if (octal !== null) {
      bytes.push(Buffer.from([Number.parseInt(octal[0], 8)]));
      at += 4;
      continue;
    }
    const simple = SIMPLE[text[at + 1] ?? ""];
    if (simple === undefined) return null;
    bytes.push(Buffer.from([simple]));
    at += 2;
  }
  return null;
}

const ESCAPES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(SIMPLE).map(([letter, code]) => [code, `\\${letter}`]),
);

/** Quotes like git with core.quotePath on: unchanged, or in double quotes when a byte needs escaping. */
export function quotePath(path: string): string {
  let quoted = "";
  let needed = false;
  for (const byte of encodePath(path)) {
    const escape = ESCAPES[byte];
    if (escape !== undefined) quoted += escape;
    else if (byte < 0x20 || byte >= 0x7f) quoted += `\\${byte.toString(8).padStart(3, "0")}`;
    else {
      quoted += String.fromCharCode(byte);
      continue;
    }
    needed = true;
  }
  return needed ? `"${quoted}"` : path;
}
