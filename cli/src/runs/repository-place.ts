// Which repository a command is about, and what is wrong with it as far as this machine can tell.
import { existsSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { looksLikeUrl, repositoryUrl } from "@antiphon/contracts/shapes/repository-url";
import { Failure } from "../failure.ts";

/** The named repository, by its path or URL, or the one around the current directory; if there is none, the directory itself. */
export function repositoryOf(named: string | undefined, from = process.cwd()): string {
  if (named !== undefined) return looksLikeUrl(named) ? named : resolve(from, named);
  for (let place = from; ; place = dirname(place)) {
    if (existsSync(join(place, ".git"))) return place; // A linked work tree has a file of this name.
    if (place === dirname(place)) return from;
  }
}

/**
 * A problem to report before anything is sent: a relative path that leads nowhere if the gateway seems to be on this machine, and
 * a URL that is refused anywhere, because it may hold a password. Only the Director can tell what an absolute path leads to: a
 * gateway at a loopback address may be a forwarded port of a cluster.
 */
export function localProblem(
  gatewayUrl: string,
  repoPath: string,
  named: string | undefined,
): Failure | null {
  if (looksLikeUrl(repoPath)) {
    const parsed = repositoryUrl(repoPath);
    if (!("fault" in parsed)) return null;
    const remedy =
      "Give https://host/path, ssh://user@host/path, git:// or file:///path, without a password.";
    return new Failure("ANT_REPO_URL_INVALID", `the URL ${parsed.fault}`, { remedy, exitCode: 2 });
  }
  if (named !== undefined && isAbsolute(named)) return null;
  const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(new URL(gatewayUrl).hostname);
  const place = isHere ? statSync(repoPath, { throwIfNoEntry: false }) : null;
  if (place === null || place?.isDirectory() === true) return null;
  const remedy = "Check --repo; a relative path starts at the directory the command is run in.";
  const problem =
    place === undefined ? `there is no directory ${repoPath}` : `${repoPath} is a file, not a directory`;
  return new Failure("ANT_REPO_NOT_FOUND", problem, { remedy });
}
