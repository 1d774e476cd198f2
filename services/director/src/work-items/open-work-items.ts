/** Opens the adapters that the deployment chose. */
import { FileBacklog } from "./file-backlog.ts";
import { IssueTracker, type IssueTrackerParts } from "./issue-tracker.ts";
import { ServerPullRequests, type PullRequests } from "./pull-requests.ts";
import { TrackerClient } from "./tracker-client.ts";
import type { WorkItemSettings } from "./work-item-settings.ts";
import type { WorkItems } from "./work-items.ts";

/** Null: the deployment has none. */
export interface Adapters {
  readonly workItems: WorkItems | null;
  readonly pullRequests: PullRequests | null;
  /** Where a session's push opens a pull request. */
  readonly proposals: Pick<PullRequests, "propose"> | null;
}

const NONE: Adapters = { workItems: null, pullRequests: null, proposals: null };

export function openAdapters(settings: WorkItemSettings | null, urlOf: IssueTrackerParts["urlOf"]): Adapters {
  if (settings === null) return NONE;
  if (settings.kind === "file") return { ...NONE, workItems: new FileBacklog(settings.directory) };
  const { kind, server, api, token, proposes } = settings;
  const client = new TrackerClient({ api, token, scheme: kind === "gitea" ? "token" : "Bearer" });
  const parts = { name: kind, server, client, urlOf };
  const pullRequests = new ServerPullRequests(parts);
  return { workItems: new IssueTracker(parts), pullRequests, proposals: proposes ? pullRequests : null };
}
