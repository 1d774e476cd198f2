/**
 * Passing checks run once more with the tree in another directory, a home of its own and none at /workspace, so that a
 * change which answers otherwise where it is tested is found out. Only changes with a source that may look around pay for it.
 *
 * A project may depend on its place by right. Its base shows that: the checks pass there and fail elsewhere, or the report of
 * its test runner is another one. Nothing is concluded then, nor where the base has failed and no runner reports how. The
 * signs in the text of the change are all that is left (git/src/protection/whereabouts.ts). A check that fails there has to
 * fail again, so that a flaky one accuses nobody; slow checks, and those that are told of /workspace, are not moved at all.
 */
import { limits } from "@antiphon/contracts";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { hasReport, type TestReport } from "./reports/test-report.ts";
import { isPassed, ONCE } from "./trials.ts";

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
  if (isToldOfPlace(request) || tookMs(change) > limits.verifyElsewhereMs) return null;
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

/** Of one trial of the checks. */
function tookMs({ trials: [checks = []] }: RoomOutcome): number {
  return checks.reduce((sum, { durationMs }) => sum + durationMs, 0);
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
