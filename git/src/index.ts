/**
 * Git without a work tree: reading a user's repository, trees as archives, diffs, patches and their policy,
 * commits and landings. Everything runs plain `git` in a hermetic environment (git-environment.ts).
 */
export { applyPatch, type ApplyComplaint, type ApplyOptions } from "./change/apply-patch.ts";
export { treeDiff } from "./change/tree-diff.ts";
export { overlayTar, type ChangedTree, type OverlayFile } from "./change/change.ts";
export {
  discoverEnvironment,
  type EnvironmentInput,
  type EnvironmentPlan,
} from "./inspection/environment.ts";
export { CHECK_PROGRAMS } from "./inspection/check-programs.ts";
export {
  checkCandidates,
  discoverChecks,
  otherChecks,
  type CheckCandidate,
  type ReadText,
} from "./inspection/checks.ts";
export { buildCommit, commitObject, type CommitPlan, type NewCommit } from "./landing/commit.ts";
export { commitFiles, type CommitFiles } from "./repository/commit-files.ts";
export { absentContent } from "./linked/absent-content.ts";
export { hasAttributes } from "./linked/lfs-paths.ts";
export { exportLinked, type ExportedLinked } from "./linked/export-linked.ts";
export { refuseLfsOf } from "./linked/linked-paths.ts";
export { linkedContent, type Served } from "./linked/linked-content.ts";
export { exportHistory, type ExportedHistory, type HistoryOptions } from "./trees/export-history.ts";
export { exportTree, type ExportBounds, type ExportedTree } from "./trees/export-tree.ts";
export { startLauncher } from "./process/launcher.ts";
export { formatOf, gitObject, GITLINK_MODE } from "./objects/git-object.ts";
export type { GitObject, ObjectFormat, TreeEntry } from "./objects/git-object.ts";
export { rootCommit, type RootCommit } from "./objects/root-commit.ts";
export { closingMatcher, literalGlob, pathMatcher, type PathMatcher } from "./patch/glob.ts";
export { projectFileOf } from "./inspection/project-file.ts";
export { lockedPackages, type LockedPackage } from "./inspection/lock-packages.ts";
export {
  inspectRepo,
  type InspectOptions,
  type RepoInspection,
  type TreeFacts,
} from "./inspection/inspect-repo.ts";
export { isAncestor, landRef, type LandingOutcome } from "./landing/landing.ts";
export { newestCommits, readCommits } from "./objects/commit-text.ts";
export { diffOverlay, type Overlay, type OverlayDiff } from "./change/overlay-diff.ts";
export { patchText } from "./patch/patch-document.ts";
export {
  checkPatch,
  type CheckedFile,
  type PatchCheck,
  type PatchRules,
  type Unproven,
} from "./patch/patch-policy.ts";
export type { PatchCode, Refusal } from "./patch/patch-refusal.ts";
export { addedJudges, ignoreRules } from "./protection/added-judges.ts";
export { ownTests, type OwnTests } from "./protection/own-tests.ts";
export { besideSources, onlyRemovesSources, onlySources, sourcesLeft } from "./protection/sources.ts";
export { judgingData } from "./protection/judging-data.ts";
export { openable, openedFiles } from "./protection/opened-files.ts";
export { filesWith } from "./inspection/mentions.ts";
export { chanceIn, strongerChance, type Chance } from "./protection/chance.ts";
export { awareOf, mayBeAware, type Aware } from "./protection/test-awareness.ts";
export { mayLookAround, mayReadVariables } from "./protection/looks-around.ts";
export type { Guard, GuardRule } from "./protection/guard.ts";
export { runsAsHarness } from "./protection/side.ts";
export { besides, tamperings, type Tampering, type WrittenFiles } from "./protection/tampering.ts";
export { protectionOf, type ProtectionInput } from "./protection/protection.ts";
export { rewriteRef } from "./landing/rewrite.ts";
export {
  rebaseOnto,
  replayCommits,
  type ReplayedCommit,
  type RebaseOutcome,
  type ReplayOutcome,
  type TreeMerge,
} from "./landing/rebase.ts";
export { initBare, missingCommits, Mirrors } from "./remote/mirrors.ts";
export { copyCommit, originOf } from "./remote/origin.ts";
export { packOf, pushRef, unpackInto } from "./remote/push.ts";
export type { RemoteAccess } from "./remote/transport.ts";
export { FoundRepos } from "./repository/found-repos.ts";
export { openServed, servedPlaces, type RepoRoots } from "./repository/repo-roots.ts";
export {
  branchRef,
  openRepo,
  repoSource,
  tipOf,
  treeOf,
  type Repo,
  type RepoLike,
} from "./repository/repo.ts";
export type { CommitSigner } from "./landing/ssh-signature.ts";
export { sweepScratch, type ObjectSource, type ObjectStore } from "./repository/scratch.ts";
export { FILE_TIME_S, TarFault, type TarEntry, type TarLimits } from "./trees/tar.ts";
export { readTar } from "./trees/tar-reader.ts";
export { writeTar } from "./trees/tar-writer.ts";
export {
  exportStep,
  readStep,
  requireTree,
  STEP_BYTES,
  STEP_FILES,
  stepEntries,
  stepName,
  stepNamed,
  steppedTar,
  type BaseStep,
} from "./trees/base-step.ts";
export { TreeCache, type TreeCacheBounds } from "./trees/tree-cache.ts";
export {
  checkedOutAt,
  dirtyPaths,
  updateWorktree,
  type WorkTreeOutcome,
  type WorkTreeUpdate,
} from "./work-tree/work-tree.ts";
export { BY_PRODUCTS } from "./change/ignored-files.ts";
