/**
 * The user's work tree: is it clean, and bringing it up to a branch that was moved under it.
 *
 * Git runs here with a scratch repository as GIT_DIR and the user's index and files, so that filters, hooks and
 * fsmonitor named in the user's config do not exist for it (G4). Of that config only plain switches that say how
 * files are compared and written are carried over. A file under a clean/smudge filter (git-lfs) is therefore
 * compared and written as git stores it.
 *
 * Invariants:
 *   J8d  An update that ended in the middle is finished when it is asked for again, also after others have landed on
 *        top of it; what is not as the landing wants it is somebody's own, and is never overwritten.
 *   J8e  An index that another git command holds is ANT_LANDING_REF_LOCKED, which passes, and never taken for local
 *        changes or for a work tree that is up to date.
 */
import { copyFile, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { firstLine, git, runGit, type GitCall, type GitResult } from "../process/git-process.ts";
import { isAncestor } from "../landing/landing.ts";
import { objectStore, openRepo, tipOf, type Repo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type Scratch } from "../repository/scratch.ts";
import { adoptWritten, type WorkTreeGit } from "./written-files.ts";

const SWITCHES =
  /^core\.(autocrlf|eol|safecrlf|filemode|ignorecase|symlinks|precomposeunicode|trustctime|checkstat|sparsecheckout|sparsecheckoutcone)$/;

/** Plain words only: true, input, crlf, minimal; never a path or a command. */
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

/** One process for the switches, and one for each call of `body`. */
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

/** A split index keeps its larger half, and a sparse checkout its patterns, beside the index. */
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
 * Paths of tracked files that differ from `head` or are staged, at most `limit`. Files git does not track do not
 * count: a landing never overwrites them. Two processes.
 */
export async function dirtyPaths(repo: RepoLike, head: string, limit = 10): Promise<string[]> {
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
  return records.slice(0, limit).map((record) => record.slice(3));
}

export type WorkTreeOutcome =
  | { kind: "updated"; top: string }
  /** The files are as they should be already, or no work tree has the branch checked out. */
  | { kind: "unchanged" }
  /** Local changes are in the way; nothing was touched. */
  | { kind: "refused"; top: string; message: string };

export interface WorkTreeUpdate {
  ref: string;
  from: string;
  to: string;
  /** Only say what would happen: to ask before a landing. */
  dryRun?: boolean;
}

/**
 * Brings the work tree that has `ref` checked out from commit `from` to commit `to`, after the ref was moved; to where
 * the ref is by now, when others have landed on top of `to` (J8d).
 * Local changes to files the landing does not touch stay; any others refuse the whole update, which touches
 * no file then. Doing it twice is doing it once. About five processes.
 * @throws AntiphonError ANT_LANDING_REF_LOCKED (J8e)
 */
export async function updateWorktree(repo: RepoLike, update: WorkTreeUpdate): Promise<WorkTreeOutcome> {
  const opened = await openRepo(repo);
  const from = requireId(update.from);
  requireId(update.to);
  const top = await checkedOutAt(opened, update.ref);
  if (top === null) return { kind: "unchanged" };
  const isDry = update.dryRun === true;
  const to = isDry ? update.to : await tipOf(opened, update.ref);
  // Taken back, or never moved: the files are not ours to change.
  if (to === null || !(await isAncestor(opened, update.to, to))) return { kind: "unchanged" };
  const there = await openRepo(top);
  return inWorkTree(there, to, async (run, scratch) => {
    const status = await run(["diff-index", "--cached", "--quiet", "--ignore-submodules", to, "--"]);
    if (status.exitCode === 0) return { kind: "unchanged" };
    // The index remembers when files were last looked at; without a refresh an untouched file may look changed.
    // Exit code 1 only says that there are changed files.
    requireUnlocked(update.ref, await run(["update-index", "--refresh", "--ignore-submodules"]));
    const bringUp = ["read-tree", "-m", "-u", ...(isDry ? ["-n"] : []), from, to];
    let result = requireUnlocked(update.ref, await run(bringUp));
    if (result.exitCode !== 0 && !isDry) {
      const again = await adoptWritten(run, { from, to, spareIndex: scratch.indexFile }); // J8d
      if (again) result = requireUnlocked(update.ref, await run(bringUp));
    }
    if (result.exitCode === 0) return { kind: "updated", top };
    return { kind: "refused", top, message: firstLine(result.stderr) };
  });
}

/** J8e */
function requireUnlocked(ref: string, result: GitResult): GitResult {
  if (result.exitCode === 0 || !/index\.lock': File exists/.test(result.stderr)) return result;
  throw new AntiphonError("ANT_LANDING_REF_LOCKED", firstLine(result.stderr), {
    data: { ref, stderr: result.stderr },
  });
}

/** The top of the work tree that has a branch checked out; null when there is none. One process, or two. */
export async function checkedOutAt(repo: RepoLike, ref: string): Promise<string | null> {
  const opened = await openRepo(repo);
  // Also because git names a submodule's git directory where its work tree should be in that list.
  if (!opened.bare && (await currentBranch(opened)) === ref) return opened.top;
  const listing = await git({ gitDir: opened.commonDir, args: ["worktree", "list", "--porcelain", "-z"] });
  for (const block of listing.toString("utf8").split("\0\0")) {
    const lines = block.split("\0");
    const top = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    if (top === undefined || !lines.includes(`branch ${ref}`) || lines.includes("bare")) continue;
    // A linked work tree that was deleted, or is on a disk that is not there, has no files to bring up.
    if ((await stat(top).catch(() => null))?.isDirectory() === true) return top;
  }
  return null;
}

/** The branch that HEAD names, also one without a commit; null when detached. One process. */
export async function currentBranch(repo: Repo): Promise<string | null> {
  const result = await runGit({ gitDir: repo.gitDir, args: ["symbolic-ref", "-q", "HEAD"] });
  return result.exitCode === 0 ? result.stdout.toString("utf8").trim() : null;
}
