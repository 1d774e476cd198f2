/** I8: an attempt has at most one live container, and none is left at the end. */
import type { ContainerEvent, ContainerJob, History } from "./history.ts";
import { violation, type Invariant, type Violation } from "./invariant.ts";

interface Life {
  readonly id: string;
  readonly job: ContainerJob | null;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isGone: boolean;
}

export const I8: Invariant = {
  id: "I8",
  title: "at most one live container per task and epoch, none left",
  ofHistory(history: History) {
    if (!history.witnessed.engine) return [];
    const lives = livesOf(history.containers);
    return [...overlapping(lives), ...left(lives)];
  },
};

/** Two Directors may run a clean room at once; an attempt's work may not run twice at once. */
function overlapping(lives: readonly Life[]): Violation[] {
  const attempts = new Map<string, Life[]>();
  for (const life of lives) {
    if (life.job?.purpose !== "attempt") continue;
    const key = `${life.job.runId} ${life.job.taskId} ${life.job.epoch}`;
    attempts.set(key, [...(attempts.get(key) ?? []), life]);
  }
  return [...attempts.values()].flatMap((same) => {
    const sorted = same.toSorted((a, b) => a.fromMs - b.fromMs);
    return sorted.flatMap((life, i) => {
      const earlier = sorted.slice(0, i).find((other) => other.untilMs > life.fromMs);
      if (earlier === undefined || life.job === null) return [];
      const { runId, taskId, epoch } = life.job;
      const forMs = Math.min(earlier.untilMs, life.untilMs) - life.fromMs;
      const what = `${taskId} epoch ${epoch} ran in ${earlier.id} and ${life.id} at once, for ${forMs} ms`;
      return [violation("I8", runId, { rule: "two-alive", what })];
    });
  });
}

function left(lives: readonly Life[]): Violation[] {
  return lives
    .filter(({ isGone }) => !isGone)
    .map(({ id, job }) =>
      violation("I8", job?.runId ?? null, { rule: "left-behind", what: `${id} is left behind` }),
    );
}

function livesOf(events: readonly ContainerEvent[]): Life[] {
  const byId = new Map<string, ContainerEvent[]>();
  for (const event of events) byId.set(event.id, [...(byId.get(event.id) ?? []), event]);
  return [...byId].map(([id, own]) => {
    const inOrder = own.toSorted((a, b) => a.atMs - b.atMs);
    const working = inOrder.find(({ job, action }) => job !== null && action !== "create");
    const end = inOrder.find(({ action }) => action === "die" || action === "destroy");
    return {
      id,
      job: inOrder.findLast(({ job }) => job !== null)?.job ?? null,
      fromMs: working?.atMs ?? Number.POSITIVE_INFINITY,
      untilMs: end?.atMs ?? Number.POSITIVE_INFINITY,
      isGone: inOrder.some(({ action }) => action === "destroy"),
    };
  });
}
