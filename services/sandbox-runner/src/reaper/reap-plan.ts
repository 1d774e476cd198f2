/**
 * Which containers of an instance are orphans. Pure: what is known comes in, verdicts come out.
 *
 * Invariants:
 *   R1  A container past its deadline label goes, whoever owns it.
 *   R2  A container whose owner is known to be gone goes.
 *   R3  A container of a living owner is left alone, unless it is our own, we do not hold it, and it is older than
 *       the time a start takes.
 *   R4  A container without readable labels is judged by its age alone.
 *   R7  A container that does not run, and that nobody holds, goes as soon as no start can be under way:
 *       this is what remains of a runner that died between create and start where its owner cannot be asked.
 */
export const LABELS = {
  instance: "antiphon.instance",
  node: "antiphon.node",
  owner: "antiphon.owner",
  deadline: "antiphon.deadline",
  run: "antiphon.run",
  task: "antiphon.task",
  epoch: "antiphon.epoch",
} as const;

/** Between two looks of a reaper. */
export const REAP_INTERVAL_MS = 30_000;

export interface Suspect {
  readonly id: string;
  readonly createdMs: number;
  readonly isRunning: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

export type OwnerState = "alive" | "gone" | "unknown";

export interface ReapFacts {
  readonly nowMs: number;
  /** The caller's own owner label, and the containers it holds; null: the caller holds none. */
  readonly self: { readonly owner: string; readonly held: ReadonlySet<string> } | null;
  readonly ownerState: (owner: string) => OwnerState;
}

export type ReapReason = "deadline" | "owner-gone" | "not-held" | "not-running" | "no-labels" | "epoch-over";

/** With the pause between two sweeps it makes less than a minute. */
export const START_GRACE_MS = 25_000;
const UNLABELLED_MAX_AGE_MS = 3_600_000;

/** Why this container goes, or null. */
export function reapReason(suspect: Suspect, facts: ReapFacts): ReapReason | null {
  const ageMs = facts.nowMs - suspect.createdMs;
  const owner = suspect.labels[LABELS.owner];
  const deadline = Number(suspect.labels[LABELS.deadline]);
  if (owner === undefined || !Number.isFinite(deadline)) {
    return ageMs > UNLABELLED_MAX_AGE_MS ? "no-labels" : null; // R4
  }
  if (facts.nowMs > deadline) return "deadline"; // R1
  const isHeld = facts.self?.held.has(suspect.id) ?? false;
  if (!suspect.isRunning && !isHeld && ageMs > START_GRACE_MS) return "not-running"; // R7
  if (facts.self !== null && owner === facts.self.owner) {
    return !isHeld && ageMs > START_GRACE_MS ? "not-held" : null; // R3
  }
  return facts.ownerState(owner) === "gone" ? "owner-gone" : null; // R2
}
