/**
 * Rules for every path of a patch, whatever its scope. They are stricter than one platform needs: a repository may be
 * checked out on a file system that folds case, drops trailing dots or ignores invisible characters, and `.git` must
 * not be written on any of them.
 */
import { isUtf8Path } from "../objects/git-path.ts";
import { refuse } from "./patch-refusal.ts";

const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 64;

/** C0, DEL, C1, and every character that is invisible or changes the direction of the text after it. */
const HIDDEN: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xffff],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** An emoji with variation, skin tone and joined parts, or a keycap. */
const EMOJI =
  /\p{Extended_Pictographic}\p{Emoji_Modifier}?[\ufe0e\ufe0f]?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?[\ufe0e\ufe0f]?)*|[0-9#*]\ufe0f?\u20e3/gu;

/** Scripts that spell words with joiners between letters. */
const JOINING =
  "[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}]";
const SPELLED = new RegExp(`(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`, "gu");

/** Hidden characters are allowed where they are part of a visible one. */
function hasHidden(path: string): boolean {
  for (const char of path.replace(EMOJI, "e").replace(SPELLED, "")) {
    const code = char.codePointAt(0) ?? 0;
    if (HIDDEN.some(([first, last]) => code >= first && code <= last)) return true;
  }
  return false;
}

/** Device names on Windows, with any extension. */
const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;

export function checkPath(path: string, line: number): void {
  const where = { path, line };
  if (path === "") refuse("ANT_PATCH_PATH", "path.empty", "an empty path", where);
  if (!isUtf8Path(path)) refuse("ANT_PATCH_NAME", "name.not-utf8", "a name that is not UTF-8", where);
  if (hasHidden(path)) refuse("ANT_PATCH_NAME", "name.hidden", "control or invisible characters", where);
  if (path.includes("\\")) refuse("ANT_PATCH_NAME", "name.backslash", "a backslash", where);
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) {
    refuse("ANT_PATCH_PATH", "path.absolute", "an absolute path", where);
  }
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) refuse("ANT_PATCH_PATH", "path.too-long", "too long", where);
  const names = path.split("/");
  if (names.length > MAX_DEPTH) refuse("ANT_PATCH_PATH", "path.too-deep", "too deep", where);
  for (const name of names) checkName(name, where);
}

function checkName(name: string, where: { path: string; line: number }): void {
  if (name === "") refuse("ANT_PATCH_PATH", "path.empty-name", "an empty name in the path", where);
  if (name === "." || name === "..")
    refuse("ANT_PATCH_PATH", "path.traversal", `a \`${name}\` in the path`, where);
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    refuse("ANT_PATCH_PATH", "path.too-long", "a name too long", where);
  const folded = folding(name);
  if (folded === ".git" || /^git~[0-9]+$/.test(folded)) {
    refuse("ANT_PATCH_PATH", "path.dot-git", "a name that is .git on some file system", where);
  }
  if (folded === ".gitmodules" || /^(gitmod~[0-9]+|gi7eba~[0-9]+)$/.test(folded)) {
    refuse("ANT_PATCH_GITLINK", "path.gitmodules", "submodules cannot be changed", where);
  }
  if (name.includes(":")) refuse("ANT_PATCH_PATH", "path.stream", "a colon: a stream on NTFS", where);
  if (/[. ]$/.test(name))
    refuse("ANT_PATCH_PATH", "path.trailing", "a name that ends in a dot or space", where);
  if (name.startsWith(" "))
    refuse("ANT_PATCH_PATH", "path.leading", "a name that starts with a space", where);
  if (DEVICE.test(name)) refuse("ANT_PATCH_PATH", "path.device", "a device on Windows", where);
}

/** The name as the most lenient file system sees it: no stream, no trailing dots or spaces, compatible, lower case. */
function folding(name: string): string {
  const stream = name.indexOf(":");
  const plain = stream === -1 ? name : name.slice(0, stream);
  return plain
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[. ]+$/, "")
    .trimStart();
}

/** The same letter at the end of a word and within it. */
const FINAL_SIGMA = /\u03c2/g;
const PLAIN = /^[\x00-\x7f]*$/;

/**
 * Form for comparing paths that are the same on a case-folding file system or look the same. Lower case alone would keep a long
 * s (`package.j\u017fon`), a sharp s and ligatures apart from the letters that they are folded to.
 */
export function foldedPath(path: string): string {
  if (PLAIN.test(path)) return path.toLowerCase();
  return path
    .normalize("NFC")
    .replace(/\u200c|\u200d|\ufe0e|\ufe0f/g, "")
    .toUpperCase()
    .toLowerCase()
    .replace(FINAL_SIGMA, "\u03c3");
}
