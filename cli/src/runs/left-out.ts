// Which files of the work tree a run does not see: it starts from a commit, and git does not know them.
import { execFile } from "node:child_process";

/** A work tree that takes longer to look through has no note. */
const LONGEST_MS = 2_000;
const MOST_BYTES = 1024 * 1024;
const SHOWN = 3;

/** A line about untracked files; null: there are none, or the repository cannot be read here. */
export function leftOut(repo: string): Promise<string | null> {
  const args = [
    "-C",
    repo,
    "ls-files",
    "--others",
    "--exclude-standard",
    "--directory",
    "--no-empty-directory",
    "-z",
  ];
  const options = { encoding: "utf8", timeout: LONGEST_MS, maxBuffer: MOST_BYTES } as const;
  return new Promise((resolve) => {
    execFile("git", args, options, (error, stdout) => {
      const names = error === null ? stdout.split("\0").filter((name) => name !== "") : [];
      resolve(names.length === 0 ? null : lineOf(names));
    });
  });
}

/** A directory of which git knows no file is one name, with a slash at its end. */
function lineOf(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map((name) => (/^[\w./ -]+$/.test(name) ? name : JSON.stringify(name)));
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `left out, because git does not know it yet: ${shown.join(", ")}${more}`;
}
