/**
 * Runs passing checks once more with the tree in another directory and with another home, to find a change that behaves
 * differently at /workspace. Only changes with a source that may inspect its surroundings pay for it.
 *
 * A project may rightly depend on its place. Its base shows that: the checks pass at /workspace and fail elsewhere, or the test
 * runner's report differs. Then nothing is concluded, and neither is it if the base failed without a report. Only the signs in
 * the text of the change remain (git/src/protection/whereabouts.ts). A failing check has to fail twice, so that a flaky one
 * accuses nobody. Slow checks and checks that name /workspace are not moved.
 */
import { limits } from "@antiphon/contracts";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { hasReport, type TestReport } from "./reports/test-report.ts";
import { isPassed, ONCE, tookMs } from "./trials.ts";

interface Moved {
  readonly request: RoomRequest;
  readonly elsewhere?: string | null;
}

/** The outcome of checks that failed elsewhere; null: they pass there, too, or nothing can be concluded. */
export async function triedElsewhere(
  { request, elsewhere }: Moved,
  { change, base }: { readonly change: RoomOutcome; readonly base: RoomOutcome | null },
  room: CleanRoomPort,
  signal: AbortSignal,
): Promise<RoomOutcome | null> {
  // What a setup made is bound to its place: environments of Python and builds hold absolute paths.
  if (elsewhere == null || base === null || change.environment !== undefined) return null;
  if (isToldOfPlace(request) || tookMs(change.trials) > limits.verifyElsewhereMs) return null;
  const moved = { ...request, elsewhere, trials: ONCE };
  const away = await room.check(moved, signal);
  if (away.trials.every(isPassed)) return null;
  const again = await room.check(moved, signal);
  if (again.trials.every(isPassed)) return null;
  const bare = await room.check({ ...moved, purpose: "base", candidate: null }, signal);
  return isBoundToItsPlace(base, bare) ? null : away;
}

/** By the caller's words, which no change can write. */
function isToldOfPlace({ checks, room }: RoomRequest): boolean {
  return [...checks, ...Object.values(room?.env ?? {})].some((text) => text.includes("/workspace"));
}

/** Whether the base behaves otherwise elsewhere, or hides how it does. */
function isBoundToItsPlace(base: RoomOutcome, away: RoomOutcome): boolean {
  const [here, there] = [base.trials.every(isPassed), away.trials.every(isPassed)];
  if (away.trials.length === 0 || here !== there) return true;
  if (here) return false;
  const reports = [...(base.reports ?? []), ...(away.reports ?? [])];
  if (reports.length === 0 || !reports.every(hasReport)) return true;
  return wordOf(base.reports) !== wordOf(away.reports);
}

/** How many tests ran and failed, by runner. */
function wordOf(reports: readonly TestReport[] = []): string {
  return JSON.stringify(
    reports.map(({ runners }) => [...runners].map(([name, { ran, failed }]) => [name, ran, failed])),
  );
}
