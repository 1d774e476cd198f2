import { pathFault } from "@antiphon/git/trees/path-fault";
import { Refusal } from "./refusal.ts";

/**
 * Checks a path relative to the workspace, by the same rules in both directions. Returns it unchanged or throws the
 * Refusal that names the rule. It only examines the text and never looks at a disk.
 */
export function checkPath(path: string): string {
  const fault = pathFault(path);
  if (fault !== null) throw new Refusal(fault, path);
  return path; // sandbox-runner/S5
}

/** True inside the sandbox's own repository, which is never imported and is no reason to refuse the rest. */
export function isInsideGitDirectory(path: string): boolean {
  return path.includes(".git") && path.split("/").includes(".git");
}

/** A step's working directory, absolute inside the sandbox. */
export function stepDirectory(cwd: string | undefined): string {
  if (cwd === undefined || cwd === "" || cwd === ".") return "/workspace";
  return `/workspace/${checkPath(cwd)}`;
}
