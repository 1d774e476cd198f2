/**
 * Commits that build on a head, and branches that move to them.
 *
 * Local changes refuse a landing only while the branch is where it was at the verification. After that the branch itself
 * tells whether the change has landed already or the branch moved.
 */
import type { LandingBody, RepoRef } from "@antiphon/contracts";
import {
  buildCommit,
  landRef,
  newestCommits,
  replayCommits,
  rewriteRef,
  tipOf,
  updateWorktree,
  type CommitSigner,
  type Repo,
} from "@antiphon/git";
import type { Logger } from "@antiphon/runtime";
import type { NewCommit, ReplayOutcome } from "../ports.ts";
import type { RefMove } from "./remote-repositories.ts";
import type { ServedRepositories } from "./served-repositories.ts";

/** Commits near the tip of a branch, of which a run may have made some. */
const NEAR_TIP = 64;

export class BranchLandings {
  readonly #served: ServedRepositories;
  readonly #signer: CommitSigner;
  readonly #log: Logger;

  constructor(served: ServedRepositories, signer: CommitSigner, log: Logger) {
    this.#served = served;
    this.#signer = signer;
    this.#log = log;
  }

  async commit(repo: RepoRef, { parent, candidate, message, trailers, at }: NewCommit): Promise<string> {
    const { tree, objects } = candidate;
    const { remotes } = this.#served;
    const signer = this.#signer;
    const opened = await this.#served.open(repo, [parent]);
    const built = await buildCommit(opened, { parent, tree, objects, message, trailers, at, signer });
    if (remotes.urlOf(repo) !== null) await remotes.keep(opened, built, parent);
    return built;
  }

  async land(repo: RepoRef, ref: string, commit: string, previous: string | null): Promise<LandingBody> {
    const { remotes } = this.#served;
    const url = remotes.urlOf(repo);
    if (url !== null) return remotes.land(url, ref, commit, previous);
    return this.moveBranch(repo, { ref, next: commit, old: previous });
  }

  /** Moves a branch of a repository beside the Director, and the work tree that has it checked out. */
  async moveBranch(
    repo: RepoRef,
    { ref, next: commit, old: previous }: RefMove,
    rewrites = false,
  ): Promise<LandingBody> {
    const opened = await this.#served.open(repo);
    const move = previous === null ? null : { ref, from: previous, to: commit };
    if (move !== null) {
      await this.#served.requireServedFiles(opened, ref);
      const files = await updateWorktree(opened, { ...move, dryRun: true });
      if (files.kind === "refused" && (await tipOf(opened, ref)) === previous)
        return { kind: "refused", code: "ANT_LANDING_FILES", message: `${files.top}: ${files.message}` };
    }
    const outcome =
      rewrites && previous !== null
        ? await rewriteRef(opened, ref, commit, previous)
        : await landRef(opened, ref, commit, previous);
    if (outcome.kind === "moved") {
      const message = `${ref} is at ${outcome.actual ?? "nothing"} instead of ${previous ?? "nothing"}`;
      return { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message };
    }
    if (move !== null) await this.#bringUp(opened, move);
    return { kind: "landed", ref, commit, previous };
  }

  /**
   * Updates the work tree's files after a landing. A lock on the index throws, so that the landing is tried again until
   * the files follow it. Files that must stay as they are do not undo the landing; the log gives the reason.
   */
  async #bringUp(repo: Repo, move: { ref: string; from: string; to: string }): Promise<void> {
    const files = await updateWorktree(repo, move);
    if (files.kind !== "refused") return;
    const { top, message: reason } = files;
    this.#log.warn(
      { ref: move.ref, commit: move.to, top, reason },
      "landed, but the files stay as they were",
    );
  }

  async replayOnto(repo: RepoRef, from: string, to: string, head: string): Promise<ReplayOutcome> {
    const { remotes } = this.#served;
    const opened = await this.#served.open(repo, [from, to, head]);
    const outcome = await replayCommits(opened, { from, to, onto: head, signer: this.#signer });
    if (outcome.kind === "conflict") return { kind: "conflict", message: outcome.message };
    // Each of them: another Director may be the one that has a skill judge it, or lands the last.
    if (remotes.urlOf(repo) !== null)
      for (const { commit } of outcome.commits) await remotes.keep(opened, commit, head);
    return outcome;
  }

  async tip(repo: RepoRef, ref: string): Promise<string | null> {
    const { remotes } = this.#served;
    const url = remotes.urlOf(repo);
    return url === null ? tipOf(await this.#served.open(repo), ref) : remotes.tip(url, ref);
  }

  async runsOf(repo: RepoRef, commit: string): Promise<readonly string[]> {
    const commits = await newestCommits(await this.#served.open(repo, [commit]), commit, NEAR_TIP);
    return commits.flatMap(({ trailers }) => trailers["Antiphon-Run"] ?? []);
  }
}
