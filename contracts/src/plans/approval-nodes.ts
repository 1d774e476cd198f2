/**
 * The `approval` nodes of a Plan.v0: people approve the changes of the nodes that an approval node depends on, before they
 * land. Pure. A node that depends on the approval node starts from what landed, so it waits for the decision.
 */
import type { Plan } from "../seeds/plan.ts";
import type { Problem } from "../validation/problem.ts";

type Node = Plan["nodes"][number];
type WorkKind = Exclude<Node["kind"], "approval">;

export interface WorkNode {
  readonly id: string;
  readonly kind: WorkKind;
  readonly deps: readonly string[];
  /** Number of people who approve its change; 0: nobody is asked. */
  readonly needed: number;
}

const MOST_PEOPLE = 16;

export function withoutApprovalNodes(nodes: Plan["nodes"]): WorkNode[] | Problem {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const needed = new Map<string, number>();
  for (const [i, node] of nodes.entries()) {
    if (node.kind !== "approval") continue;
    const people = peopleOf(node);
    if (people === null) return wrongBudget(i, node);
    const about = workBefore(node, byId).filter((id) => byId.get(id)?.kind === "compute");
    if (about.length === 0) return aboutNothing(i);
    for (const id of about) needed.set(id, Math.max(needed.get(id) ?? 0, people));
  }
  return nodes.flatMap((node): WorkNode[] => {
    const { id, kind } = node;
    return kind === "approval"
      ? []
      : [{ id, kind, deps: workBefore(node, byId), needed: needed.get(id) ?? 0 }];
  });
}

/** The nodes of work that a node depends on, directly or through approval nodes. Unknown ids stay, to be named later. */
function workBefore({ deps }: Node, byId: ReadonlyMap<string, Node>): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const open = [...deps];
  for (let id = open.shift(); id !== undefined; id = open.shift()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const node = byId.get(id);
    if (node?.kind === "approval") open.push(...node.deps);
    else found.add(id);
  }
  return [...found];
}

/** `budget.approvals`: how many people. Null: it is no such number. */
function peopleOf({ budget = {} }: Node): number | null {
  const { approvals = 1 } = budget as { approvals?: unknown };
  const isCount = typeof approvals === "number" && Number.isInteger(approvals);
  return isCount && approvals >= 1 && approvals <= MOST_PEOPLE ? approvals : null;
}

function wrongBudget(i: number, { budget }: Node): Problem {
  return {
    path: `/nodes/${i}/budget/approvals`,
    message: "the number of people who approve",
    expected: `a whole number from 1 to ${MOST_PEOPLE}`,
    found: JSON.stringify((budget as { approvals?: unknown } | undefined)?.approvals),
  };
}

function aboutNothing(i: number): Problem {
  return {
    path: `/nodes/${i}/deps`,
    message: "an approval is about the changes of the nodes it depends on, and none of them changes files",
    expected: "the id of a compute node",
    found: "no compute node",
  };
}
