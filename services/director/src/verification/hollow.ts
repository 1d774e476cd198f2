/**
 * Runs passing checks on the base without the files that the change touches. If they pass there too, they do not depend on the
 * change.
 *
 *   - Beside sources, the tests that the change edits stay as the base has them: they may be what uses the sources.
 *   - A change that only removes sources is the base without its files, so there is nothing to compare with.
 *   - A source may hold its own tests (doctests). Where the reports say that fewer tests ran without it, the checks depend on it.
 *     With other files that tells nothing, since the room lacks the tests of the change, too.
 *   - Where the base was too slow to tell, the room is run only for a change with sources, which its checks have to use. A pass is
 *     held against it only after the base was run to its end, since a failure there shows more. The checks may hang without the
 *     files, so they get a little more than twice the time that they took with them.
 */
import { limits } from "@antiphon/contracts";
import type { Candidate, CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { ranFewer } from "./own-tests.ts";
import type { Touched } from "./touched.ts";
import { isPassed, ONCE, tookMs } from "./trials.ts";

/** Stays as an empty file: without it, Python takes the package of this name that is installed, as a test tool may need it. */
const PACKAGE = /(?:^|\/)__init__\.py$/;

interface Ended {
  readonly change: RoomOutcome;
  readonly base: RoomOutcome | null;
}

/** Null: the checks depend on the change, or need not. */
export async function triedHollow(
  bare: RoomRequest,
  candidate: Candidate,
  { sources, beside, alone, removes }: Touched,
  { change, base }: Ended,
  room: CleanRoomPort,
  signal: AbortSignal,
): Promise<RoomOutcome | null> {
  const others = base === null ? [change] : [change, base];
  if (removes || !others.every(({ trials }) => trials.every(isPassed))) return null;
  const request = { ...bare, candidate: hollowed(candidate, beside), trials: ONCE };
  if (base === null && sources.length === 0) return null;
  const wantedMs = limits.verifyEmptiedGraceMs + Math.ceil(2 * tookMs(change.trials));
  const budgetMs = base === null ? Math.min(bare.budgetMs, wantedMs) : bare.budgetMs;
  const hollow = await room.check({ ...request, budgetMs }, signal);
  return alone && ranFewer(hollow, change) ? null : hollow;
}

/** The base without the files that the change touches, but with its own version of those that stay. */
function hollowed({ overlay, deletions, ...rest }: Candidate, stay: readonly string[]): Candidate {
  const touched = [...overlay.map(({ path }) => path), ...deletions].filter((path) => !stay.includes(path));
  const empty = touched.filter((path) => PACKAGE.test(path));
  return {
    ...rest,
    overlay: empty.map((path) => ({ path, mode: "100644", content: Buffer.alloc(0) })),
    deletions: touched.filter((path) => !empty.includes(path)),
  };
}
