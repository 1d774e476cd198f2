/** The commands of a session that concern work items. They leave the workspace as it is. */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { CommandName, WorkItemDetails, WorkItemRef, WorkItemSummary } from "@antiphon/contracts";
import { TrackerThrottled } from "../work-items/tracker-client.ts";
import type { WorkItems } from "../work-items/work-items.ts";
import type { Deed, DeedOf, DeedResult } from "./deed.ts";

/** Null: the deployment has none. */
type Adapter = WorkItems | null;

export function queryBacklog(adapter: Adapter): Deed<"QueryBacklog"> {
  return told("QueryBacklog", adapter, async (items, { repo, payload: { filter = "" } }, signal) => {
    const found = (await items.query(repo, filter, signal)).map(summaryOf);
    const fitting = fittingItems(found);
    const all = `${found.length} ${found.length === 1 ? "item" : "items"}`;
    const message =
      fitting.length === found.length ? all : `the first ${fitting.length} of ${all}; a filter selects`;
    return { message, items: fitting };
  });
}

export function queryWorkItem(adapter: Adapter): Deed<"QueryWorkItem"> {
  return told("QueryWorkItem", adapter, async (items, { repo, payload: { item } }, signal) => {
    const found = await items.item(repo, item.id, signal);
    const description = cut(found.description, limits.sessionInlineBytes);
    const isCut = description !== found.description ? "; its description is cut" : "";
    const title = cut(found.title, 1024);
    const tags = found.tags.slice(0, 64).map((tag) => cut(tag, 256));
    const message = `${found.id} is ${cut(found.status, 256)}${isCut}`;
    return { message, details: { ...found, title, description, tags } satisfies WorkItemDetails };
  });
}

export function transitionTicket(adapter: Adapter): Deed<"TransitionTicket"> {
  return told("TransitionTicket", adapter, async (items, { repo, payload: { item, state } }, signal) => {
    await items.transition(repo, item.id, state, signal);
    return { message: `${item.id} is ${state}` };
  });
}

export function setAssignee(adapter: Adapter): Deed<"SetAssignee"> {
  return told("SetAssignee", adapter, async (items, { repo, payload: { item, assignee } }, signal) => {
    await items.assign(repo, item.id, assignee, signal);
    return { message: `${item.id} is assigned to ${assignee}` };
  });
}

export function comment(adapter: Adapter): Deed<"Comment"> {
  return told("Comment", adapter, async (items, { repo, payload, sessionId, commandId, again }, signal) => {
    const { item, body } = payload;
    if (body.trim() === "") throw new AntiphonError("ANT_WORK_ITEM_REFUSED", "the comment is empty");
    await items.comment(repo, item.id, { body, key: `${sessionId}/${commandId}`, again }, signal);
    return { message: `the comment is at ${item.id}` };
  });
}

type ItemCommand = Extract<
  CommandName,
  "QueryBacklog" | "QueryWorkItem" | "TransitionTicket" | "SetAssignee" | "Comment"
>;

/** Finds the adapter, and tells when a server takes the next call. */
function told<N extends ItemCommand>(
  command: N,
  adapter: Adapter,
  act: (items: WorkItems, deed: DeedOf<N>, signal: AbortSignal) => Promise<Omit<DeedResult, "workspace">>,
): Deed<N> {
  return async (deed, signal) => {
    const { workspace, payload } = deed;
    try {
      return { workspace, ...(await act(adapterFor(adapter, payload), deed, signal)) };
    } catch (error) {
      if (!(error instanceof TrackerThrottled)) throw error;
      return { workspace, message: error.detail, code: error.code, ...throttledBy(error, command) };
    }
  };
}

/** When the server takes the next call. */
export function throttledBy({ at }: TrackerThrottled, command: CommandName): Pick<DeedResult, "throttled"> {
  return { throttled: { scope: `workItems.${command}`, retryAfter: new Date(at).toISOString() } };
}

function adapterFor(adapter: Adapter, payload: { filter?: string } | { item: WorkItemRef }): WorkItems {
  if (adapter === null)
    throw new AntiphonError(
      "ANT_ADAPTER_UNAVAILABLE",
      "there is no work items adapter: ANTIPHON_WORK_ITEMS is not set",
    );
  const hint = "item" in payload ? payload.item.providerHint : undefined;
  if (hint === undefined || hint.toLowerCase() === adapter.name) return adapter;
  const detail = `there is no work items adapter ${JSON.stringify(hint.slice(0, 80))}; there is ${adapter.name}`;
  throw new AntiphonError("ANT_ADAPTER_UNAVAILABLE", detail);
}

function summaryOf({ id, title, status, assignee }: WorkItemSummary): WorkItemSummary {
  const held = assignee === undefined ? {} : { assignee: cut(assignee, 256) };
  return { id: cut(id, 256), title: cut(title, 1024), status: cut(status, 256), ...held };
}

/** The first ones that fit into an entry of the session's log. */
function fittingItems(items: readonly WorkItemSummary[]): WorkItemSummary[] {
  let left = limits.backlogAnswerBytes;
  const end = items.findIndex((item) => (left -= Buffer.byteLength(JSON.stringify(item))) < 0);
  return items.slice(0, end === -1 ? items.length : end);
}

/** At most `bytes` bytes, without half a character. */
function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= bytes) return text;
  return `${whole
    .subarray(0, bytes - 4)
    .toString("utf8")
    .replace(/\ufffd$/, "")}…`;
}
