// Finds the git command that brings the result of a run into the user's branch, if one works here.
import { execFileSync } from "node:child_process";
import { looksLikeUrl } from "@antiphon/contracts/shapes/repository-url";
import { quoted } from "../checks/command-line.ts";
import type { RunSummary } from "./summary.ts";

/** Null: the result has landed on its target branch, is merged already, or the repository is not readable here. */
export function takeIt({ status, repo, branch, landedOn, tasks }: RunSummary): string | null {
  // All of it is verified and on the run's branch, and only the branch of --land did not take it.
  const isKept = status === "failed" && tasks.length > 0 && tasks.every(({ commit }) => commit !== null);
  if ((status !== "succeeded" && !isKept) || repo === null || branch === null) return null;
  if (landedOn !== null && landedOn !== `refs/heads/${branch}`) return null;
  if (looksLikeUrl(repo)) return `git fetch ${quoted(repo)} ${branch}`;
  const git = (...args: string[]): string | null => answer(repo, args);
  if (git("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`) === null) return null;
  if (git("rev-parse", "--is-bare-repository") === "true") return `git fetch ${quoted(repo)} ${branch}`;
  if (git("merge-base", "--is-ancestor", branch, "HEAD") !== null) return null;
  return `git -C ${quoted(repo)} merge ${branch}`;
}

/** The output of git; null if git fails or there is no repository. */
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
