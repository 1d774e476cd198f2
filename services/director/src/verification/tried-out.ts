/** A change as the clean rooms try it (rooms.ts), and the outcome of each room. */
import type { OwnTests } from "@antiphon/git";
import type { RoomOutcome, RoomRequest } from "../ports.ts";
import type { Asks, FailedElsewhere } from "./elsewhere.ts";
import type { TriedOwn } from "./own-tests.ts";
import type { Touched } from "./touched.ts";

export interface Subject {
  request: RoomRequest;
  /** Files that the change adds on the side that judges it, tests among them. */
  judges: readonly string[];
  /** The tests that the change brings, if they have to prove something. */
  own: OwnTests | null;
  /** Those of the opened files that no source names. */
  unnamed(opened: ReadonlySet<string>): Promise<readonly string[]>;
  /** Wait for the base for as long as it takes. */
  waitForBase: boolean;
  /** Files of the change that may be tried without their change if the changed tree or the base opens them. */
  mayOpen: ReadonlySet<string>;
  /** Why passing checks run once more in other surroundings. Absent or null: they need not. */
  elsewhere?: Asks | null;
  /** The sources that the change leaves or removes. */
  touched: Touched;
  /**
   * Whether it matters, after these outcomes, that the checks pass without any file: the change would land, or another attempt
   * would be paid for.
   */
  needsEmptied: (tried: TriedOut) => boolean;
}

export interface TriedOut {
  change: RoomOutcome;
  base: RoomOutcome | null;
  hollow: RoomOutcome | null;
  /** In a workspace without any file; null: the checks depend on files. */
  emptied: RoomOutcome | null;
  /** Without the judges and without the opened files. */
  withoutJudges: RoomOutcome | null;
  /** With the tests that the change brings, on the sources of the base. */
  own: TriedOwn | null;
  /** Files of the change that the checks opened and that no source names. */
  opened: readonly string[];
  /** Checks that pass at /workspace failed in other surroundings, and only with the change (elsewhere.ts). Absent: none did. */
  elsewhere?: FailedElsewhere;
}

/** There are no checks. */
export const UNTRIED: TriedOut = {
  change: { trials: [], written: null },
  base: null,
  hollow: null,
  emptied: null,
  withoutJudges: null,
  own: null,
  opened: [],
};
