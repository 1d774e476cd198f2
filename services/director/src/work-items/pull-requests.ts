/** The pull requests of a repository on a Gitea or GitHub server, whose APIs agree about them. */
import { AntiphonError, type RepoRef } from "@antiphon/contracts";
import { defaultBranchOf, pullRequestOf, type PullRequest } from "./issue-answer.ts";
import type { IssueTrackerParts } from "./issue-tracker.ts";
import { projectPath } from "./issue-tracker.ts";

export type { PullRequest } from "./issue-answer.ts";

export interface NewPullRequest {
  /** Without `refs/heads/`; it was pushed. */
  readonly branch: string;
  readonly title: string;
  readonly body: string;
}

export interface ProposedPull {
  readonly id: string;
  /** For people. */
  readonly url: string;
  /** False: it was open already. */
  readonly isNew: boolean;
}

export interface PullRequests {
  /** @throws AntiphonError ANT_WORK_ITEMS_* */
  open(repo: RepoRef, signal: AbortSignal): Promise<PullRequest[]>;
  /**
   * Proposes a branch to the project's default branch, unless a pull request does that already. Null: it is that branch itself.
   * @throws AntiphonError ANT_WORK_ITEM*
   */
  propose(repo: RepoRef, proposed: NewPullRequest, signal: AbortSignal): Promise<ProposedPull | null>;
}

const PAGE = { gitea: "limit=50", github: "per_page=100" };
const PLACE = { gitea: "pulls", github: "pull" };

export class ServerPullRequests implements PullRequests {
  readonly #parts: IssueTrackerParts;

  constructor(parts: IssueTrackerParts) {
    this.#parts = parts;
  }

  async open(repo: RepoRef, signal: AbortSignal): Promise<PullRequest[]> {
    const { client, name } = this.#parts;
    const path = `${await projectPath(this.#parts, repo)}/pulls?state=open&${PAGE[name]}`;
    const found: PullRequest[] = [];
    for await (const one of client.pages(path, signal)) {
      const request = pullRequestOf(one);
      if (request !== null) found.push(request);
    }
    return found;
  }

  async propose(
    repo: RepoRef,
    { branch, title, body }: NewPullRequest,
    signal: AbortSignal,
  ): Promise<ProposedPull | null> {
    const { client } = this.#parts;
    const path = await projectPath(this.#parts, repo);
    const base = defaultBranchOf(await client.call("GET", path, signal));
    if (base === branch) return null;
    const open = await this.#openFor(repo, branch, signal);
    if (open !== undefined) return this.#shown(path, open, false);
    try {
      const made = await client.call("POST", `${path}/pulls`, signal, { head: branch, base, title, body });
      const request = pullRequestOf(made);
      if (request !== null) return this.#shown(path, request, true);
      throw new AntiphonError("ANT_WORK_ITEMS_UNREADABLE", `the answer of ${path}/pulls is no pull request`);
    } catch (error) {
      if (!(error instanceof AntiphonError) || error.code !== "ANT_WORK_ITEM_REFUSED") throw error;
      const other = await this.#openFor(repo, branch, signal); // Somebody else opened it meanwhile.
      if (other === undefined) throw error;
      return this.#shown(path, other, false);
    }
  }

  async #openFor(repo: RepoRef, branch: string, signal: AbortSignal): Promise<PullRequest | undefined> {
    const project = (await projectPath(this.#parts, repo)).replace("/repos/", "").toLowerCase();
    const all = await this.open(repo, signal);
    return all.find((one) => one.branch === branch && one.project.toLowerCase() === project);
  }

  #shown(path: string, { id }: PullRequest, isNew: boolean): ProposedPull {
    const { server, name } = this.#parts;
    const project = `${server.href.replace(/\/$/, "")}${path.replace("/repos", "")}`;
    return { id, url: `${project}/${PLACE[name]}/${id}`, isNew };
  }
}
