/**
 * The difference between two trees as a patch that `applyPatch` takes: full ids, binary contents, no renames. One process.
 * Paths are literal: a file, or a directory with everything below it. No path means the whole tree.
 */
import { limits } from "@antiphon/contracts";
import { repoSource, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch } from "../repository/scratch.ts";

/** @param from a full tree or commit id, as is `to` */
export function treeDiff(
  repo: RepoLike,
  from: string,
  to: string,
  paths: readonly string[] = [],
): Promise<Buffer> {
  requireId(from);
  requireId(to);
  const form = ["-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv"];
  return repoSource(repo).use(to, (store) =>
    withScratch(store, (scratch) =>
      scratch.git({
        args: ["--literal-pathspecs", "diff-tree", ...form, from, to, "--", ...paths],
        maxOutputBytes: limits.sandboxFileBytes,
      }),
    ),
  );
}
