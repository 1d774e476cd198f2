/** Rules of paths in patches, sandbox files and evidence: relative, with forward slashes, inside the root. */
import { clip, type Problem } from "../validation/problem.ts";
import type { Rule } from "../shapes/rule.ts";

/** Invisible characters that file systems or git drop or fold, so that `.g\u200cit` becomes `.git`. */
const INVISIBLE = /[\u0000-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/;

/** Why a path is not safe below a root, or null if it is. Pure: reads no file system. */
export function unsafePath(path: string, options: { git?: boolean } = {}): string | null {
  if (path === "") return "is empty";
  if (path.length > 1024) return "is longer than 1024 characters";
  if (INVISIBLE.test(path)) return "has a control or invisible character";
  if (path.includes("\\")) return "has a backslash; use forward slashes";
  if (path.startsWith("/")) return "is absolute";
  if (/^[A-Za-z]:/.test(path)) return "starts with a drive letter";
  for (const segment of path.split("/")) {
    if (segment === "") return "has an empty segment";
    if (segment === "." || segment === "..") return `has a \`${segment}\` segment`;
    if (segment.length > 255) return "has a segment longer than 255 characters";
    if (options.git === true && isGitDir(segment)) return "goes into .git";
  }
  return null;
}

/** True for `.git` under any name that a file system may treat as the same: case, trailing dots and spaces, the 8.3 short name. */
function isGitDir(segment: string): boolean {
  const name = segment
    .toLowerCase()
    .replace(/[. ]+$/, "")
    .replace(/:.*$/, "");
  return name === ".git" || /^git~\d+$/.test(name);
}

export type PathView = {
  name: string;
  git?: boolean;
  /** All paths of the document, each with its JSON pointer. */
  paths: (value: unknown) => readonly { at: string; path: string }[];
  /** Whether a path may occur twice. */
  repeats?: boolean;
};

export function pathRules({ name, git, paths, repeats }: PathView): Rule[] {
  const safe: Rule = {
    id: `${name}/paths-safe`,
    says: `Paths are relative, use forward slashes and stay inside${git === true ? ", and never enter .git" : ""}.`,
    check: (value) => {
      for (const { at, path } of paths(value)) {
        const reason = unsafePath(path, git === undefined ? {} : { git });
        if (reason !== null) return refusal(at, path, reason);
      }
      return null;
    },
  };
  if (repeats === true) return [safe];
  const unique: Rule = {
    id: `${name}/paths-unique`,
    says: "No path occurs twice.",
    check: (value) => {
      const seen = new Set<string>();
      for (const { at, path } of paths(value)) {
        if (seen.has(path)) return refusal(at, path, "occurs twice");
        seen.add(path);
      }
      return null;
    },
  };
  return [safe, unique];
}

function refusal(at: string, path: string, reason: string): Problem {
  const found = JSON.stringify(clip(path, 80));
  return { path: at, message: `the path ${reason}`, expected: "a relative path inside the root", found };
}
