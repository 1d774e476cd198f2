/**
 * The issues of a repository on a Gitea or GitHub server. A repository's issues are those of the project that it is cloned
 * from, so a session reaches no other project. The server decides what it stores, so each change is checked in its answer:
 * GitHub drops an assignee that it does not know without an error, and Gitea answers with 500.
 */
import { createHash } from "node:crypto";
import { AntiphonError } from "@antiphon/contracts";
import type { RepoRef, WorkItemDetails } from "@antiphon/contracts";
import { backlogFilter, selects, type BacklogFilter } from "./backlog-filter.ts";
import { commentOf, issueOf, type Issue } from "./issue-answer.ts";
import { projectOf } from "./tracker-project.ts";
import type { TrackerClient } from "./tracker-client.ts";
import type { NewComment, WorkItems } from "./work-items.ts";

export interface IssueTrackerParts {
  readonly name: "gitea" | "github";
  /** The server as people see it. */
  readonly server: URL;
  readonly client: TrackerClient;
  /** Where the repository is served. @throws AntiphonError ANT_SESSION_REMOTE, ANT_REPO_URL_REFUSED */
  readonly urlOf: (repo: RepoRef) => Promise<string>;
}

const STATES: ReadonlySet<string> = new Set(["open", "closed"]);
const PAGE = { gitea: "type=issues&limit=50", github: "per_page=100" };

export class IssueTracker implements WorkItems {
  readonly name: IssueTrackerParts["name"];
  readonly #parts: IssueTrackerParts;

  constructor(parts: IssueTrackerParts) {
    this.name = parts.name;
    this.#parts = parts;
  }

  async query(repo: RepoRef, text: string, signal: AbortSignal): Promise<WorkItemDetails[]> {
    const filter = backlogFilter(text);
    const path = `${await this.#issues(repo)}?state=${stateOf(filter)}&${PAGE[this.name]}`;
    const found: WorkItemDetails[] = [];
    for await (const one of this.#parts.client.pages(path, signal)) {
      const issue = issueOf(one);
      if (issue !== null && selects(filter, issue)) found.push(detailsOf(issue));
    }
    return found;
  }

  async item(repo: RepoRef, id: string, signal: AbortSignal): Promise<WorkItemDetails> {
    return detailsOf(await this.#issue(await this.#path(repo, id), signal));
  }

  async transition(repo: RepoRef, id: string, state: string, signal: AbortSignal): Promise<void> {
    if (!STATES.has(state))
      throw new AntiphonError(
        "ANT_WORK_ITEM_REFUSED",
        `${this.name} has the states open and closed, no ${state}`,
      );
    const issue = await this.#change(await this.#path(repo, id), { state }, signal);
    if (issue.status !== state) throw kept(issue, `is ${issue.status}`);
  }

  async assign(repo: RepoRef, id: string, assignee: string, signal: AbortSignal): Promise<void> {
    const path = await this.#path(repo, id);
    const issue = await this.#change(path, { assignees: [assignee] }, signal).catch(
      async (error: unknown) => {
        await this.#requireUser(assignee, error, signal);
        throw error;
      },
    );
    if (!issue.assignees.some((name) => name.toLowerCase() === assignee.toLowerCase()))
      throw kept(issue, `is not assigned to ${assignee}`);
  }

  /** The mark is not shown, and tells a second try that the first one made the comment. */
  async comment(
    repo: RepoRef,
    id: string,
    { body, key, again }: NewComment,
    signal: AbortSignal,
  ): Promise<void> {
    const path = await this.#path(repo, id);
    await this.#issue(path, signal); // A pull request is no work item.
    const mark = `<!-- antiphon:${createHash("sha256").update(key).digest("hex").slice(0, 32)} -->`;
    if (again)
      for await (const one of this.#parts.client.pages(`${path}/comments`, signal))
        if (commentOf(one).includes(mark)) return;
    await this.#parts.client.call("POST", `${path}/comments`, signal, { body: `${body}\n\n${mark}` });
  }

  /** Says so if that is why a server failed. */
  async #requireUser(name: string, cause: unknown, signal: AbortSignal): Promise<void> {
    if (!(cause instanceof AntiphonError) || cause.code !== "ANT_WORK_ITEMS_UNAVAILABLE") return;
    try {
      await this.#parts.client.call("GET", `/users/${encodeURIComponent(name)}`, signal);
    } catch (error) {
      if (!(error instanceof AntiphonError) || error.code !== "ANT_WORK_ITEM_NOT_FOUND") throw cause;
      throw new AntiphonError("ANT_WORK_ITEM_REFUSED", `${this.name} has no user ${name}`, { cause });
    }
  }

  async #issue(path: string, signal: AbortSignal): Promise<Issue> {
    const issue = issueOf(await this.#parts.client.call("GET", path, signal));
    if (issue !== null) return issue;
    throw new AntiphonError("ANT_WORK_ITEM_NOT_FOUND", `${path} is no issue`);
  }

  async #change(path: string, change: object, signal: AbortSignal): Promise<Issue> {
    await this.#issue(path, signal);
    const issue = issueOf(await this.#parts.client.call("PATCH", path, signal, change));
    if (issue !== null) return issue;
    throw new AntiphonError("ANT_WORK_ITEMS_UNREADABLE", `the answer to a change of ${path} is no issue`);
  }

  async #path(repo: RepoRef, id: string): Promise<string> {
    const number = /^#?([1-9][0-9]{0,11})$/.exec(id)?.[1];
    if (number !== undefined) return `${await this.#issues(repo)}/${number}`;
    throw new AntiphonError(
      "ANT_WORK_ITEM_NOT_FOUND",
      `${JSON.stringify(id.slice(0, 80))} is no number of an issue`,
    );
  }

  async #issues(repo: RepoRef): Promise<string> {
    return `${await projectPath(this.#parts, repo)}/issues`;
  }
}

/** The path of a repository's project in the API. @throws AntiphonError ANT_WORK_ITEMS_PROJECT */
export async function projectPath(
  { urlOf, server }: Pick<IssueTrackerParts, "urlOf" | "server">,
  repo: RepoRef,
): Promise<string> {
  const url = await urlOf(repo);
  const project = projectOf(url, server);
  if (project !== null) return `/repos/${project}`;
  throw new AntiphonError("ANT_WORK_ITEMS_PROJECT", `${url} is no project of ${server.href}`);
}

/** The part of a filter that the server applies; the rest is applied here. */
function stateOf({ status }: BacklogFilter): "open" | "closed" | "all" {
  if (status === null || status === "open") return "open";
  return status === "closed" ? "closed" : "all";
}

function detailsOf({ id, title, description, status, assignee, tags }: Issue): WorkItemDetails {
  return { id, title, description, status, ...(assignee === undefined ? {} : { assignee }), tags };
}

function kept({ id }: Issue, how: string): AntiphonError {
  return new AntiphonError("ANT_WORK_ITEM_REFUSED", `the server answered, but issue ${id} ${how}`);
}
