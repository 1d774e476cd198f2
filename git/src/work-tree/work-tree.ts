/**
 * The user's work tree: checks that it is clean, and updates it after its branch was moved.
 *
 * Git runs here with a scratch repository as GIT_DIR and the user's index and files, so filters, hooks and fsmonitor of the
 * user's config do not run (git/G1). Only plain switches of that config, which control how files are compared and
 * written, are carried over. A file under a clean/smudge filter (git-lfs) is therefore compared and written as git
 * stores it.
 *
 * Promises:
 *   git/G6 Because an update can crash halfway while people edit the same files, a repeated update finishes the first one,
 *     never overwrites a file that differs from what the landing wants, and answers ANT_LANDING_REF_LOCKED, which is
 *     retried, while another git command holds the index.
 */
import { copyFile, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { gitDirectoryState } from "../disk/git-directory.ts";
import { firstLine, git, runGit, type GitCall, type GitResult } from "../process/git-process.ts";
import { isAncestor } from "../landing/landing.ts";
import { objectStore, openRepo, tipOf, type Repo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type Scratch } from "../repository/scratch.ts";
import { inTheWay } from "./in-the-way.ts";
import { adoptWritten, type WorkTreeGit } from "./written-files.ts";

const SWITCHES =
  /^core\.(autocrlf|eol|safecrlf|filemode|ignorecase|symlinks|precomposeunicode|trustctime|checkstat|sparsecheckout|sparsecheckoutcone)$/;

/** Plain words only, such as true, input, crlf or minimal; never a path or a command. */
const PLAIN_VALUE = /^[A-Za-z0-9]{0,16}$/;

async function switches(repo: Repo): Promise<(readonly [string, string])[]> {
  const listing = await runGit({
    gitDir: repo.gitDir,
    args: ["config", "--null", "--includes", "--get-regexp", "^core\\."],
  });
  const settings: (readonly [string, string])[] = [];
  for (const record of listing.stdout.toString("utf8").split("\0")) {
    const gap = record.indexOf("\n");
    const key = gap === -1 ? record : record.slice(0, gap);
    const value = gap === -1 ? "true" : record.slice(gap + 1);
    if (SWITCHES.test(key) && PLAIN_VALUE.test(value)) settings.push([key, value]);
  }
  return settings;
}

/** One process for the switches, and one for each call of `run`. */
async function inWorkTree<T>(
  repo: Repo,
  head: string,
  body: (run: WorkTreeGit, scratch: Scratch) => Promise<T>,
): Promise<T> {
  const settings = await switches(repo);
  return withScratch(objectStore(repo), async (scratch) => {
    await writeFile(join(scratch.gitDir, "HEAD"), `${head}\n`);
    await borrowIndexParts(repo, scratch);
    const call: Omit<GitCall, "args"> = {
      gitDir: scratch.gitDir,
      workTree: repo.top,
      indexFile: join(repo.gitDir, "index"),
      cwd: repo.top,
      settings: [["core.bare", "false"], ...settings],
    };
    return body((args, more) => runGit({ ...call, ...more, args }), scratch);
  });
}

/** A split index keeps its larger half beside the index, a sparse checkout its patterns. */
async function borrowIndexParts(repo: Repo, scratch: Scratch): Promise<void> {
  for (const name of await readdir(repo.gitDir)) {
    if (name.startsWith("sharedindex.")) await symlink(join(repo.gitDir, name), join(scratch.gitDir, name));
  }
  const patterns = join(scratch.gitDir, "info", "sparse-checkout");
  await mkdir(dirname(patterns), { recursive: true });
  await copyFile(join(repo.gitDir, "info", "sparse-checkout"), patterns).catch(
    (thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ENOENT") throw thrown;
    },
  );
}

/**
 * Paths of tracked files that differ from `head` or are staged, at most ten. Untracked files do not count, because a
 * landing never overwrites them. Two processes.
 */
export async function dirtyPaths(repo: RepoLike, head: string): Promise<string[]> {
  const opened = await openRepo(repo);
  if (opened.bare) return [];
  const args = [
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=no",
    "--ignore-submodules=dirty",
    "--no-renames",
  ];
  const result = await inWorkTree(opened, requireId(head), (run) => run(args));
  if (result.exitCode !== 0) {
    throw new AntiphonError("ANT_REPO_UNREADABLE", firstLine(result.stderr), {
      data: { stderr: result.stderr },
    });
  }
  const records = result.stdout
    .toString("utf8")
    .split("\0")
    .filter((record) => record !== "");
  return records.slice(0, 10).map((record) => record.slice(3));
}

export type WorkTreeOutcome =
  | { kind: "updated"; top: string }
  /** The files are up to date, or no work tree has the branch checked out. */
  | { kind: "unchanged" }
  /** Local changes are in the way; nothing was touched. */
  | { kind: "refused"; top: string; message: string };

export interface WorkTreeUpdate {
  ref: string;
  from: string;
  to: string;
  /** Only report what would happen, before a landing. */
  dryRun?: boolean;
}

/**
 * Updates the work tree that has `ref` checked out from commit `from` to commit `to`, after the ref was moved. If others
 * have landed on top of `to`, updates it to the current commit of the ref (git/G6). Local changes to other files stay;
 * local changes to files of the landing refuse the whole update before any file is touched. Repeating it changes
 * nothing. A file that git left half written on a broken disk counts as a local change; `git checkout -- <file>` mends it.
 * About five processes.
 * @throws AntiphonError ANT_LANDING_REF_LOCKED (git/G6)
 */
export async function updateWorktree(repo: RepoLike, update: WorkTreeUpdate): Promise<WorkTreeOutcome> {
  const opened = await openRepo(repo);
  const from = requireId(update.from);
  requireId(update.to);
  const top = await checkedOutAt(opened, update.ref);
  if (top === null) return { kind: "unchanged" };
  const isDry = update.dryRun === true;
  const to = isDry ? update.to : await tipOf(opened, update.ref);
  // The landing was taken back, or the ref never moved, so the files must not change.
  if (to === null || !(await isAncestor(opened, update.to, to))) return { kind: "unchanged" };
  const there = await openRepo(top);
  return inWorkTree(there, to, async (run, scratch) => {
    const status = await run(["diff-index", "--cached", "--quiet", "--ignore-submodules", to, "--"]);
    if (status.exitCode === 0) return { kind: "unchanged" };
    // The index caches file times; without a refresh an untouched file may look changed. Exit code 1 only means that
    // there are changed files.
    requireUnlocked(update.ref, await run(["update-index", "--refresh", "--ignore-submodules"]));
    const bringUp = ["read-tree", "-m", "-u", ...(isDry ? ["-n"] : []), from, to];
    let result = requireUnlocked(update.ref, await run(bringUp));
    if (result.exitCode !== 0 && !isDry) {
      const again = await adoptWritten(run, { from, to, spareIndex: scratch.indexFile }); // git/G6
      if (again) result = requireUnlocked(update.ref, await run(bringUp));
    }
    if (result.exitCode === 0) return { kind: "updated", top };
    const files = await inTheWay(run, { top, from, to });
    return { kind: "refused", top, message: files ?? firstLine(result.stderr) };
  });
}

/** git/G6 */
function requireUnlocked(ref: string, result: GitResult): GitResult {
  if (result.exitCode === 0 || !/index\.lock': File exists/.test(result.stderr)) return result;
  throw new AntiphonError("ANT_LANDING_REF_LOCKED", firstLine(result.stderr), {
    data: { ref, stderr: result.stderr },
  });
}

/** The top of the work tree that has a branch checked out; null if there is none. One or two processes. */
export async function checkedOutAt(repo: RepoLike, ref: string): Promise<string | null> {
  const opened = await openRepo(repo);
  // Answered without the list, because for a submodule git lists its git directory instead of its work tree.
  if (!opened.bare && (await currentBranch(opened)) === ref) return opened.top;
  const listing = await git({ gitDir: opened.commonDir, args: ["worktree", "list", "--porcelain", "-z"] });
  for (const block of listing.toString("utf8").split("\0\0")) {
    const lines = block.split("\0");
    const top = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    if (top === undefined || !lines.includes(`branch ${ref}`) || lines.includes("bare")) continue;
    // A linked work tree that was deleted or is on an unmounted disk has no files to update.
    if ((await stat(top).catch(() => null))?.isDirectory() === true) return top;
  }
  return null;
}

/** The branch that HEAD names, even one without a commit; null when detached. One process. */
export async function currentBranch(repo: Repo): Promise<string | null> {
  const result = await runGit({ gitDir: repo.gitDir, args: ["symbolic-ref", "-q", "HEAD"] });
  // 1: detached. Otherwise git could not read HEAD, which every repository has (git/G2).
  if (result.exitCode > 1 && (await gitDirectoryState(repo.gitDir)).kind !== "absent")
    throw new AntiphonError("ANT_GIT_INTERRUPTED", `${repo.gitDir}: ${firstLine(result.stderr)}`);
  return result.exitCode === 0 ? result.stdout.toString("utf8").trim() : null;
}
