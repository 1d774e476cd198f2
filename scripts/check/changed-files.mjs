import { execFileSync } from "node:child_process";

/** Files that differ from the last commit, including new and deleted ones, as paths from the root of the checkout. */
export function changedFiles() {
  const git = (...args) =>
    execFileSync("git", args, { encoding: "utf8" })
      .split("\0")
      .filter((file) => file !== "");
  return [
    ...new Set([
      ...git("diff", "--name-only", "-z", "HEAD"),
      ...git("ls-files", "-z", "--others", "--exclude-standard"),
    ]),
  ].sort();
}
