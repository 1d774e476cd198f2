import { Refusal } from "./refusal.ts";

const MAX_PATH_BYTES = 1024;
const MAX_PART_BYTES = 255;

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Characters that HFS+ ignores when it compares names. */
const IGNORABLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * Checks a path relative to the workspace, by the same rules in both directions. Returns it unchanged or throws the
 * Refusal that names the rule. It only examines the text and never looks at a disk.
 */
export function checkPath(path: string): string {
  if (path === "") throw new Refusal("path-empty", path);
  if (path.startsWith("/")) throw new Refusal("path-absolute", path);
  if (path.includes("\ufffd")) throw new Refusal("path-text", path);
  if (CONTROL.test(path)) throw new Refusal("path-control", path);
  if (BIDI.test(path)) throw new Refusal("path-bidi", path);
  if (path.includes("\\")) throw new Refusal("path-backslash", path);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw new Refusal("path-length", path);
  for (const part of path.split("/")) {
    if (part === "..") throw new Refusal("path-parent", path);
    if (part === "" || part === ".") throw new Refusal("path-dot", path);
    if (Buffer.byteLength(part) > MAX_PART_BYTES) throw new Refusal("path-length", path);
    if (isGitDirectory(part)) throw new Refusal("path-git", path);
  }
  return path; // sandbox-runner/S5
}

/** True inside the sandbox's own repository, which is never imported and is no reason to refuse the rest. */
export function isInsideGitDirectory(path: string): boolean {
  return path.includes(".git") && path.split("/").includes(".git");
}

/** True for `.git` itself and every spelling that NTFS or HFS+ takes for it. */
function isGitDirectory(part: string): boolean {
  const folded = part.replace(IGNORABLE, "").toLowerCase();
  const stem = folded.split(":")[0] ?? "";
  const ntfs = stem.replace(/[. ]+$/, "");
  return ntfs === ".git" || ntfs === "git~1";
}

/** A step's working directory, absolute inside the sandbox. */
export function stepDirectory(cwd: string | undefined): string {
  if (cwd === undefined || cwd === "" || cwd === ".") return "/workspace";
  return `/workspace/${checkPath(cwd)}`;
}
