// How the result of a run gets into the branch a person works on, where there is a way that works here and now.
import { execFileSync } from "node:child_process";
import type { RunSummary } from "./summary.ts";

/** Null: it has landed where it was wanted, it is merged already, or the repository cannot be looked at from here. */
export function takeIt({ status, repo, branch, landedOn }: RunSummary): string | null {
  if (status !== "succeeded" || repo === null || branch === null) return null;
  if (landedOn !== null && landedOn !== `refs/heads/${branch}`) return null;
  const git = (...args: string[]): string | null => answer(repo, args);
  if (git("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`) === null) return null;
  if (git("rev-parse", "--is-bare-repository") === "true") return `git fetch ${word(repo)} ${branch}`;
  if (git("merge-base", "--is-ancestor", branch, "HEAD") !== null) return null;
  return `git -C ${word(repo)} merge ${branch}`;
}

/** What git says; null: it says no, or there is nothing it could say it of. */
function answer(repo: string, args: string[]): string | null {
  try {
    return execFileSync("git", ["-C", repo, ...args], {
      encoding: "utf8",
      timeout: 3_000,
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return null;
  }
}

/** A path as a shell takes it for one word. */
function word(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
