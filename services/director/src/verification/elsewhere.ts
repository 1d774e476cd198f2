/**
 * Runs passing checks once more in other surroundings, to find a change that behaves differently in a clean room: with the tree
 * in another directory and with another home, and with variables that machines set and a clean room lacks (`CI`). Only changes
 * with a source that may inspect its directory, or may read variables, pay for it.
 *
 * A project may rightly depend on its surroundings. Its base shows that: the checks pass at /workspace and fail elsewhere, or the
 * test runner's report differs. Then nothing is concluded, and neither is it if the base failed without a report. Only the signs in
 * the text of the change remain (git/src/protection/whereabouts.ts). A failing check has to fail twice, so that a flaky one
 * accuses nobody. Slow checks are not tried; checks that name /workspace, and those in an environment, are not moved.
 *
 * All differences are tried in one run. Only where that fails is each tried by itself, which names the cause.
 */
import { limits } from "@antiphon/contracts";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { hasReport, type TestReport } from "./reports/test-report.ts";
import { isPassed, ONCE, tookMs } from "./trials.ts";

/** What a change may ask about its surroundings. */
export interface Asks {
  /** Where the checks run besides. Absent: none of its sources may look around. */
  readonly directory?: string;
  readonly readsVariables: boolean;
}

export interface FailedElsewhere {
  readonly trials: RoomOutcome["trials"];
  /** Completes "passes at /workspace and fails ...". */
  readonly where: string;
}

interface Tried {
  readonly request: RoomRequest;
  readonly elsewhere?: Asks | null;
}

interface Surroundings {
  readonly where: string;
  readonly directory?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Those of continuous integration, and of a login. The time zone and the language stay, because honest code depends on them. */
const VARIABLES = {
  ...{ CI: "true", CONTINUOUS_INTEGRATION: "true", BUILD_NUMBER: "1", GITHUB_ACTIONS: "true" },
  ...{ USER: "runner", LOGNAME: "runner" },
};
const IN_DIRECTORY = "in another directory";
const WITH_VARIABLES = "where variables such as CI are set";

/** The outcome of checks that failed elsewhere; null: they pass there, too, or nothing can be concluded. */
export async function triedElsewhere(
  { request, elsewhere }: Tried,
  { change, base }: { readonly change: RoomOutcome; readonly base: RoomOutcome | null },
  room: CleanRoomPort,
  signal: AbortSignal,
): Promise<FailedElsewhere | null> {
  if (elsewhere == null || base === null || tookMs(change.trials) > limits.verifyElsewhereMs) return null;
  const each = differencesFor(elsewhere, request, change);
  const [only] = each;
  if (only === undefined) return null;
  const fails = async (at: Surroundings): Promise<RoomOutcome | null> => {
    const outcome = await room.check(requestAt(at, request), signal);
    return outcome.trials.every(isPassed) ? null : outcome;
  };
  const isBoundTo = async (at: Surroundings): Promise<boolean> => {
    const bare = requestAt(at, { ...request, purpose: "base", candidate: null });
    return isBound(base, await room.check(bare, signal));
  };
  const all = each.length === 1 ? only : allOf(each);
  const first = await fails(all);
  if (first === null) return null;
  let dependsOnOne = false;
  for (const at of each) {
    const away = at === all ? first : await fails(at);
    if (away === null || (await fails(at)) === null) continue;
    if (!(await isBoundTo(at))) return { trials: away.trials, where: at.where };
    dependsOnOne = true;
  }
  // A source may wait for all of them. A project that depends on one of them says nothing about them together.
  if (dependsOnOne || each.length === 1 || (await fails(all)) === null || (await isBoundTo(all))) return null;
  return { trials: first.trials, where: all.where };
}

function differencesFor(
  { directory, readsVariables }: Asks,
  request: RoomRequest,
  { environment }: RoomOutcome,
): readonly Surroundings[] {
  // What a setup made is bound to its place: environments of Python and builds hold absolute paths.
  const isMoved = directory !== undefined && environment === undefined && !isToldOfPlace(request);
  return [
    ...(isMoved ? [{ where: IN_DIRECTORY, directory }] : []),
    ...(readsVariables ? [{ where: WITH_VARIABLES, variables: VARIABLES }] : []),
  ];
}

function allOf(each: readonly Surroundings[]): Surroundings {
  return Object.assign({}, ...each, { where: each.map(({ where }) => where).join(", ") }) as Surroundings;
}

/** A variable of the run has the run's value. */
function requestAt({ directory, variables }: Surroundings, request: RoomRequest): RoomRequest {
  const { room } = request;
  return {
    ...request,
    trials: ONCE,
    ...(directory === undefined ? {} : { elsewhere: directory }),
    ...(variables === undefined ? {} : { room: { ...room, env: { ...variables, ...room?.env } } }),
  };
}

/** By the caller's words, which no change can write. */
function isToldOfPlace({ checks, room }: RoomRequest): boolean {
  return [...checks, ...Object.values(room?.env ?? {})].some((text) => text.includes("/workspace"));
}

/** Whether the base behaves otherwise elsewhere, or hides how it does. */
function isBound(base: RoomOutcome, away: RoomOutcome): boolean {
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
