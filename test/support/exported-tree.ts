/** The tree of a commit with its whole archive, for repositories that are small enough to be held. */
import { exportTree, type ExportBounds, type ExportedTree, type RepoLike } from "@antiphon/git";

export async function exportedTree(
  repo: RepoLike,
  commit: string,
  bounds: ExportBounds = {},
): Promise<ExportedTree & { tar: Buffer }> {
  const { tar, ...facts } = await exportTree(repo, commit, bounds);
  if (!Buffer.isBuffer(tar)) throw new Error(`the archive of ${commit} is streamed`);
  return { ...facts, tar };
}
