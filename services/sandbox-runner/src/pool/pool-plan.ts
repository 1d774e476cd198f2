/** Decides whether the pool starts another sandbox, and how long it pauses after a failure. Pure. */
export interface PoolBounds {
  readonly warm: number;
  readonly slots: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** None is starting now. */
export function hasRoom(
  counts: { readonly ready: number; readonly leased: number },
  bounds: PoolBounds,
): boolean {
  return counts.ready < Math.min(bounds.warm, bounds.warm + bounds.slots - counts.leased);
}

/** The pause after this many failures in a row: 0, 0.5, 1, 2 ... 30 s. */
export function pauseMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
}
