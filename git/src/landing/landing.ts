/**
 * Lands a commit on a branch as a compare-and-set of one ref. Git is the source of truth for what has landed.
 *
 * Promises:
 *   git/G3 Because a landing may be retried after any crash, a ref moves from `old` to a commit that builds on `old` or
 *     stays, a repeated landing answers `already` even if others have built on it, and a positive answer survives a
 *     power cut.
 */
import { AntiphonError, isRefName } from "@antiphon/contracts";
import { DURABLE, flushRef } from "../disk/durable.ts";
import { isObjectId, zeroId } from "../objects/git-object.ts";
import { firstLine, git, runGit } from "../process/git-process.ts";
import { openRepo, tipOf, type Repo, type RepoLike } from "../repository/repo.ts";
import { requireId } from "../repository/scratch.ts";
import { removeStaleLock } from "./stale-lock.ts";

export type LandingOutcome =
  | { kind: "landed"; actual: string }
  /** `actual` is the head it is reachable from. */
  | { kind: "already"; actual: string }
  /** The ref points elsewhere; null if it does not exist. */
  | { kind: "moved"; actual: string | null };

/**
 * Moves `ref` from `old` (null: it must not exist) to `next`. Two processes when it lands, at most four.
 * @throws AntiphonError ANT_LANDING_REWIND when `next` does not build on `old`; ANT_LANDING_COMMIT_GONE,
 *   ANT_LANDING_REF_LOCKED
 */
export async function landRef(
  repo: RepoLike,
  ref: string,
  next: string,
  old: string | null,
): Promise<LandingOutcome> {
  const opened = await openRepo(repo);
  const outcome = await moveRef(opened, ref, next, old);
  // git/G3. Also for `already`: the process that moved the ref may have died before the flush.
  if (outcome.kind !== "moved") await flushRef(opened, ref);
  return outcome;
}

async function moveRef(opened: Repo, ref: string, next: string, old: string | null): Promise<LandingOutcome> {
  requireId(next);
  if (!ref.startsWith("refs/heads/") || !isRefName(ref)) {
    throw new AntiphonError("ANT_REPO_REF_INVALID", `${JSON.stringify(ref.slice(0, 100))} is not a branch`);
  }
  // git/G3: a compare-and-set alone would let a stale commit replace a newer head that the caller just read.
  if (old !== null && requireId(old) !== next && !(await isAncestor(opened, old, next))) {
    if (await isAncestor(opened, next, old)) return settled(opened, ref, next, old, "");
    await requireThere(opened, next);
    throw new AntiphonError("ANT_LANDING_REWIND", `${next} does not build on ${old}`);
  }
  const update = {
    gitDir: opened.commonDir,
    args: ["update-ref", "-m", "antiphon: land", ref, next, old ?? zeroId(opened.format)],
    settings: DURABLE,
  };
  let result = await runGit(update);
  if (result.exitCode !== 0 && (await removeStaleLock(opened, ref))) result = await runGit(update);
  if (result.exitCode === 0 && old !== next) return { kind: "landed", actual: next };
  return settled(opened, ref, next, old, result.stderr);
}

/** The compare-and-set failed, so the current ref decides the answer. */
async function settled(
  repo: Repo,
  ref: string,
  next: string,
  old: string | null,
  stderr: string,
): Promise<LandingOutcome> {
  const actual = await tipOf(repo, ref);
  if (actual === next) return { kind: "already", actual };
  if (actual !== null && (await isAncestor(repo, next, actual))) return { kind: "already", actual };
  if (actual !== old) return { kind: "moved", actual };
  const isBlocked =
    stderr.includes("' exists; cannot create") ||
    (stderr.includes("cannot lock ref ") && stderr.includes(" there is a non-empty directory"));
  if (isBlocked) throw new AntiphonError("ANT_REPO_REF_BLOCKED", firstLine(stderr));
  await requireThere(repo, next);
  throw new AntiphonError("ANT_LANDING_REF_LOCKED", firstLine(stderr), { data: { ref, stderr } });
}

/**
 * No ref refers to a commit before it lands, so `git gc --prune=now` removes it, and waiting does not bring it back. If
 * the object exists but cannot be read, git exits with another code.
 */
async function requireThere(repo: Repo, commit: string): Promise<void> {
  const result = await runGit({ gitDir: repo.commonDir, args: ["cat-file", "-e", requireId(commit)] });
  if (result.exitCode !== 1 || result.stderr !== "") return;
  throw new AntiphonError("ANT_LANDING_COMMIT_GONE", `${commit} is not in the repository any more`);
}

