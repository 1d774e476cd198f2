/**
 * Finds a repository: git's own answer for a path, in one process (about 3 ms).
 *
 * A `Repo` is a value: where the refs, the objects and the work tree are. Every function that takes a repository accepts
 * a path or a `Repo`; a `Repo` saves that process. Only `rev-parse`, `cat-file`, `config`, `symbolic-ref`,
 * `for-each-ref`, `merge-base`, `rev-list` and `update-ref` ever run with the user's config (git/G1).
 */
import { readFile, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, join, relative } from "node:path";
import { AntiphonError, isRefName } from "@antiphon/contracts";
import { isObjectId, type ObjectFormat } from "../objects/git-object.ts";
import { asInterrupted, isDiskFault } from "../disk/disk-fault.ts";
import { gitDirectoryState } from "../disk/git-directory.ts";
import { firstLine, git, runGit } from "../process/git-process.ts";
import type { ObjectSource, ObjectStore } from "./scratch.ts";

export interface Repo {
  name: string;
  /** Top of the work tree; for a bare repository its directory. */
  top: string;
  /** Git directory of this work tree, with HEAD and index. */
  gitDir: string;
  /** Directory of branches and objects; differs from gitDir in a linked work tree. */
  commonDir: string;
  objectsDir: string;
  format: ObjectFormat;
  bare: boolean;
  shallow: boolean;
}

export type RepoLike = Repo | string;

export async function openRepo(repo: RepoLike): Promise<Repo> {
  if (typeof repo !== "string") return repo;
  const path = await requireDirectory(repo);
  const result = await runGit({
    cwd: path,
    args: [
      "rev-parse",
      "--is-bare-repository",
      "--is-shallow-repository",
      "--show-object-format",
      "--path-format=absolute",
      "--git-dir",
      "--git-common-dir",
      "--git-path",
      "objects",
      "--show-toplevel",
    ],
  });
  // In a bare repository only the last question fails; the earlier answers are valid.
  const lines = result.stdout.toString("utf8").split("\n");
  const [bare, shallow, format, gitDir, commonDir, objectsDir, top] = lines;
  if (gitDir === undefined || commonDir === undefined || objectsDir === undefined || gitDir === "") {
    throw await notGit(path, result.stderr);
  }
  const isBare = bare === "true" || top === undefined || top === "";
  if (result.exitCode !== 0 && !isBare) throw unreadable(path, result.stderr);
  const place = isBare ? commonDir : (top ?? commonDir);
  if (!isBare) requireInside(path, await realpath(place), place);
  return {
    name: basename(place).replace(/\.git$/, "") || basename(path),
    top: place,
    gitDir,
    commonDir,
    objectsDir,
    format: format === "sha256" ? "sha256" : "sha1",
    bare: isBare,
    shallow: shallow === "true",
  };
}

/** The real path of a directory. @throws AntiphonError ANT_REPO_NOT_FOUND, ANT_REPO_UNREADABLE, ANT_GIT_INTERRUPTED */
export async function requireDirectory(path: string): Promise<string> {
  // Git answers in lines, so a path with a line feed would look like two paths.
  if (/[\0\n\r]/.test(path))
    throw new AntiphonError("ANT_REPO_NOT_FOUND", "the path has a control character");
  try {
    const found = await stat(path);
    if (!found.isDirectory()) throw new AntiphonError("ANT_REPO_NOT_FOUND", `${path} is not a directory`);
    return await realpath(path);
  } catch (thrown) {
    throw thrown instanceof AntiphonError ? thrown : pathFault(path, thrown as NodeJS.ErrnoException);
  }
}

/** git/G2: only an absent path is "not found", because a disk that does not answer must not end a run. */
export function pathFault(path: string, cause: NodeJS.ErrnoException): AntiphonError {
  const { code, message } = cause;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new AntiphonError("ANT_REPO_NOT_FOUND", `there is nothing at ${path}`);
  }
  const passes = isDiskFault(cause);
  return new AntiphonError(passes ? "ANT_GIT_INTERRUPTED" : "ANT_REPO_UNREADABLE", message, { cause });
}

/** `core.worktree` may point anywhere. A work tree outside the given path is refused. */
function requireInside(path: string, top: string, shown: string): void {
  const way = relative(top, path);
  if (way === ".." || way.startsWith("../") || isAbsolute(way)) {
    throw new AntiphonError("ANT_REPO_UNREADABLE", `its work tree is elsewhere: ${shown}`);
  }
}

