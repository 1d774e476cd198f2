/** `Push` of a session, and the pull request that follows it if the deployment wants one. */
import { AntiphonError, isErrorCode, type SessionWorkspace } from "@antiphon/contracts";
import { branchRef } from "@antiphon/git";
import type { PullRequests } from "../work-items/pull-requests.ts";
import { TrackerThrottled } from "../work-items/tracker-client.ts";
import { conflict, plain, short, workspaceOf } from "./branch-deeds.ts";
import type { Deed, DeedOf, DeedResult } from "./deed.ts";
import type { SessionRepository } from "./session-repository.ts";
import { throttledBy } from "./work-item-deeds.ts";

/** Null: the deployment opens none. */
export type Proposals = Pick<PullRequests, "propose"> | null;

export function push(repository: SessionRepository, proposals: Proposals): Deed<"Push"> {
  return async (deed, signal) => {
    const { repo, payload } = deed;
    const workspace = await workspaceOf(repository, deed);
    const { branch, head, pushed, base, work } = workspace;
    const ref = branchRef(payload.branchName);
    if (branch !== ref) {
      const own = branch === null ? "the session has no branch yet" : `its branch is ${plain(branch)}`;
      throw new AntiphonError("ANT_SESSION_BRANCH", `${plain(ref)} is not the session's branch: ${own}`);
    }
    const { url, outcome } = await repository.push(repo, { ref, next: head, old: pushed });
    if (outcome.kind === "moved") {
      const where = outcome.actual === null ? "does not exist any more" : `is at ${short(outcome.actual)}`;
      const details = `${plain(ref)} of ${url} ${where}, and not where the session left it`;
      return conflict(workspace, details, "ANT_LANDING_HEAD_MOVED");
    }
    const done =
      outcome.kind === "already"
        ? `nothing changed: ${plain(ref)} of ${url} has ${short(head)} already`
        : `${plain(ref)} of ${url} is at ${short(head)}`;
    const none = head === base ? "; it holds no commit of this session" : "";
    const left = work === null ? "" : "; uncommitted changes were not pushed";
    const next = { ...workspace, pushed: head };
    const message = `${done}${none}${left}`;
    if (proposals === null || head === base) return { workspace: next, message };
    const proposed = await propose(repository, proposals, deed, next, signal);
    return { ...proposed, workspace: next, message: `${message}; ${proposed.message}` };
  };
}

const cutTitle = (title: string): string => title.slice(0, 200).toWellFormed(); // Servers keep 255 characters.

/** The branch is pushed by now, so a server that refuses the pull request is told as a failure of that part. */
async function propose(
  repository: SessionRepository,
  proposals: NonNullable<Proposals>,
  { repo, sessionId }: DeedOf<"Push">,
  { branch, head }: SessionWorkspace,
  signal: AbortSignal,
): Promise<Omit<DeedResult, "workspace">> {
  try {
    const title = await repository.subjectOf(repo, head);
    const named = { branch: plain(branch ?? ""), title: cutTitle(title) || plain(branch ?? "") };
    const body = `Pushed by the session ${sessionId} of Antiphon.`;
    const proposed = await proposals.propose(repo, { ...named, body }, signal);
    if (proposed === null) return { message: "it is the branch that pull requests go to" };
    const { id, url, isNew } = proposed;
    return { message: `pull request ${id} ${isNew ? "is opened" : "was open already"}: ${url}` };
  } catch (error) {
    if (!(error instanceof AntiphonError) || !isErrorCode(error.code)) throw error;
    const throttled = error instanceof TrackerThrottled ? throttledBy(error, "Push") : {};
    return { message: `no pull request was opened: ${error.detail}`, code: error.code, ...throttled };
  }
}
