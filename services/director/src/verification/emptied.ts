/**
 * Runs passing checks once more in a workspace without any file, where nothing shows that they depend on the change: they pass
 * on the base without its files, or the base was too slow to tell. A check such as `true` passes there too, so it says nothing about
 * any change. The packages of a setup are gone, too. A test runner may be content with no tests: where its reports say that
 * fewer tests ran, the check depends on files.
 *
 *   - Only a pass counts there. A check that fails without files, hangs, or has no program there (exit 126, 127) shows nothing,
 *     and the verdict is as if there were no such room.
 *   - A base that was too slow is run to its end before a pass without files is held against a change, since a failure there
 *     shows more.
 *   - A check may hang without its files, so it gets a little more than twice the time that it took with them.
 */
import { limits } from "@antiphon/contracts";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { ranFewer } from "./own-tests.ts";
import { isPassed, ONCE, tookMs } from "./trials.ts";

interface Tried {
  readonly change: RoomOutcome;
  readonly base: RoomOutcome | null;
  readonly hollow: RoomOutcome | null;
  /** The checks with the change's own tests on the sources of the base. */
  readonly ownOnBase: RoomOutcome | null;
}

interface Rooms {
  readonly room: CleanRoomPort;
  /** Runs the checks on the base for as long as they take. */
  base(stop: AbortSignal): Promise<RoomOutcome>;
}

/** `emptied` null: the checks depend on files, or fail. `base`: also where only this room made it worth its time. */
export async function triedEmptied(
  { setup: _none, ...request }: RoomRequest,
  { change, base, hollow, ownOnBase }: Tried,
  rooms: Rooms,
  signal: AbortSignal,
): Promise<Pick<Tried, "base"> & { readonly emptied: RoomOutcome | null }> {
  const others = [base, hollow, ownOnBase].filter((one) => one !== null);
  if (![change, ...others].every(({ trials }) => trials.every(isPassed))) return { base, emptied: null };
  const wantedMs = limits.verifyEmptiedGraceMs + Math.ceil(2 * tookMs(change.trials));
  const budgetMs = Math.min(request.budgetMs, wantedMs);
  const asked = { ...request, candidate: null, emptied: true, trials: ONCE, budgetMs };
  const emptied = await rooms.room.check(asked, signal);
  if (ranFewer(emptied, change)) return { base, emptied: null };
  if (base !== null || !passesEmptied(emptied.trials)) return { base, emptied };
  const slow = await rooms.base(signal);
  return { base: slow, emptied: slow.trials.every(isPassed) ? emptied : null };
}

/** Whether the checks pass without any file. A workspace that could not be emptied tells nothing. */
export function passesEmptied(trials: RoomOutcome["trials"] | null): boolean {
  return trials !== null && trials.length > 0 && trials.every(isPassed);
}
