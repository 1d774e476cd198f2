/**
 * Decides which containers of an instance are orphans. Pure: facts come in, reasons come out.
 *
 * A container past its deadline label, or of an owner that is known to be gone, is removed. A container of a living
 * owner stays, unless it is our own, we do not hold it, and it is older than the time that a start takes.
 *
 * A container that does not run and is not held is removed as soon as no start can be under way. It is what a runner
 * leaves that died between create and start, where its owner cannot be checked. A container without readable labels is
 * judged by its age alone.
 */
import type { OwnerState } from "@antiphon/runtime";

export const LABELS = {
  instance: "antiphon.instance",
  node: "antiphon.node",
  owner: "antiphon.owner",
  deadline: "antiphon.deadline",
  run: "antiphon.run",
  task: "antiphon.task",
  epoch: "antiphon.epoch",
  /** The user of a container (providers/docker/uid-leases.ts). */
  uid: "antiphon.uid",
} as const;

/** Pause between two sweeps of a reaper. */
export const REAP_INTERVAL_MS = 30_000;

export interface Suspect {
  readonly id: string;
  readonly createdMs: number;
  readonly isRunning: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

export interface ReapFacts {
  readonly nowMs: number;
  /** The caller's own owner label and the containers it holds; null when the caller holds none. */
  readonly self: { readonly owner: string; readonly held: ReadonlySet<string> } | null;
  readonly ownerState: (owner: string) => OwnerState;
}

export type ReapReason = "deadline" | "owner-gone" | "not-held" | "not-running" | "no-labels" | "epoch-over";

/** Together with the pause between two sweeps this is less than a minute. */
export const START_GRACE_MS = 25_000;
const UNLABELLED_MAX_AGE_MS = 3_600_000;

/** The reason to remove this container, or null. */
export function reapReason(suspect: Suspect, facts: ReapFacts): ReapReason | null {
  const ageMs = facts.nowMs - suspect.createdMs;
  const owner = suspect.labels[LABELS.owner];
  const deadline = Number(suspect.labels[LABELS.deadline]);
  if (owner === undefined || !Number.isFinite(deadline)) {
    return ageMs > UNLABELLED_MAX_AGE_MS ? "no-labels" : null;
  }
  if (facts.nowMs > deadline) return "deadline"; // sandbox-runner/S4
  const isHeld = facts.self?.held.has(suspect.id) ?? false;
  if (!suspect.isRunning && !isHeld && ageMs > START_GRACE_MS) return "not-running";
  if (facts.self !== null && owner === facts.self.owner) {
    return !isHeld && ageMs > START_GRACE_MS ? "not-held" : null;
  }
  return facts.ownerState(owner) === "gone" ? "owner-gone" : null; // sandbox-runner/S4
}
