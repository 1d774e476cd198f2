/**
 * Git without a work tree: reading a user's repository, trees as archives, diffs, patches and their policy,
 * commits and landings. Everything runs plain `git` in a hermetic environment (git-environment.ts).
 */
export { applyPatch, type ApplyComplaint, type ApplyOptions } from "./apply-patch.ts";
export { overlayTar, type ChangedTree, type OverlayFile } from "./change.ts";
export { discoverCheck, type ReadText } from "./checks.ts";
export { buildCommit, commitObject, type CommitPlan, type NewCommit } from "./commit.ts";
export { commitFiles, type CommitFiles } from "./commit-files.ts";
export { exportTree, type ExportBounds, type ExportedTree } from "./export-tree.ts";
export { gitVersion } from "./git-process.ts";
export type { GitObject, ObjectFormat, TreeEntry } from "./git-object.ts";
export { literalGlob, pathMatcher, type PathMatcher } from "./glob.ts";
export { inspectRepo, type InspectOptions, type RepoInspection } from "./inspect-repo.ts";
export {
  findLanded,
  isAncestor,
  landRef,
  type FindBounds,
  type LandedCommit,
  type LandingOutcome,
} from "./landing.ts";
export { diffOverlay, type Overlay, type OverlayDiff } from "./overlay-diff.ts";
export { patchText } from "./patch-document.ts";
export {
  checkPatch,
  type CheckedFile,
  type PatchCheck,
  type PatchRules,
  type Unproven,
} from "./patch-policy.ts";
export type { PatchCode, Refusal } from "./patch-refusal.ts";
export type { Guard, GuardRule } from "./protection/guard.ts";
export { protectionOf, type ProtectionInput } from "./protection/protection.ts";
export {
  rebaseOnto,
  replayCommits,
  type RebaseOutcome,
  type ReplayOutcome,
  type TreeMerge,
} from "./rebase.ts";
export { openServed, type RepoRoots } from "./repo-roots.ts";
export { branchRef, openRepo, repoSource, tipOf, treeOf, type Repo, type RepoLike } from "./repo.ts";
export type { CommitSigner } from "./ssh-signature.ts";
export { sweepScratch, type ObjectSource, type ObjectStore } from "./scratch.ts";
export { readTar, TarFault, writeTar, type TarEntry, type TarLimits } from "./tar.ts";
export { TreeCache, type TreeCacheBounds } from "./tree-cache.ts";
export {
  checkedOutAt,
  dirtyPaths,
  updateWorktree,
  type WorkTreeOutcome,
  type WorkTreeUpdate,
} from "./work-tree.ts";
export { BY_PRODUCTS } from "./ignored-files.ts";
