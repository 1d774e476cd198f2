/**
 * Whether people decide about a change that passed, because its task or the deployment's policy says so. Pure. The run's own
 * `approvals` are in its intent record; this is what is known only about a finished change: its files, its size, its proof.
 */
import type { ApprovalNeed, Approvals, PolicyBounds, Proves } from "@antiphon/contracts";
import type { Gate, PlannedTask, RiskClass } from "@antiphon/contracts";
import { closingMatcher, pathMatcher } from "@antiphon/git";
import { folded, touchedPaths, type Touched } from "./policy-bounds.ts";
import { isWeaker } from "./strength.ts";

export interface PassedChange {
  readonly files: readonly Touched[];
  readonly proves: Proves;
}

const SHOWN_PATH = 200;

/** Null: neither a plan nor a policy asks for approvals. */
export function approvalNeed(
  change: PassedChange,
  bounds: PolicyBounds | undefined,
  byPlan: Approvals | undefined,
): ApprovalNeed | null {
  const { auto_land = [], gates = [], profiles = [] } = bounds ?? {};
  const policy = `policy ${profiles.join(", ")}`;
  const asks: { needed: number; reason: string }[] = [];
  if (byPlan !== undefined)
    asks.push({ needed: byPlan.needed, reason: "the plan asks people about this task" });
  for (const risk of auto_land) {
    const why = outsideOf(change, risk);
    if (why !== null) asks.push({ needed: 1, reason: `${why} (${policy}, rule autoLand)` });
  }
  for (const gate of gates) {
    const why = touchOf(change, gate);
    const needed = gate.needed ?? (gate.skill === undefined ? 1 : 0);
    if (why !== null && needed > 0) asks.push({ needed, reason: `${why} (${policy}, gate ${gate.name})` });
  }
  if (asks.length === 0) return null;
  const reasons = [...new Set(asks.map(({ reason }) => reason))].slice(0, 64);
  return { needed: Math.max(...asks.map(({ needed }) => needed)), reasons };
}

/** Why a change is not in the class of those that land by themselves; null: it is. */
function outsideOf(
  { files, proves }: PassedChange,
  { paths, maxFiles, maxLines, proof }: RiskClass,
): string | null {
  if (maxFiles !== undefined && files.length > maxFiles)
    return `${files.length} files, at most ${maxFiles} land without people`;
  const lines = files.reduce((sum, { added, removed }) => sum + added + removed, 0);
  if (maxLines !== undefined && lines > maxLines)
    return `${lines} lines, at most ${maxLines} land without people`;
  if (paths !== undefined) {
    const inside = pathMatcher(paths.map(folded));
    const path = files.flatMap(touchedPaths).find((one) => !inside.matches(folded(one)));
    if (path !== undefined) return `${shown(path)} does not change without people`;
  }
  if (proof !== undefined && isWeaker(proves, proof))
    return `the checks prove ${proves}, and ${proof} is needed to land without people`;
  return null;
}

/** Which file of the change is behind a gate; null: none. */
function touchOf({ files }: PassedChange, { paths }: Gate): string | null {
  if (paths === undefined) return "every change needs people";
  const path = touchedBelow(files, paths);
  return path === null ? null : `${shown(path)} changes`;
}

function touchedBelow(files: readonly Touched[], paths: readonly string[]): string | null {
  const behind = closingMatcher(paths.map(folded));
  return files.flatMap(touchedPaths).find((one) => behind.matches(folded(one))) ?? null;
}

/** The tasks of the skills that judge the change, in the order of the plan. `files` null: they are not known, so all of them. */
export function gatesNeeded(
  files: readonly Touched[] | null,
  taskId: string,
  tasks: readonly { readonly planned: PlannedTask }[],
): string[] {
  return tasks.flatMap(({ planned: { task, gate } }) => {
    if (gate?.of !== taskId) return [];
    const isBehind = gate.paths === undefined || files === null || touchedBelow(files, gate.paths) !== null;
    return isBehind ? [task.task_id] : [];
  });
}

function shown(path: string): string {
  return path.length > SHOWN_PATH ? `${path.slice(0, SHOWN_PATH)}...` : path;
}
