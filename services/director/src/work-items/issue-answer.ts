/** Reads answers of the REST API of GitHub and Gitea, which differ little. Their shapes are checked here, once. */
import type { WorkItemDetails } from "@antiphon/contracts";

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

export interface Issue extends WorkItemDetails {
  readonly assignees: readonly string[];
}

/** Null: it is no issue; a pull request is none. */
export function issueOf(value: unknown): Issue | null {
  const found = record(value);
  if (found === null || !Number.isSafeInteger(found["number"]) || typeof found["title"] !== "string")
    return null;
  if (record(found["pull_request"]) !== null) return null;
  const names = [found["assignee"], ...list(found["assignees"])].map((one) => text(record(one)?.["login"]));
  const assignees = [...new Set(names.filter((name) => name !== ""))];
  const tags = list(found["labels"]).map((label) => text(record(label)?.["name"]));
  return {
    ...{ id: String(found["number"]), title: found["title"], description: text(found["body"]) },
    status: text(found["state"]) || "open",
    ...(assignees[0] === undefined ? {} : { assignee: assignees[0] }),
    tags: tags.filter((tag) => tag !== ""),
    assignees,
  };
}

export interface PullRequest extends WorkItemDetails {
  readonly author?: string;
  /** The branch that it proposes. */
  readonly branch: string;
  /** `owner/name` of the branch's project, which may be a fork; empty if that is gone. */
  readonly project: string;
}

/** Null: it is no pull request. */
export function pullRequestOf(value: unknown): PullRequest | null {
  const found = record(value);
  const issue = issueOf(found === null ? null : { ...found, pull_request: null });
  const head = record(found?.["head"]);
  if (found === null || issue === null || head === null) return null;
  const { assignees: _assignees, ...details } = issue;
  const author = text(record(found["user"])?.["login"]);
  const status = found["draft"] === true ? "draft" : details.status;
  const from = { branch: text(head["ref"]), project: text(record(head["repo"])?.["full_name"]) };
  return { ...details, status, ...(author === "" ? {} : { author }), ...from };
}

/** The branch that a project's pull requests go to; empty: the answer is no project. */
export function defaultBranchOf(value: unknown): string {
  return text(record(value)?.["default_branch"]);
}

/** The body of a comment. */
export function commentOf(value: unknown): string {
  return text(record(value)?.["body"]);
}

/** What a server says about a refusal. */
export function reasonOf(value: unknown): string {
  const found = record(value);
  const fields = list(found?.["errors"]).map(
    (one) => text(record(one)?.["message"]) || text(record(one)?.["field"]),
  );
  return [text(found?.["message"]), ...fields]
    .filter((part) => part !== "")
    .join("; ")
    .slice(0, 300);
}

/** Whether another page follows (RFC 8288). */
export function hasNext(link: string | null): boolean {
  return (link ?? "").split(",").some((part) => part.toLowerCase().includes('rel="next"'));
}

/** When a server that counts calls takes the next one, in milliseconds since the epoch. Null: it has not refused by count. */
export function retryAt(status: number, headers: Pick<Headers, "get">, now: number): number | null {
  const after = headers.get("retry-after");
  const isUsedUp = headers.get("x-ratelimit-remaining") === "0";
  if (status !== 429 && !(status === 403 && (after !== null || isUsedUp))) return null;
  const seconds = Number(after);
  if (after !== null && Number.isFinite(seconds)) return now + bounded(seconds * 1000);
  const date = after === null ? Number.NaN : Date.parse(after);
  if (Number.isFinite(date)) return now + bounded(date - now);
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN) * 1000;
  return now + bounded(Number.isFinite(reset) ? reset - now : 60_000);
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, 1_000), 86_400_000);
}
