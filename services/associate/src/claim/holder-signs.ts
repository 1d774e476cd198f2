/**
 * What is known of the holder of a claim whose dispatch came again, from one question to the next. Pure.
 *
 * The server has heard no heartbeat of the holder for a short ack wait (limits.probedAckWaitMs). It may have ended, or it is
 * slow, stopped or cut off and has the rest of its lease. The server says at once that nobody listens on a subject, so a
 * holder that ended is known early; everything that the asker may have caused itself counts for nothing.
 */
import { limits } from "@antiphon/contracts";

export interface Signs {
  readonly askedSinceMs: number;
  /** When the server first said that nobody listens, without another answer since; null: it did not. */
  readonly absentSinceMs: number | null;
  /** How often it has said so since. */
  readonly absences: number;
}

export interface Sighting {
  /** `ended`: the holder answers, and does not work on the attempt. */
  readonly saw: "working" | "ended" | "nobody" | "silent" | "unasked";
  /** Monotonic, as all times here. */
  readonly nowMs: number;
  /** When the asker should have known at the latest, by the pauses and patience that it chose. */
  readonly dueMs: number;
  /** Since when the asker's connection is up without a break; null: it is down. */
  readonly upSinceMs: number | null;
}

/** `unknown`: it was not possible to find out. */
export type Holder = "working" | "ended" | "gone" | "silent" | "unknown";

/** The rest of the lease of a holder that the server has not heard for the short ack wait. */
export const REST_OF_LEASE_MS = limits.associateAckWaitMs - limits.probedAckWaitMs;
/** After a restart of the server every client connects again, each at its own time. */
const STEADY_MS = REST_OF_LEASE_MS;
const ABSENCES = 3;
/** An asker that is later than this was stalled: its timer ends before it reads an answer that has arrived. */
const LATE_MS = 250;

export const beginning = (nowMs: number): Signs => ({
  askedSinceMs: nowMs,
  absentSinceMs: null,
  absences: 0,
});

export function judge(signs: Signs, { saw, nowMs, dueMs, upSinceMs }: Sighting): Holder | Signs {
  if (saw === "working" || saw === "ended") return saw;
  if (nowMs - dueMs > LATE_MS) return "unknown";
  if (saw === "unasked" || upSinceMs === null || upSinceMs > signs.askedSinceMs) return "unknown";
  if (nowMs - signs.askedSinceMs >= REST_OF_LEASE_MS) return "silent";
  if (saw === "silent" || nowMs - upSinceMs < STEADY_MS) return beginning(signs.askedSinceMs);
  const absentSinceMs = signs.absentSinceMs ?? nowMs;
  const absences = signs.absences + 1;
  const isGone = absences >= ABSENCES && nowMs - absentSinceMs >= limits.holderAbsentMs;
  return isGone ? "gone" : { ...signs, absentSinceMs, absences };
}
