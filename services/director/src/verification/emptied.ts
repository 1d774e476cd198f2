/**
 * Runs passing checks once more in a workspace without any file, where nothing shows that they depend on the change: they pass
 * on the base without its files, or the base was too slow to tell. A check such as `true` passes there too, so it says nothing about
 * any change. The packages of a setup are gone, too. A test runner may be content with no tests: where its reports say that
 * fewer tests ran, the check depends on files.
 */
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { ranFewer } from "./own-tests.ts";
import { isPassed, ONCE } from "./trials.ts";

interface Tried {
  readonly change: RoomOutcome;
  readonly base: RoomOutcome | null;
  readonly hollow: RoomOutcome | null;
  /** The checks with the change's own tests on the sources of the base. */
  readonly ownOnBase: RoomOutcome | null;
}

/** Null: the checks depend on files, or fail. */
export async function triedEmptied(
  { setup: _none, ...request }: RoomRequest,
  { change, base, hollow, ownOnBase }: Tried,
  room: CleanRoomPort,
  signal: AbortSignal,
): Promise<RoomOutcome | null> {
  const others = [base, hollow, ownOnBase].filter((one) => one !== null);
  if (![change, ...others].every(({ trials }) => trials.every(isPassed))) return null;
  const emptied = await room.check({ ...request, candidate: null, emptied: true, trials: ONCE }, signal);
  return ranFewer(emptied, change) ? null : emptied;
}

/** Whether the checks pass without any file. A workspace that could not be emptied tells nothing. */
export function passesEmptied(trials: RoomOutcome["trials"] | null): boolean {
  return trials !== null && trials.length > 0 && trials.every(isPassed);
}
