/**
 * Decides how many sandboxes to start. Pure: the shell in pool/pool.ts carries out what `startsWanted` returns, and
 * reports the events.
 *
 * A sandbox is starting, ready, or leased; a lease never returns. `ready + starting` never exceeds `warm`, and all
 * together never exceed `warm + slots`. After a failure nothing is started before a pause is over, so that a broken
 * engine is not flooded with requests.
 */
export interface PoolState {
  readonly ready: number;
  readonly starting: number;
  readonly leased: number;
  /** Failed starts in a row. */
  readonly failures: number;
  readonly lastFailureMs: number;
}

export interface PoolBounds {
  readonly warm: number;
  readonly slots: number;
}

export const EMPTY_POOL: PoolState = { ready: 0, starting: 0, leased: 0, failures: 0, lastFailureMs: 0 };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export type PoolEvent =
  | { readonly kind: "start-begun" }
  | { readonly kind: "start-succeeded" }
  | { readonly kind: "start-failed"; readonly atMs: number }
  | { readonly kind: "ready-leased" }
  | { readonly kind: "ready-lost" }
  | { readonly kind: "cold-leased" }
  | { readonly kind: "lease-ended" };

export function poolAfter(state: PoolState, event: PoolEvent): PoolState {
  switch (event.kind) {
    case "start-begun":
      return { ...state, starting: state.starting + 1 };
    case "start-succeeded":
      return { ...state, starting: state.starting - 1, ready: state.ready + 1, failures: 0 };
    case "start-failed":
      return {
        ...state,
        starting: state.starting - 1,
        failures: state.failures + 1,
        lastFailureMs: event.atMs,
      };
    case "ready-leased":
      return { ...state, ready: state.ready - 1, leased: state.leased + 1 };
    case "ready-lost":
      return { ...state, ready: state.ready - 1 };
    case "cold-leased":
      return { ...state, leased: state.leased + 1 };
    case "lease-ended":
      return { ...state, leased: state.leased - 1 };
  }
}

/** How many sandboxes to start now. */
export function startsWanted(state: PoolState, bounds: PoolBounds, nowMs: number): number {
  if (nowMs < state.lastFailureMs + pauseMs(state.failures)) return 0;
  const missing = bounds.warm - state.ready - state.starting;
  const room = bounds.warm + bounds.slots - state.ready - state.starting - state.leased;
  return Math.max(0, Math.min(missing, room));
}

/** The pause after this many failures in a row: 0, 0.5, 1, 2 ... 30 s. */
export function pauseMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
}
