/**
 * The paths that a sandbox takes in and gives out, relative to its workspace. A file of a commit with another path is refused before a
 * run begins, because no sandbox could hold it. Only the text is examined, never a disk.
 */
export const PATH_FAULTS = {
  "path-empty": "an empty path",
  "path-absolute": "an absolute path",
  "path-parent": "a path with a `..` part",
  "path-dot": "a path with an empty or `.` part",
  "path-length": "a path over 1,024 bytes or a part over 255",
  "path-text": "a path that is not valid UTF-8",
  "path-control": "a path with a control character",
  "path-bidi": "a path with a character that changes the writing direction",
  "path-backslash": "a path with a backslash",
  "path-git": "a path that some file system takes for `.git`",
} as const;

export type PathFault = keyof typeof PATH_FAULTS;

const MAX_PATH_BYTES = 1024;
const MAX_PART_BYTES = 255;

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Characters that HFS+ ignores when it compares names. */
const IGNORABLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** How bytes that are not UTF-8 have been decoded: as U+FFFD, or as lone surrogates (`decodePath`). */
const NOT_UTF8 = /[\ufffd\p{Surrogate}]/u;

/** The first rule that the path breaks. */
export function pathFault(path: string): PathFault | null {
  if (path === "") return "path-empty";
  if (path.startsWith("/")) return "path-absolute";
  if (NOT_UTF8.test(path)) return "path-text";
  if (CONTROL.test(path)) return "path-control";
  if (BIDI.test(path)) return "path-bidi";
  if (path.includes("\\")) return "path-backslash";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return "path-length";
  for (const part of path.split("/")) {
    if (part === "..") return "path-parent";
    if (part === "" || part === ".") return "path-dot";
    if (Buffer.byteLength(part) > MAX_PART_BYTES) return "path-length";
    if (isGitDirectory(part)) return "path-git";
  }
  return null;
}

/** True for `.git` itself and every spelling that NTFS or HFS+ takes for it. */
function isGitDirectory(part: string): boolean {
  const folded = part.replace(IGNORABLE, "").toLowerCase();
  const stem = folded.split(":")[0] ?? "";
  const ntfs = stem.replace(/[. ]+$/, "");
  return ntfs === ".git" || ntfs === "git~1";
}