async function notGit(path: string, stderr: string): Promise<AntiphonError> {
  for (const gitDir of [join(path, ".git"), path]) {
    const state = await gitDirectoryState(gitDir);
    if (state.kind === "broken") return pathFault(gitDir, state.cause);
  }
  if (/not a git repository|must be run in a work tree/i.test(stderr)) {
    return new AntiphonError("ANT_REPO_NOT_GIT", `${path} is not in a git repository`);
  }
  return unreadable(path, stderr);
}

function unreadable(path: string, stderr: string): AntiphonError {
  return new AntiphonError("ANT_REPO_UNREADABLE", `${path}: ${firstLine(stderr)}`, { data: { stderr } });
}

export function objectStore(repo: Repo): ObjectStore {
  const store = { objectsDir: repo.objectsDir, format: repo.format };
  return repo.shallow ? { ...store, shallowFile: join(repo.commonDir, "shallow") } : store;
}

/** A repository as a source of trees and commits. */
export function repoSource(repo: RepoLike): ObjectSource {
  return { use: async (_id, body) => body(objectStore(await openRepo(repo))) };
}

export interface ResolvedRef {
  /** Full name, or the id itself if an id was given. */
  ref: string;
  commit: string;
  tree: string;
}

/** @throws AntiphonError ANT_REPO_REF_INVALID for an expression, because git would evaluate it for as long as it takes */
export function requireName(name: string): string {
  if (isRefName(name)) return name;
  const told = `${JSON.stringify(name.slice(0, 100))} is not the name of a branch or tag, nor a commit id`;
  throw new AntiphonError("ANT_REPO_REF_INVALID", told);
}

/** Resolves ref names and commit ids to commits in one process. Null for a missing one or one that is not a commit. */
export async function resolveRefs(repo: Repo, names: readonly string[]): Promise<(ResolvedRef | null)[]> {
  for (const name of names) requireName(name);
  const questions = names.flatMap((name) => [`${name}^{commit}`, `${name}^{tree}`]);
  const answer = await git({
    gitDir: repo.gitDir,
    args: ["cat-file", "--batch-check"],
    stdin: `${questions.join("\n")}\n`,
  });
  const lines = answer.toString("utf8").split("\n");
  return names.map((name, index) => {
    const commit = lines[2 * index]?.split(" ")[0] ?? "";
    const tree = lines[2 * index + 1]?.split(" ")[0] ?? "";
    const found = lines[2 * index]?.includes(" commit ") === true && isObjectId(commit) && isObjectId(tree);
    return found ? { ref: name, commit, tree } : null;
  });
}

/** The commit that a full ref name points to; null if there is none. One process. */
export async function tipOf(repo: RepoLike, ref: string): Promise<string | null> {
  const opened = await openRepo(repo);
  const [found] = await resolveRefs(opened, [ref]);
  if (found === null || found === undefined) await requireNoFault(join(opened.commonDir, ref));
  return found?.commit ?? null;
}

/** git/G2: git calls a ref whose file cannot be read missing, and says no more. */
async function requireNoFault(file: string): Promise<void> {
  try {
    await readFile(file);
  } catch (thrown) {
    if (isDiskFault(thrown)) throw asInterrupted(thrown);
  }
}

/** The tree of a commit. One process. */
export async function treeOf(repo: RepoLike, commit: string): Promise<string> {
  const [found] = await resolveRefs(await openRepo(repo), [commit]);
  if (found === null || found === undefined) {
    throw new AntiphonError("ANT_REPO_REF_NOT_FOUND", `there is no commit ${commit}`);
  }
  return found.tree;
}

/** A branch name as a full ref. Refuses what no branch can be called, and what is not a branch. */
export function branchRef(name: string): string {
  const full = name.startsWith("refs/") ? name : `refs/heads/${name}`;
  if (!full.startsWith("refs/heads/") || !isRefName(full)) {
    throw new AntiphonError("ANT_REPO_REF_INVALID", `${JSON.stringify(name)} is not a branch name`);
  }
  // A branch of this name makes each `HEAD` ambiguous, so `git branch` refuses it; `git update-ref` does not.
  if (full === "refs/heads/HEAD") {
    const told = "HEAD is not a branch; give the name that `git branch --show-current` prints";
    throw new AntiphonError("ANT_REPO_REF_INVALID", told);
  }
  return full;
}
