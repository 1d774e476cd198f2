/** Opens the adapter that the deployment chose. */
import { FileBacklog } from "./file-backlog.ts";
import { IssueTracker, type IssueTrackerParts } from "./issue-tracker.ts";
import { TrackerClient } from "./tracker-client.ts";
import type { WorkItemSettings } from "./work-item-settings.ts";
import type { WorkItems } from "./work-items.ts";

export function openWorkItems(
  settings: WorkItemSettings | null,
  urlOf: IssueTrackerParts["urlOf"],
): WorkItems | null {
  if (settings === null) return null;
  if (settings.kind === "file") return new FileBacklog(settings.directory);
  const { kind, server, api, token } = settings;
  const client = new TrackerClient({ api, token, scheme: kind === "gitea" ? "token" : "Bearer" });
  return new IssueTracker({ name: kind, server, client, urlOf });
}
