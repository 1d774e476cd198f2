/**
 * The clean rooms of one verification. Side by side run the changed tree; the base, which tells what the checks prove
 * (base-room.ts); and the changed tree without its changes on the judging side. If the checks pass on the changed tree, further rooms
 * show whether they depend on the change at all (dependence.ts).
 *
 * The base runs as often as the change only where a demand rests on its answer. A base that nothing demands runs once, and is
 * not waited for much longer than the change took.
 */
import { limits } from "@antiphon/contracts";
import type { Candidate, CleanRoomPort, RoomOutcome } from "../ports.ts";
import { BaseRoom } from "./base-room.ts";
import { triedFurther } from "./dependence.ts";
import type { KeptBases } from "./kept-base.ts";
import { hasReport } from "./reports/test-report.ts";
import { sideBySide } from "./side-by-side.ts";
import { allPass, ONCE, runTrials } from "./trials.ts";
import { UNTRIED, type Subject, type TriedOut } from "./tried-out.ts";

export async function tryOut(
  subject: Subject,
  parts: { readonly room: CleanRoomPort; readonly kept?: KeptBases | undefined },
  signal: AbortSignal,
): Promise<TriedOut> {
  const { judges, waitForBase, mayOpen } = subject;
  const { room } = parts;
  const { candidate } = subject.request;
  if (candidate === null) return { ...UNTRIED, change: await runTrials(subject.request, room, signal) };
  const traced = tracedOf(candidate);
  const request = { ...subject.request, traced };
  const trials = waitForBase ? request.trials : ONCE;
  const base = new BaseRoom({ ...request, purpose: "base", candidate: null, trials }, parts);
  const without = (paths: readonly string[], stop: AbortSignal): Promise<RoomOutcome> =>
    room.check({ ...subject.request, candidate: withoutFiles(candidate, paths), trials: ONCE }, stop);

  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const [change, answer, withoutJudges] = await sideBySide(
    [
      async (stop) => {
        const startedAt = performance.now();
        const outcome = await runTrials(request, room, stop);
        const tookMs = performance.now() - startedAt;
        if (!waitForBase) timer = setTimeout(() => late.abort(), graceOf(outcome) + 2 * tookMs);
        return outcome;
      },
      (stop) => inTime(base.answer(AbortSignal.any([stop, late.signal])), late.signal, stop),
      async (stop) => (judges.length === 0 ? null : without(judges, stop)),
    ],
    signal,
  ).finally(() => clearTimeout(timer));

  const counting = traced.filter((path) => mayOpen.has(path));
  const confirmed = answer === null ? null : await base.confirmed(answer, change, counting, signal);
  const tried = { ...UNTRIED, change, base: confirmed, withoutJudges };
  if (!allPass(change.trials)) return tried;
  return triedFurther(tried, { ...subject, candidate, traced }, { room, base, without }, signal);
}

/** A list that no request may hold is left out: such a change has no file that is looked at (opened-files.ts). */
function tracedOf({ overlay, deletions }: Candidate): readonly string[] {
  const paths = [...overlay.map(({ path }) => path), ...deletions];
  return paths.length > limits.tracedFiles ? [] : paths;
}

/** Checks that ended without a runner's report are compared with those of the base, so that is waited for longer. */
function graceOf({ reports }: RoomOutcome): number {
  const isReported = reports === undefined || reports.some(hasReport);
  return isReported ? limits.verifyBaseGraceMs : limits.verifyUnreportedGraceMs;
}

/** Null when the room was stopped because it was late, and for no other reason. */
async function inTime<T>(outcome: Promise<T>, late: AbortSignal, stop: AbortSignal): Promise<T | null> {
  try {
    return await outcome;
  } catch (error) {
    if (late.aborted && !stop.aborted) return null;
    throw error;
  }
}

function withoutFiles(candidate: Candidate, paths: readonly string[]): Candidate {
  const left = new Set(paths);
  return {
    ...candidate,
    overlay: candidate.overlay.filter(({ path }) => !left.has(path)),
    deletions: candidate.deletions.filter((path) => !left.has(path)),
  };
}
