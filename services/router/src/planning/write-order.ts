/**
 * Puts tasks that may change the same files one after the other, in the order of the plan. Pure.
 *
 * Only tasks that say which files they change are compared; an empty list means any file. New dependencies follow a
 * topological order of the graph, so they close no circle.
 */
import type { TaskSpec } from "@antiphon/contracts";
import { filesOf, fullEffort, overlapOf, type Files } from "./glob-overlap.ts";

export interface Wait {
  readonly task: number;
  readonly on: number;
  readonly why: string;
}

export interface WriteOrder {
  readonly specs: readonly TaskSpec[];
  readonly waits: readonly Wait[];
}

/** `specs`: a graph without faults. */
export function inWriteOrder(specs: readonly TaskSpec[], edits: (spec: TaskSpec) => boolean): WriteOrder {
  const effort = fullEffort();
  const waits: Wait[] = [];
  const before = new Map<number, Set<number>>();
  const writers: { id: number; files: Files }[] = [];
  for (const { id, dependencies, ...spec } of topological(specs)) {
    const ancestors = new Set<number>();
    const follow = (on: number): void => {
      for (const one of [on, ...(before.get(on) ?? [])]) ancestors.add(one);
    };
    dependencies.forEach(follow);
    before.set(id, ancestors);
    if (spec.allowed_files === undefined || !edits({ id, dependencies, ...spec })) continue;
    const files = filesOf(spec.allowed_files);
    for (const other of writers.toReversed()) {
      if (ancestors.has(other.id)) continue;
      const both = overlapOf(other.files, files, effort);
      if (both === null) continue;
      waits.push({ task: id, on: other.id, why: reasonOf(both) });
      follow(other.id);
    }
    writers.push({ id, files });
  }
  if (waits.length === 0) return { specs, waits };
  const added = new Map<number, number[]>();
  for (const { task, on } of waits) added.set(task, [...(added.get(task) ?? []), on]);
  return {
    specs: specs.map((spec) => ({
      ...spec,
      dependencies: [...spec.dependencies, ...(added.get(spec.id) ?? [])],
    })),
    waits,
  };
}

const SHOWN = 80;

function reasonOf(both: readonly [string, string]): string {
  const [one = "", other = ""] = both.map((glob) =>
    glob.length > SHOWN ? `${glob.slice(0, SHOWN - 3)}...` : glob,
  );
  if (one === "**" && other === "**") return "both may change any file";
  return one === other ? `both may change ${one}` : `the files ${one} and ${other} overlap`;
}

/** Dependencies first, otherwise in the given order. */
function topological(specs: readonly TaskSpec[]): TaskSpec[] {
  const byId = new Map(specs.map((spec) => [spec.id, spec]));
  const placed = new Set<number>();
  const ordered: TaskSpec[] = [];
  const stack: TaskSpec[] = specs.toReversed();
  for (let spec = stack.pop(); spec !== undefined; spec = stack.pop()) {
    if (placed.has(spec.id)) continue;
    const open = spec.dependencies.flatMap((id) => (placed.has(id) ? [] : (byId.get(id) ?? [])));
    if (open.length === 0) {
      placed.add(spec.id);
      ordered.push(spec);
    } else stack.push(spec, ...open.toReversed());
  }
  return ordered;
}
