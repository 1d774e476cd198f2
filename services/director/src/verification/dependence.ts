/**
 * Further rooms for passing checks, which show whether they depend on the change: without its files (hollow.ts), with its own tests
 * on the sources of the base, and in other surroundings (elsewhere.ts); then without the opened files that no source names. Where
 * nothing shows that they depend on it, and the change would land or be tried again, they run without any file (emptied.ts).
 */
import type { Candidate, CleanRoomPort, RoomOutcome } from "../ports.ts";
import type { BaseRoom } from "./base-room.ts";
import { triedElsewhere } from "./elsewhere.ts";
import { triedEmptied } from "./emptied.ts";
import { triedHollow } from "./hollow.ts";
import { newTests } from "./own-tests.ts";
import { sideBySide } from "./side-by-side.ts";
import { allPass, anyFails } from "./trials.ts";
import type { Subject, TriedOut } from "./tried-out.ts";

interface Rooms {
  readonly room: CleanRoomPort;
  readonly base: BaseRoom;
  /** Runs the checks once on the changed tree without these files. */
  readonly without: (paths: readonly string[], stop: AbortSignal) => Promise<RoomOutcome>;
}

/** Adds the outcomes of further rooms to `passed`, whose change passes. A null base was too slow. */
export async function triedFurther(
  passed: TriedOut,
  subject: Subject & { readonly candidate: Candidate; readonly traced: readonly string[] },
  { room, base, without }: Rooms,
  signal: AbortSignal,
): Promise<TriedOut> {
  const { change } = passed;
  const own = newTestsOf(subject, passed);
  const sources = subject.own?.sources ?? [];
  const [hollow, onBase, away] = await sideBySide(
    [
      (stop) => triedHollow(base.request, subject.candidate, subject.touched, passed, room, stop),
      async (stop) => (own.length === 0 || sources.length === 0 ? null : without(sources, stop)),
      (stop) => triedElsewhere(subject, passed, room, stop),
    ],
    signal,
  );
  // A base that was too slow is run to its end before a pass without the files is held against the change.
  const isHeld = passed.base === null && passes(hollow) && (onBase === null || passes(onBase));
  const known = isHeld ? await base.toItsEnd(change, signal) : passed.base;
  const opened = await subject.unnamed(openedIn(subject.traced, passed));
  const tried: TriedOut = {
    ...passed,
    ...(away === null ? {} : { elsewhere: away }),
    ...{ base: known, hollow, opened },
    withoutJudges:
      opened.length > 0 ? await without([...subject.judges, ...opened], signal) : passed.withoutJudges,
    own: own.length === 0 ? null : { tests: own, onBase },
  };
  if (!subject.needsEmptied(tried)) return tried;
  const depends = { change, base: known, hollow, ownOnBase: onBase };
  const slow = (stop: AbortSignal): Promise<RoomOutcome> => base.toItsEnd(change, stop);
  return { ...tried, ...(await triedEmptied(base.request, depends, { room, base: slow }, signal)) };
}

/** A base on which the checks fail proves more than the tests of the change can. */
function newTestsOf({ own }: Subject, { change, base, withoutJudges }: TriedOut): readonly string[] {
  if (own === null || anyFails(base?.trials ?? null)) return [];
  return newTests(own, change, base ?? withoutJudges);
}

/** The base may fail before it opens all that the changed tree does. A kept outcome tells of every file of the tree. */
function openedIn(traced: readonly string[], { change, base }: TriedOut): ReadonlySet<string> {
  const opened = new Set([...(change.written?.read ?? []), ...(base?.written?.read ?? [])]);
  return new Set(traced.filter((path) => opened.has(path)));
}

function passes(outcome: RoomOutcome | null): boolean {
  return allPass(outcome?.trials ?? null);
}
