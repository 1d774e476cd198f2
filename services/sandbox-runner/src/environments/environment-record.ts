/**
 * What KV `ANT_ENVIRONMENTS` says of one environment, and what a runner that needs it does next. Pure.
 *
 *   absent -> building -> ready -> absent (removed by age or size)
 *                    \-> failed -> building (a person asked for it again)
 *
 * The builder adds a beat while it works. A record without a new beat for as long as a runner may be silent belongs to a
 * builder that is gone, and whoever waits takes over.
 */
import { limits, type BlobRef, type EnvironmentReport } from "@antiphon/contracts";

export type EnvironmentRecord =
  | { readonly state: "building"; readonly holder: string; readonly beat: number }
  | {
      readonly state: "ready";
      readonly layer: BlobRef;
      readonly report: EnvironmentReport;
      /** Milliseconds since the epoch, to the hour. */
      readonly used_at: number;
    }
  | { readonly state: "failed"; readonly report: EnvironmentReport; readonly message: string };

export type Move = "use" | "build" | "wait" | "refuse";

/**
 * @param quietMs how long the record has not changed, as far as this runner has seen
 * @param again a person asked to prepare it although it failed before
 */
export function nextMove(record: EnvironmentRecord | null, quietMs: number, again: boolean): Move {
  if (record === null) return "build";
  switch (record.state) {
    case "ready":
      return "use";
    case "building":
      return quietMs > limits.sandboxSilenceMs ? "build" : "wait";
    case "failed":
      return again ? "build" : "refuse";
  }
}

const HOUR_MS = 3_600_000;

/** The record after a use; null when it says so already. */
export function afterUse(
  record: Extract<EnvironmentRecord, { state: "ready" }>,
  nowMs: number,
): EnvironmentRecord | null {
  return nowMs - record.used_at < HOUR_MS ? null : { ...record, used_at: nowMs };
}

export interface KeptLayer {
  readonly key: string;
  readonly bytes: number;
  readonly usedAt: number;
}

/** The environments to remove: unused for too long, then the least recently used ones over the bound. */
export function surplus(kept: readonly KeptLayer[], nowMs: number, maxBytes: number): readonly string[] {
  const oldest = nowMs - limits.environmentKeepS * 1000;
  const [expired, rest] = [
    kept.filter((one) => one.usedAt < oldest),
    kept.filter((one) => one.usedAt >= oldest),
  ];
  let bytes = rest.reduce((sum, one) => sum + one.bytes, 0);
  const removed = [...expired];
  for (const one of [...rest].sort((a, b) => a.usedAt - b.usedAt)) {
    if (bytes <= maxBytes) break;
    bytes -= one.bytes;
    removed.push(one);
  }
  return removed.map(({ key }) => key);
}