/** True when `older` is `newer` or one of its ancestors. One process. */
export async function isAncestor(repo: RepoLike, older: string, newer: string): Promise<boolean> {
  if (older === newer) return true;
  const { commonDir } = await openRepo(repo);
  const call = {
    gitDir: commonDir,
    args: ["merge-base", "--is-ancestor", requireId(older), requireId(newer)],
  };
  const result = await runGit(call);
  // 1: not an ancestor. 128: a commit is missing, so it is not reachable either.
  return result.exitCode === 0;
}

export interface LandedCommit {
  commit: string;
  parent: string | null;
  epoch: number;
  evidence: string | null;
}

export interface FindBounds {
  /** Stop the search at this commit, where the run started. Default: read the whole history. */
  since?: string;
}

/**
 * Finds a task's commit that is reachable from `ref` by its trailers, after a crash of the process that landed it. Null
 * if there is none. Two processes, and one more when there are candidates.
 */
export async function findLanded(
  repo: RepoLike,
  ref: string,
  runId: string,
  taskId: string,
  bounds: FindBounds = {},
): Promise<LandedCommit | null> {
  const opened = await openRepo(repo);
  const tip = await tipOf(opened, ref);
  if (tip === null) return null;
  const args = ["rev-list", "--fixed-strings", `--grep=Antiphon-Run: ${runId}`, "--max-count=4096", tip];
  if (bounds.since !== undefined) args.push(`^${requireId(bounds.since)}`);
  const found = await git({ gitDir: opened.commonDir, args: [...args, "--"] });
  const ids = found.toString("latin1").split("\n").filter(isObjectId);
  for (const commit of await readCommits(opened, ids)) {
    if (commit.trailers["Antiphon-Run"] !== runId || commit.trailers["Antiphon-Task"] !== taskId) continue;
    return {
      commit: commit.id,
      parent: commit.parents[0] ?? null,
      epoch: Number(commit.trailers["Antiphon-Epoch"] ?? 0),
      evidence: commit.trailers["Antiphon-Evidence"] ?? null,
    };
  }
  return null;
}

interface CommitText {
  id: string;
  tree: string;
  parents: string[];
  /** Without the trailers. */
  message: string;
  trailers: Record<string, string>;
  at: Date;
}

/** One process for any number of commits. */
export async function readCommits(repo: Repo, ids: readonly string[]): Promise<CommitText[]> {
  if (ids.length === 0) return [];
  const bytes = await git({
    gitDir: repo.commonDir,
    args: ["cat-file", "--batch"],
    stdin: `${ids.map(requireId).join("\n")}\n`,
  });
  const commits: CommitText[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf(10, at);
    const [id = "", kind, size] = bytes.toString("latin1", at, lineEnd).split(" ");
    const end = lineEnd + 1 + Number(size ?? 0);
    if (kind === "commit") commits.push(parseCommit(id, bytes.toString("utf8", lineEnd + 1, end)));
    at = size === undefined ? lineEnd + 1 : end + 1;
  }
  return commits;
}

/** A commit as `cat-file` gives it. Pure. */
export function parseCommit(id: string, text: string): CommitText {
  const gap = text.indexOf("\n\n");
  const head = text.slice(0, gap).split("\n");
  const values = (key: string): string[] =>
    head.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const paragraphs = text
    .slice(gap + 2)
    .trimEnd()
    .split(/\n{2,}/);
  const last = (paragraphs.at(-1) ?? "").split("\n");
  const forms = last.map((line) => /^([A-Za-z][A-Za-z0-9-]*): (.+)$/.exec(line));
  const isBlock = paragraphs.length > 1 && forms.every((form) => form !== null);
  const trailers: Record<string, string> = {};
  if (isBlock) for (const form of forms) if (form !== null) trailers[form[1] ?? ""] = form[2] ?? "";
  const seconds = / (\d+) [+-]\d{4}$/.exec(values("committer")[0] ?? "");
  return {
    id,
    tree: values("tree")[0] ?? "",
    parents: values("parent"),
    message: (isBlock ? paragraphs.slice(0, -1) : paragraphs).join("\n\n"),
    trailers,
    at: new Date(Number(seconds?.[1] ?? 0) * 1000),
  };
}
