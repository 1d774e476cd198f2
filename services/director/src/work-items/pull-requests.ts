/** The open pull requests of a repository on a Gitea or GitHub server, whose APIs agree about them. */
import { pullRequestOf, type PullRequest } from "./issue-answer.ts";
import type { IssueTrackerParts } from "./issue-tracker.ts";
import { projectPath } from "./issue-tracker.ts";
import type { RepoRef } from "@antiphon/contracts";

export type { PullRequest } from "./issue-answer.ts";

export interface PullRequests {
  /** @throws AntiphonError ANT_WORK_ITEMS_* */
  open(repo: RepoRef, signal: AbortSignal): Promise<PullRequest[]>;
}

const PAGE = { gitea: "limit=50", github: "per_page=100" };

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
}
