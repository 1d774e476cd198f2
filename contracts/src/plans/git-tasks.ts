/**
 * Tasks of kind `git`: which of them change files, what they go back to, and what makes one invalid. Pure.
 *
 * A task starts from the files that the tasks before it left. `git_status` and `git_checkpoint` only read them; `git_reset` and
 * `git_checkout` propose earlier files as a change, which is verified and lands like any other.
 */
import type { GitAction, TaskKind } from "../seeds/director-task.ts";
import type { GraphNode } from "../rules/graph.ts";
import type { Rule } from "../shapes/rule.ts";
import type { Problem } from "../validation/problem.ts";
import { taskNumberIn } from "./task-number.ts";

/** The ref of the commit that the run started from. */
export const GIT_BASE = "base";

const GOING_BACK: readonly unknown[] = ["git_reset", "git_checkout"];

interface Doing {
  readonly kind?: TaskKind | undefined;
  readonly git_action?: GitAction | undefined;
}

/** Its `base_ref` names the files that it brings back. */
export function goesBack({ kind, git_action }: Doing): boolean {
  return kind === "git" && GOING_BACK.includes(git_action);
}

/** Whether a task may change files. The others only read. */
export function changesFiles(task: Doing): boolean {
  return task.kind === "edit_repo" || goesBack(task);
}

/** Whether a ref names the task with this id. */
export function namesTask(ref: string, id: string): boolean {
  return ref === id || (taskNumberIn(ref) !== null && taskNumberIn(ref) === taskNumberIn(id));
}

export type GitTaskNode = GraphNode & Doing & { readonly base_ref?: string; readonly agent?: unknown };

/** `name` and `path` as in `graphRules`. */
export function gitTaskRule(
  name: string,
  path: string,
  nodes: (value: unknown) => readonly GitTaskNode[],
): Rule {
  return {
    id: `${name}/git-tasks`,
    says: "A task of kind `git` names its verb and no agent. `git_reset` and `git_checkout` go back to `base`, or to a task that the task depends on.",
    check: (value) => {
      const all = nodes(value);
      for (const [i, node] of all.entries()) {
        const problem = problemOf(node, all);
        if (problem !== null) return { ...problem, path: `${path}/${i}${problem.path}` };
      }
      return null;
    },
  };
}

function problemOf(node: GitTaskNode, all: readonly GitTaskNode[]): Problem | null {
  const { kind, git_action, base_ref: ref, agent } = node;
  if (kind !== "git" && git_action !== undefined)
    return problem("/git_action", "a git_action needs kind `git`", "no git_action", git_action);
  if (kind === "git" && git_action === undefined) {
    const verbs = "git_checkpoint, git_reset, git_checkout or git_status";
    return problem("/git_action", "a task of kind `git` names its verb", verbs, "nothing");
  }
  if (kind === "git" && agent !== undefined)
    return problem("/agent", "a task of kind `git` has no agent", "no agent", "an agent");
  if (ref === undefined) return null;
  if (!goesBack(node))
    return problem("/base_ref", "only git_reset and git_checkout go back to a ref", "no base_ref", ref);
  if (ref === GIT_BASE) return null;
  const before = dependenciesOf(node, all);
  if (before.some((id) => namesTask(ref, id))) return null;
  const expected = [GIT_BASE, ...before.slice(0, SHOWN)].join(", ");
  const message = `\`${ref}\` is not \`base\` and no task that this one depends on`;
  return problem("/base_ref", message, `one of: ${expected}`, ref);
}

const SHOWN = 12;

const problem = (path: string, message: string, expected: string, found: string): Problem => ({
  ...{ path, message, expected, found },
});

/** Direct or not. Ids that no node has are not among them. */
function dependenciesOf(node: GraphNode, all: readonly GraphNode[]): string[] {
  const byId = new Map(all.map((one) => [one.id, one]));
  const found = new Set<string>();
  const open = [...node.deps];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const one = byId.get(id);
    if (one === undefined || found.has(id)) continue;
    found.add(id);
    open.push(...one.deps);
  }
  return [...found];
}
