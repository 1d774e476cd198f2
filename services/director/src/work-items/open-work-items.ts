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
}

export function openAdapters(settings: WorkItemSettings | null, urlOf: IssueTrackerParts["urlOf"]): Adapters {
  if (settings === null) return { workItems: null, pullRequests: null };
  if (settings.kind === "file") return { workItems: new FileBacklog(settings.directory), pullRequests: null };
  const { kind, server, api, token } = settings;
  const client = new TrackerClient({ api, token, scheme: kind === "gitea" ? "token" : "Bearer" });
  const parts = { name: kind, server, client, urlOf };
  return { workItems: new IssueTracker(parts), pullRequests: new ServerPullRequests(parts) };
}
