/**
 * The commands of a session that work on its branch. Each takes the workspace and returns the next one; what it makes in
 * git depends on its arguments alone, so doing it twice makes the same commits, and a branch moves by compare-and-set.
 *
 * A patch is held to the deployment's policy as a run's change is: bounds, protected paths, and files that judge the
 * change unless the policy grants them (git/G4).
 */
import { AntiphonError, isErrorCode, limits } from "@antiphon/contracts";
import type { RepoRef, SessionWorkspace } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import { branchRef, patchText } from "@antiphon/git";
import type { AppliedChange, ChangeRules } from "../ports.ts";
import type { Deed, DeedOf, DeedResult, MadeArtifact } from "./deed.ts";
import type { SessionRepository } from "./session-repository.ts";

type Repository = SessionRepository;
/** What all deeds have in common. */
type Setting = Pick<
  DeedOf<"Push">,
  "repo" | "workspace" | "sessionId" | "at" | "policy" | "grants" | "again"
>;

const WORK_MESSAGE = "Uncommitted changes of a session";
export const short = (commit: string): string => commit.slice(0, 12);
export const plain = (ref: string): string => ref.replace(/^refs\/heads\//, "");

/** The workspace of a session, made at its first command that needs one. */
export async function workspaceOf(
  repository: Pick<Repository, "commitOf" | "treeOf">,
  { repo, workspace }: { repo: RepoRef; workspace: SessionWorkspace | null },
  from?: string,
): Promise<SessionWorkspace> {
  if (workspace !== null) return workspace;
  const base = await repository.commitOf(repo, from);
  const tree = await repository.treeOf(repo, base);
  return { branch: null, base, head: base, tree, work: null, tested: null, pushed: null };
}

export function createBranch(repository: Repository): Deed<"CreateBranch"> {
  return async (deed) => {
    const { repo, workspace: before, payload, again } = deed;
    const ref = branchRef(payload.branchName);
    const hasChanges = before !== null && (before.work !== null || before.head !== before.base);
    if (before !== null && before.branch !== null)
      throw new AntiphonError(
        "ANT_SESSION_BRANCH",
        `the session's branch is ${plain(before.branch)} already`,
      );
    if (hasChanges && payload.fromRef !== undefined)
      throw new AntiphonError("ANT_SESSION_BRANCH", "the session has changes already, on another commit");
    const restarts = payload.fromRef !== undefined;
    const start = { repo, workspace: restarts ? null : before };
    const workspace = await workspaceOf(repository, start, payload.fromRef);
    const tip = await repository.tip(repo, ref);
    if (tip !== null && !(again && tip === workspace.head))
      return conflict(before, `${plain(ref)} exists already, at ${short(tip)}`, "ANT_SESSION_BRANCH");
    const move = { ref, next: workspace.head, old: null };
    const refused = tip === null ? await repository.moveBranch(repo, move) : null;
    if (refused !== null) return conflict(before, refused, "ANT_SESSION_BRANCH");
    const message = `${plain(ref)} starts at ${short(workspace.head)}`;
    return { workspace: { ...workspace, branch: ref }, message };
  };
}

export function applyPatch(repository: Repository): Deed<"ApplyPatch"> {
  return async (deed) => {
    const { repo, payload } = deed;
    const workspace = await workspaceOf(repository, deed);
    const on = workspace.work ?? workspace.head;
    const applied = await change(repository, deed, workspace, on, patchOf(payload.patchContent));
    if ("message" in applied) return { ...applied, ...conflictOf(applied, payload.patchContent) };
    const next = await withWork(repository, deed, workspace, applied);
    const diff = await repository.diff(repo, next.head, next.work ?? next.head);
    const files = applied.files.length;
    const message = `applied to ${files} ${files === 1 ? "file" : "files"}; nothing is committed yet`;
    return { workspace: next, message, artifacts: [diffArtifact(diff)] };
  };
}

export function getDiff(repository: Repository): Deed<"GetDiff"> {
  return async (deed) => {
    const { repo, payload } = deed;
    const workspace = await workspaceOf(repository, deed);
    const { ref = "HEAD" } = payload;
    const from = ref === "HEAD" ? workspace.head : await repository.commitOf(repo, ref);
    const diff = await repository.diff(repo, from, workspace.work ?? workspace.head);
    const message =
      diff.length === 0 ? `there is no difference to ${ref}` : `the workspace differs from ${ref}`;
    return { workspace, message, artifacts: [diffArtifact(diff)] };
  };
}

export function commit(repository: Repository): Deed<"Commit"> {
  return async (deed) => {
    const { repo, sessionId, payload } = deed;
    const workspace = await workspaceOf(repository, deed);
    const { head, work, base, branch, pushed } = workspace;
    const amends = payload.amend === true;
    if (amends && (head === base || head === pushed))
      throw new AntiphonError("ANT_SESSION_AMEND", `${short(head)} is not the session's own, or was pushed`);
    const patch =
      work === null ? Buffer.alloc(0) : await repository.diff(repo, head, work, payload.includePaths);
    if (patch.length === 0 && !amends)
      throw new AntiphonError("ANT_SESSION_CLEAN", "no change lies at the paths of the commit");
    const applied = patch.length === 0 ? null : await change(repository, deed, workspace, head, patch);
    if (applied !== null && "message" in applied) return applied;
    const candidate = applied?.candidate ?? { tree: workspace.tree, objects: [] };
    const built = await repository.build(repo, {
      ...{ base, sessionId, message: payload.message, at: new Date(deed.at) },
      ...{ tree: candidate.tree, objects: candidate.objects },
      parent: amends ? await repository.parentOf(repo, head) : head,
    });
    const ref = branch ?? `refs/heads/antiphon/${sessionId}`;
    const move = { ref, next: built, old: branch === null ? null : head };
    const refused = await repository.moveBranch(repo, move, amends);
    if (refused !== null) return conflict(workspace, refused, "ANT_LANDING_HEAD_MOVED");
    const committed = { ...workspace, branch: ref, head: built, tree: candidate.tree };
    const next = await rest(repository, deed, committed);
    const left = next.work === null ? "" : "; other changes are not committed";
    return { workspace: next, message: `${short(built)} on ${plain(ref)}${left}` };
  };
}

/** People and models also write diffs without git's own header lines. */
function patchOf(text: string): Buffer {
  return Buffer.from(/^diff --git /m.test(text) ? text : patchText({ files: splitDiff(text) }));
}

/** Applies a patch under the policy, or says why it is refused. */
async function change(
  repository: Repository,
  { repo, policy, grants }: Setting,
  workspace: SessionWorkspace,
  on: string,
  patch: Buffer,
): Promise<AppliedChange | DeedResult> {
  const checks = await repository.discoverChecks(repo, workspace.base);
  const rules: ChangeRules = {
    ...{ scope: [], grants, checks, discovered: true, base: workspace.base, policy },
  };
  const outcome = await repository.candidate(repo, on, patch, rules);
  if (outcome.kind === "candidate") return outcome;
  const { code, message } = outcome;
  return { workspace, message, code: isErrorCode(code) ? code : "ANT_PATCH_DOES_NOT_APPLY" };
}

/** The workspace with the tree of a change beside its head. */
async function withWork(
  repository: Repository,
  { repo, sessionId, at }: Setting,
  workspace: SessionWorkspace,
  { candidate }: AppliedChange,
): Promise<SessionWorkspace> {
  const { base, head, tree } = workspace;
  if (candidate.tree === tree) return { ...workspace, work: null }; // The patch takes an earlier one back.
  const plan = { base, sessionId, parent: head, message: WORK_MESSAGE, at: new Date(at) };
  const { objects } = candidate;
  return { ...workspace, work: await repository.build(repo, { ...plan, tree: candidate.tree, objects }) };
}

/** The changes that a commit left out stay beside the new head. */
async function rest(
  repository: Repository,
  { repo, sessionId, at }: Setting,
  workspace: SessionWorkspace,
): Promise<SessionWorkspace> {
  const { base, head, work } = workspace;
  const tree = work === null ? workspace.tree : await repository.treeOf(repo, work);
  if (tree === workspace.tree) return { ...workspace, work: null };
  const plan = { base, sessionId, parent: head, message: WORK_MESSAGE, at: new Date(at) };
  return { ...workspace, work: await repository.build(repo, { ...plan, tree, objects: [] }) };
}

export function conflict(
  workspace: SessionWorkspace | null,
  details: string,
  code: DeedResult["code"],
): DeedResult {
  return { workspace, message: details, conflict: { details }, ...(code === undefined ? {} : { code }) };
}

function conflictOf({ code, message }: DeedResult, patch: string): Pick<DeedResult, "conflict"> {
  if (code !== "ANT_PATCH_DOES_NOT_APPLY") return {};
  const isShort = Buffer.byteLength(patch) <= limits.sessionInlineBytes;
  return { conflict: { details: message, ...(isShort ? { patchContent: patch } : {}) } };
}

function diffArtifact(bytes: Buffer): MadeArtifact {
  return { kind: "Diff", bytes, pathHint: "session.diff" };
}
