/**
 * Moves a change onto a branch that advanced, so that the verified tree is the one that lands. A three-way merge of
 * trees in a scratch repository: without the user's config, merge drivers or work tree.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import { sourceOf } from "../change/apply-patch.ts";
import type { ChangedTree } from "../change/change.ts";
import { buildCommit } from "./commit.ts";
import { formatOf, gitObject, isObjectId, type GitObject } from "../objects/git-object.ts";
import { git, gitFailure } from "../process/git-process.ts";
import { readCommits } from "../objects/commit-text.ts";
import { openRepo, resolveRefs, type Repo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type ObjectSource, type Scratch } from "../repository/scratch.ts";
import type { CommitSigner } from "./ssh-signature.ts";
import { readChange } from "../change/tree-change.ts";

export type RebaseOutcome =
  { kind: "clean"; change: ChangedTree } | { kind: "conflict"; paths: string[]; message: string };

export interface TreeMerge {
  /** Full ids of trees. */
  base: string;
  changed: string;
  onto: string;
}

/** `changed` relative to `base`, applied to `onto`. Four processes. */
export async function rebaseOnto(source: ObjectSource | RepoLike, merge: TreeMerge): Promise<RebaseOutcome> {
  return sourceOf(source).use(requireId(merge.onto), (store) =>
    withScratch(store, (scratch) => mergeTrees(scratch, merge)),
  );
}

async function mergeTrees(scratch: Scratch, merge: TreeMerge): Promise<RebaseOutcome> {
  // Wrap the three trees in commits of our own, so that their merge base is `base` whatever the real history is.
  const base = bareCommit(merge.base, []);
  const onto = bareCommit(merge.onto, [base.id]);
  const changed = bareCommit(merge.changed, [base.id]);
  await scratch.add([base, onto, changed].filter(unique()));
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", onto.id, changed.id];
  const result = await scratch.run({ args });
  if (result.exitCode > 1) throw gitFailure({ args }, result);
  const [tree = "", ...rest] = result.stdout.toString("utf8").split("\0");
  if (result.exitCode === 1) return conflict(rest);
  if (!isObjectId(tree)) throw new AntiphonError("ANT_GIT_FAILED", "merge-tree: odd output");
  const { change } = await readChange(scratch, merge.onto, tree, limits.sandboxFileBytes);
  return { kind: "clean", change };
}

function unique(): (object: GitObject) => boolean {
  const seen = new Set<string>();
  return ({ id }) => !seen.has(id) && seen.add(id).size > 0;
}

function bareCommit(tree: string, parents: readonly string[]): GitObject {
  const who = "Antiphon <antiphon@localhost> 0 +0000";
  const head = [`tree ${requireId(tree)}`, ...parents.map((id) => `parent ${id}`)];
  const text = `${[...head, `author ${who}`, `committer ${who}`].join("\n")}\n\n${tree}\n`;
  return gitObject(formatOf(tree), "commit", Buffer.from(text));
}

/** Names up to an empty one, then messages as `<count> NUL <paths> NUL <kind> NUL <text> NUL`. */
function conflict(fields: readonly string[]): RebaseOutcome {
  const gap = fields.indexOf("");
  const paths = [...new Set(gap === -1 ? fields : fields.slice(0, gap))];
  const texts = fields.slice(gap + 1).filter((field) => field.startsWith("CONFLICT"));
  return { kind: "conflict", paths, message: (texts[0] ?? `conflict in ${paths.join(", ")}`).trim() };
}

/** A commit of the range, as it stands on the other head. */
export interface ReplayedCommit {
  /** The commit of the range. */
  readonly of: string;
  /** Its parent. */
  readonly head: string;
  readonly commit: string;
  readonly tree: string;
}

export type ReplayOutcome =
  | { kind: "replayed"; commit: string; tree: string; commits: readonly ReplayedCommit[] }
  | { kind: "conflict"; commit: string; paths: string[]; message: string };

/**
 * Replays the commits of `from..to` (first parents) on top of `onto`, each with its message, trailers and time, so that
 * a retry gives the same ids. No ref moves. A commit that changes nothing there is left out.
 */
export async function replayCommits(
  repo: RepoLike,
  range: { from: string; to: string; onto: string; signer?: CommitSigner },
): Promise<ReplayOutcome> {
  const opened = await openRepo(repo);
  const listing = await git({
    gitDir: opened.commonDir,
    args: ["rev-list", "--first-parent", "--reverse", requireId(range.to), `^${requireId(range.from)}`, "--"],
  });
  const commits = await readCommits(opened, listing.toString("latin1").split("\n").filter(isObjectId));
  const trees = await treesOf(opened, [range.from, range.onto]);
  let [before, tree] = trees;
  let head = requireId(range.onto);
  const replayed: ReplayedCommit[] = [];
  for (const commit of commits) {
    const outcome = await rebaseOnto(opened, { base: before, changed: commit.tree, onto: tree });
    if (outcome.kind === "conflict") return { ...outcome, commit: commit.id };
    before = commit.tree;
    if (outcome.change.tree === tree) continue;
    tree = outcome.change.tree;
    const { message, trailers, at } = commit;
    const parent = head;
    head = await buildCommit(opened, {
      parent,
      tree,
      message,
      trailers,
      at,
      objects: outcome.change.objects,
      ...(range.signer === undefined ? {} : { signer: range.signer }),
    });
    replayed.push({ of: commit.id, head: parent, commit: head, tree });
  }
  return { kind: "replayed", commit: head, tree, commits: replayed };
}

async function treesOf(repo: Repo, ids: readonly [string, string]): Promise<[string, string]> {
  const [first, second] = await resolveRefs(repo, ids.map(requireId));
  if (first === null || first === undefined || second === null || second === undefined) {
    throw new AntiphonError(
      "ANT_REPO_REF_NOT_FOUND",
      `there is no commit ${first == null ? ids[0] : ids[1]}`,
    );
  }
  return [first.tree, second.tree];
}
