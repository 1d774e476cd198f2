/**
 * Lands a commit on a branch of a remote repository, as a compare-and-set of that one ref: git's push with a lease, which
 * the server carries out only if the ref is where it was expected. The promise is that of a local landing (git/G3).
 *
 * Also makes packs of commits that are not at the remote yet, so that another Director can land them.
 */
import { AntiphonError, isRefName } from "@antiphon/contracts";
import { isAncestor, type LandingOutcome } from "../landing/landing.ts";
import { git, runGit, type GitResult } from "../process/git-process.ts";
import type { Repo } from "../repository/repo.ts";
import { requireId } from "../repository/scratch.ts";
import type { Mirrors } from "./mirrors.ts";
import { LOCAL_RECEIVER, remoteFault, runRemote } from "./transport.ts";

/**
 * Moves `ref` of the remote from `old` (null: it must not exist) to `next`, which `repo`, its mirror, holds.
 * @throws AntiphonError ANT_LANDING_REWIND, ANT_LANDING_REMOTE_REFUSED, ANT_REPO_REMOTE_*
 */
export async function pushRef(
  mirrors: Mirrors,
  url: string,
  repo: Repo,
  { ref, next, old }: { readonly ref: string; readonly next: string; readonly old: string | null },
): Promise<LandingOutcome> {
  requireId(next);
  if (!ref.startsWith("refs/heads/") || !isRefName(ref))
    throw new AntiphonError("ANT_REPO_REF_INVALID", `${JSON.stringify(ref.slice(0, 100))} is not a branch`);
  // git/G3: the lease alone would let a stale commit replace a newer head that the caller just read.
  if (old !== null && requireId(old) !== next && !(await isAncestor(repo, old, next))) {
    const actual = await holder(mirrors, url, ref, next);
    if (actual.has) return { kind: "already", actual: actual.tip };
    throw new AntiphonError("ANT_LANDING_REWIND", `${next} does not build on ${old}`);
  }
  const lease = `--force-with-lease=${ref}:${old ?? ""}`;
  const here = url.startsWith("file:") ? [`--receive-pack=${LOCAL_RECEIVER}`] : [];
  const args = [
    "push",
    "--porcelain",
    "--no-verify",
    "--no-signed",
    lease,
    ...here,
    "--",
    url,
    `${next}:${ref}`,
  ];
  const call = { gitDir: repo.gitDir, args };
  const result = await runRemote(url, call, mirrors.access);
  const line = answerOf(result, ref);
  if (result.exitCode === 0)
    return { kind: line?.startsWith("=") === true ? "already" : "landed", actual: next };
  if (line === null) throw remoteFault(url, call, result); // It is not known what happened; the next try tells.
  const actual = await holder(mirrors, url, ref, next);
  if (actual.has) return { kind: "already", actual: actual.tip };
  if (actual.tip !== old) return { kind: "moved", actual: actual.tip };
  const reason = /\[(?:remote )?rejected\] \((.{1,300})\)/.exec(line)?.[1] ?? line.slice(0, 300);
  if (/(?:cannot|unable to|failed to) lock|\.lock\b/i.test(reason))
    throw new AntiphonError("ANT_LANDING_REF_LOCKED", `${url}: ${reason}`);
  throw new AntiphonError("ANT_LANDING_REMOTE_REFUSED", [`${url}: ${reason}`, ...saidBy(result)].join("; "));
}

/** The line of `push --porcelain` about the ref: `<flag> TAB <from>:<to> TAB <summary>`; null: there is none. */
function answerOf({ stdout }: GitResult, ref: string): string | null {
  const lines = stdout.toString("utf8").split("\n");
  return lines.find((line) => line.split("\t")[1]?.endsWith(`:${ref}`) === true) ?? null;
}

const OF_SERVER = "remote: ";

/** What the server's rules and hooks said: at most 500 characters of the lines `remote: <text>` that are neither progress nor git's. */
function saidBy({ stderr }: GitResult): string[] {
  const lines = stderr.split(/[\r\n]/).filter((line) => line.startsWith(OF_SERVER));
  const said = lines
    .map((line) => line.slice(OF_SERVER.length).replaceAll("\x1b[K", "").trimEnd())
    .filter((line) => /\w/.test(line) && !/: {1,3}\d{1,3}% \(|, done\.$|^error: hook declined/.test(line));
  return said.length === 0 ? [] : [said.join(" ").slice(0, 500)];
}

type Holder =
  { readonly has: true; readonly tip: string } | { readonly has: false; readonly tip: string | null };

/** Where the ref is now, and whether it holds `commit`. */
async function holder(mirrors: Mirrors, url: string, ref: string, commit: string): Promise<Holder> {
  const tip = await mirrors.tip(url, ref);
  if (tip === null) return { has: false, tip };
  if (tip === commit) return { has: true, tip };
  const repo = await mirrors.refreshed(url);
  return (await isAncestor(repo, commit, tip)) ? { has: true, tip } : { has: false, tip };
}

/** The objects that `commit` has and `base` lacks, as a pack. */
export function packOf(repo: Repo, commit: string, base: string): Promise<Buffer> {
  const stdin = `${requireId(commit)}\n^${requireId(base)}\n`;
  return git({ gitDir: repo.gitDir, args: ["pack-objects", "--revs", "--stdout", "--quiet"], stdin });
}

/** Adds a pack's objects to a repository. */
export async function unpackInto(repo: Repo, pack: Buffer): Promise<void> {
  const result = await runGit({
    gitDir: repo.gitDir,
    args: ["index-pack", "--stdin", "--fix-thin"],
    stdin: pack,
  });
  if (result.exitCode !== 0) throw new AntiphonError("ANT_GIT_FAILED", "a pack of ours cannot be read");
}
