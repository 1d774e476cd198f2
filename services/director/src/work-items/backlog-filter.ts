/**
 * The filter of QueryBacklog. Words must all occur in the item's id, title, description or tags; `status:`, `assignee:` and
 * `tag:` name a field. Without `status:` items that are done are left out; `status:any` selects all. Case does not matter.
 */
import type { WorkItemDetails } from "@antiphon/contracts";

export interface BacklogFilter {
  /** Null: every status but those of items that are done. `any`: all. */
  readonly status: string | null;
  readonly assignees: readonly string[];
  readonly tags: readonly string[];
  readonly words: readonly string[];
}

const DONE: ReadonlySet<string> = new Set(["done", "closed", "resolved"]);

export function backlogFilter(text: string): BacklogFilter {
  let status: string | null = null;
  const assignees: string[] = [];
  const tags: string[] = [];
  const words: string[] = [];
  for (const part of text.toLowerCase().split(/\s/)) {
    const colon = part.indexOf(":");
    const value = part.slice(colon + 1);
    const field = colon === -1 || value === "" ? "" : part.slice(0, colon);
    if (field === "status") status = value;
    else if (field === "assignee") assignees.push(value);
    else if (field === "tag") tags.push(value);
    else if (part !== "") words.push(part);
  }
  return { status, assignees, tags, words };
}

export function selects(filter: BacklogFilter, item: WorkItemDetails): boolean {
  const status = item.status.toLowerCase().replaceAll(" ", "-");
  const tags = item.tags.map((tag) => tag.toLowerCase());
  const text = [item.id, item.title, item.description, ...tags].join("\n").toLowerCase();
  const isWanted =
    filter.status === null
      ? !DONE.has(status)
      : filter.status === "any" || filter.status.replaceAll("_", "-") === status;
  return (
    isWanted &&
    filter.assignees.every((name) => (item.assignee ?? "").toLowerCase() === name) &&
    filter.tags.every((tag) => tags.includes(tag)) &&
    filter.words.every((word) => text.includes(word))
  );
}
