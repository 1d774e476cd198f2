/** Arranges tasks by the length of their longest chain of dependencies. Pure. */
export interface Dependent {
  readonly id: string;
  readonly deps: readonly string[];
}

export function columnsOf<T extends Dependent>(tasks: readonly T[]): T[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const depths = new Map<string, number>();
  const depthOf = (id: string, below: ReadonlySet<string>): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const deps = (byId.get(id)?.deps ?? []).filter((dep) => byId.has(dep) && !below.has(dep));
    const path = new Set([...below, id]);
    const depth = deps.length === 0 ? 0 : 1 + Math.max(...deps.map((dep) => depthOf(dep, path)));
    depths.set(id, depth);
    return depth;
  };
  const columns: T[][] = [];
  for (const task of tasks) (columns[depthOf(task.id, new Set())] ??= []).push(task);
  return columns;
}
