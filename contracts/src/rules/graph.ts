/** Rules of task graphs: unique ids, existing dependencies, no cycle. A refusal names the cycle. */
import type { Problem } from "../validation/problem.ts";
import type { Rule } from "../shapes/rule.ts";

export type GraphNode = { id: string; deps: readonly string[] };

/**
 * The first cycle of a graph, as its ids with the first one repeated, or null. Iterative, because a graph may be as long
 * as the message limit allows. Missing dependencies are skipped.
 */
export function findCycle(nodes: readonly GraphNode[]): string[] | null {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const state = new Map<string, "open" | "done">();
  for (const { id: root } of nodes) {
    if (state.has(root)) continue;
    const path: { id: string; next: number }[] = [{ id: root, next: 0 }];
    state.set(root, "open");
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const dep = byId.get(top.id)?.deps[top.next++];
      if (dep === undefined) {
        state.set(top.id, "done");
        path.pop();
      } else if (state.get(dep) === "open") {
        return [...path.map(({ id }) => id).slice(path.findIndex(({ id }) => id === dep)), dep];
      } else if (byId.has(dep) && !state.has(dep)) {
        state.set(dep, "open");
        path.push({ id: dep, next: 0 });
      }
    }
  }
  return null;
}

export type GraphView = {
  /** Prefix of the rule ids: `plan`, `task-plan`. */
  name: string;
  /** Path of the list of nodes, and of a node's id and dependencies below it. */
  path: string;
  idKey: string;
  depsKey: string;
  nodes: (value: unknown) => readonly GraphNode[];
};

export function graphRules(view: GraphView): Rule[] {
  const { name, path, idKey, depsKey } = view;
  return [
    {
      id: `${name}/ids-unique`,
      says: "No two nodes have the same id.",
      check: (value) => duplicate(view.nodes(value), (i) => `${path}/${i}/${idKey}`),
    },
    {
      id: `${name}/dependencies-exist`,
      says: "Every dependency is the id of a node of the same graph.",
      check: (value) => dangling(view.nodes(value), (i, j) => `${path}/${i}/${depsKey}/${j}`),
    },
    {
      id: `${name}/acyclic`,
      says: "Dependencies form no cycle; the refusal names it.",
      check: (value) => {
        const cycle = findCycle(view.nodes(value));
        if (cycle === null) return null;
        const words = cycle.length > 12 ? [...cycle.slice(0, 11), "...", cycle.at(-1)] : cycle;
        const said = words.join(" -> ");
        return { path, message: `dependencies form a cycle: ${said}`, expected: "no cycle", found: said };
      },
    },
  ];
}

function duplicate(nodes: readonly GraphNode[], at: (index: number) => string): Problem | null {
  const seen = new Set<string>();
  for (const [i, { id }] of nodes.entries()) {
    if (seen.has(id))
      return { path: at(i), message: `\`${id}\` occurs twice`, expected: "unique ids", found: id };
    seen.add(id);
  }
  return null;
}

function dangling(nodes: readonly GraphNode[], at: (i: number, j: number) => string): Problem | null {
  const ids = new Set(nodes.map(({ id }) => id));
  for (const [i, { id, deps }] of nodes.entries()) {
    for (const [j, dep] of deps.entries()) {
      if (ids.has(dep)) continue;
      const expected = `one of: ${[...ids].slice(0, 12).join(", ")}`;
      return {
        path: at(i, j),
        message: `\`${id}\` depends on \`${dep}\`, which does not exist`,
        expected,
        found: dep,
      };
    }
  }
  return null;
}
