/**
 * The clean rooms of one verification, side by side: the changed tree; the base, which tells what the checks prove; and the
 * changed tree without its changes on the judging side. If the checks pass on the base, too, a last room shows
 * whether they depend on the files of the change at all (hollow.ts), and one whether its own tests fail without its sources. Where
 * nothing shows that they do, and the change would land or be tried again, they run without any file (emptied.ts).
 *
 * The base runs as often as the change only where a demand rests on its answer. A base that nothing demands runs once, and is
 * not waited for much longer than the change took. Mostly it ran already, while the attempt worked (base-trials.ts). When one
 * room breaks, the others are stopped and waited for: left alone, no cancel of the run would reach them, and the next try
 * would run beside them.
 */
import { limits } from "@antiphon/contracts";
import type { OwnTests } from "@antiphon/git";
import type { Candidate, CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";
import { hasReport } from "./reports/test-report.ts";
import { triedElsewhere, type Asks, type FailedElsewhere } from "./elsewhere.ts";
import { triedEmptied } from "./emptied.ts";
import { triedHollow } from "./hollow.ts";
import { answers, type KeptBase } from "./kept-base.ts";
import { newTests, type TriedOwn } from "./own-tests.ts";
import type { Touched } from "./touched.ts";
import { isPassed, ONCE, runTrials } from "./trials.ts";

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

const NONE_KEPT: KeptBases = { take: () => Promise.resolve(null) };

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

/** The kept outcome of the base. Absent: none is kept. */
export interface KeptBases {
  take(request: RoomRequest, signal: AbortSignal): Promise<KeptBase | null>;
}

export async function tryOut(
  subject: Subject,
  { room, kept = NONE_KEPT }: { readonly room: CleanRoomPort; readonly kept?: KeptBases | undefined },
  signal: AbortSignal,
): Promise<TriedOut> {
  const { judges } = subject;
  const { candidate } = subject.request;
  if (candidate === null) return { ...UNTRIED, change: await runTrials(subject.request, room, signal) };
  const request = { ...subject.request, traced: tracedOf(candidate) };
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const trials = subject.waitForBase ? request.trials : ONCE;
  const bare = { ...request, purpose: "base" as const, candidate: null, trials };
  const without = (paths: readonly string[]): RoomRequest => ({
    ...subject.request,
    candidate: withoutFiles(candidate, paths),
    trials: ONCE,
  });
  let isKept = false;
  const baseOf = async (stop: AbortSignal): Promise<RoomOutcome> => {
    const known = await kept.take(bare, stop);
    isKept = known !== null && answers(known, trials);
    return known !== null && isKept ? known.outcome : runTrials(bare, room, stop);
  };
  const [change, ran, withoutJudges] = await together(
    [
      async (stop) => {
        const startedAt = performance.now();
        const outcome = await runTrials(request, room, stop);
        const tookMs = performance.now() - startedAt;
        if (!subject.waitForBase) timer = setTimeout(() => late.abort(), graceOf(outcome) + 2 * tookMs);
        return outcome;
      },
      async (stop) => inTime(baseOf(AbortSignal.any([stop, late.signal])), late.signal, stop),
      async (stop) => (judges.length === 0 ? null : room.check(without(judges), stop)),
    ],
    signal,
  ).finally(() => clearTimeout(timer));
  const changePasses = change.trials.every(isPassed);
  // The name of an image may mean another one by now. The base need not tell which files the changed tree opened.
  const isOther = isKept && ran?.image !== change.image;
  const seen = openedIn(request.traced, change, ran);
  const isUntold = request.traced.some((path) => subject.mayOpen.has(path) && !seen.has(path));
  const isBlind = isKept && changePasses && ran?.written?.read === undefined && isUntold;
  const base = isOther || isBlind ? await runTrials(bare, room, signal) : ran;
  // A base on which the check fails proves more than the tests of the change can.
  const isOpen = changePasses && base?.trials.some((trial) => !isPassed(trial)) !== true;
  const before = base ?? withoutJudges ?? null;
  const own = isOpen && subject.own !== null ? newTests(subject.own, change, before) : [];
  const sources = subject.own?.sources ?? [];
  const [hollow, onBase, away] = await together(
    [
      async (stop) =>
        triedHollow(bare, candidate, subject.touched, { change, base: base ?? null }, room, stop),
      async (stop) => (own.length * sources.length === 0 ? null : room.check(without(sources), stop)),
      async (stop) =>
        changePasses ? triedElsewhere(subject, { change, base: base ?? null }, room, stop) : null,
    ],
    signal,
  );
  const slow = async (stop: AbortSignal): Promise<RoomOutcome> => {
    const ended = await baseOf(stop);
    return isKept && ended.image !== change.image ? runTrials(bare, room, stop) : ended;
  };
  // A base that was too slow is run to its end before a pass without the files is held against the change.
  const isHeld = base == null && hollow?.trials.every(isPassed) && onBase?.trials.every(isPassed) !== false;
  const all = {
    ...(away === null ? {} : { elsewhere: away }),
    ...{ change, base: isHeld ? await slow(signal) : (base ?? null), hollow, emptied: null },
    withoutJudges: withoutJudges ?? null,
    own: own.length === 0 ? null : { tests: own, onBase },
  };
  if (!changePasses) return { ...all, opened: [] };
  const opened = await subject.unnamed(openedIn(request.traced, change, base));
  const isWithout = opened.length > 0;
  const last = isWithout ? await room.check(without([...judges, ...opened]), signal) : all.withoutJudges;
  const tried = { ...all, opened, withoutJudges: last };
  if (!subject.needsEmptied(tried)) return tried;
  const depends = { change, base: all.base, hollow, ownOnBase: onBase };
  return { ...tried, ...(await triedEmptied(bare, depends, { room, base: slow }, signal)) };
}

/** A list that no request may hold is left out: such a change has no file that is looked at (opened-files.ts). */
function tracedOf({ overlay, deletions }: Candidate): readonly string[] {
  const paths = [...overlay.map(({ path }) => path), ...deletions];
  return paths.length > limits.tracedFiles ? [] : paths;
}

/** The base may fail before it opens all that the changed tree does. A kept outcome tells of every file of the tree. */
function openedIn(
  traced: readonly string[],
  change: RoomOutcome,
  base: RoomOutcome | null | undefined,
): ReadonlySet<string> {
  const opened = new Set([...(change.written?.read ?? []), ...(base?.written?.read ?? [])]);
  return new Set(traced.filter((path) => opened.has(path)));
}

/** Checks that ended without a runner's report are compared with those of the base, so that is waited for longer. */
function graceOf({ reports }: RoomOutcome): number {
  const isReported = reports === undefined || reports.some(hasReport);
  return isReported ? limits.verifyBaseGraceMs : limits.verifyUnreportedGraceMs;
}

/** Null when the room was stopped because it was late, and for no other reason. */
async function inTime(
  outcome: Promise<RoomOutcome>,
  late: AbortSignal,
  stop: AbortSignal,
): Promise<RoomOutcome | null> {
  try {
    return await outcome;
  } catch (error) {
    if (late.aborted && !stop.aborted) return null;
    throw error;
  }
}

/** Runs all rooms. If one breaks, stops the others, waits for them and throws the first error. */
async function together<Outcomes extends readonly unknown[]>(
  rooms: readonly [...{ [At in keyof Outcomes]: (stop: AbortSignal) => Promise<Outcomes[At]> }],
  signal: AbortSignal,
): Promise<Outcomes> {
  const broken = new AbortController();
  const stop = AbortSignal.any([signal, broken.signal]);
  const all = rooms.map((room) => room(stop));
  try {
    return (await Promise.all(all)) as unknown as Outcomes;
  } catch (error) {
    broken.abort();
    await Promise.allSettled(all);
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
