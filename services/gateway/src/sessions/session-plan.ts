// The plan of a session: one node, derived from its ticket (seed 004). Pure. It is told again when it changes: when the
// ticket was read, and when the session has a branch.
import type { SessionConfig, SessionEntry, TaskPlan, WorkItemDetails } from "@antiphon/contracts";
import type { Said } from "./said.ts";

/** The node's title is the ticket's id until the ticket was read. */
export function firstPlan({ workItem, planNodeId }: SessionConfig): TaskPlan | null {
  if (workItem === undefined) return null;
  const { id } = workItem;
  return { nodes: [{ id: planNodeId ?? id, title: id, dependsOn: [], workItem, tags: [] }] };
}

/** `said`: what a command has made. The plan stands before the end of that command. */
export function withPlan(
  { sessionId, workItem }: SessionConfig,
  entries: readonly SessionEntry[],
  said: readonly Said[],
): Said[] {
  const last = planIn(entries);
  if (last === null || workItem === undefined) return [...said];
  const plan = said.reduce((next, one) => changed(next, one, workItem.id), last);
  if (JSON.stringify(plan) === JSON.stringify(last)) return [...said];
  return [...said.slice(0, -1), { event: "PlanUpdated", payload: { sessionId, plan } }, ...said.slice(-1)];
}

function planIn(entries: readonly SessionEntry[]): TaskPlan | null {
  const told = entries.findLast(({ event }) => event.event === "PlanUpdated")?.event;
  return told?.event === "PlanUpdated" ? told.payload.plan : null;
}

function changed(plan: TaskPlan, { event, payload, workspace }: Said, ticket: string): TaskPlan {
  const [node] = plan.nodes;
  if (node === undefined) return plan;
  const details = event === "WorkItemQueried" ? (payload as { details: WorkItemDetails }).details : null;
  const read = details === null || details.id !== ticket.replace(/^#/, "") ? {} : named(details);
  const branch = workspace?.branch?.replace(/^refs\/heads\//, "");
  return { nodes: [{ ...node, ...read, ...(branch === undefined ? {} : { suggestedBranch: branch }) }] };
}

function named({ title, tags }: WorkItemDetails): { title: string; tags: string[] } {
  return { title, tags };
}
