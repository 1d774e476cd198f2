/** The tests that a change brings, as its checks are tried with them on the sources of the base. Pure. */
import { ownTests, type OwnTests } from "@antiphon/git";
import type { AppliedChange, RoomOutcome } from "../ports.ts";
import type { TestReport } from "./reports/test-report.ts";
import { textsOf } from "./touched.ts";
import type { OwnProof } from "./trial.ts";

export interface TriedOwn {
  readonly tests: readonly string[];
  /** Null: without its sources, the change is its tests. */
  readonly onBase: RoomOutcome | null;
}

export function ownTestsOf(change: AppliedChange): OwnTests | null {
  const own = ownTests(change.files, textsOf(change));
  return own.added.length + own.edited.length === 0 ? null : own;
}

/**
 * Which of them the checks run. If the reports count as many tests as before, none is new: a test was moved, is skipped, or is
 * not found. Without a report an added test counts if a check opened it, or if opened files are unknown; an edited test does
 * not count.
 *
 * @param before the outcome without the new tests
 */
export function newTests(own: OwnTests, change: RoomOutcome, before: RoomOutcome | null): readonly string[] {
  const counts = before === null ? null : countsOf(change, before);
  if (counts !== null) return counts.now > counts.then ? [...own.added, ...own.edited] : [];
  const read = change.written?.read;
  return read === undefined ? own.added : own.added.filter((path) => read.includes(path));
}

export function ownProof(tried: TriedOwn | null): OwnProof | null {
  if (tried === null) return null;
  const { tests, onBase } = tried;
  return { tests, onBase: onBase?.trials ?? null };
}

/**
 * How many tests ran, with the change and before it. A check without a runner (a linter, a build) is left out. Null: a
 * runner does not count its tests in one of both, or there is none.
 */
function countsOf(change: RoomOutcome, before: RoomOutcome): { now: number; then: number } | null {
  const [late, early] = [change.reports ?? [], before.reports ?? []];
  const pairs = Array.from({ length: Math.max(late.length, early.length) }, (_, i) => [late[i], early[i]]);
  const counted = pairs.filter((pair) => pair.some((report) => (report?.runners.size ?? 0) > 0));
  let [now, then] = [0, 0];
  for (const [one, other] of counted) {
    const [ran, known] = [one && ranBy(one), other && ranBy(other)];
    if (ran == null || known == null) return null;
    [now, then] = [now + ran, then + known];
  }
  return counted.length === 0 ? null : { now, then };
}

/** Whether a check ran fewer tests than another time, by its runners' reports. One without a runner then ran none. */
export function ranFewer(fewer: RoomOutcome, more: RoomOutcome): boolean {
  const counted = (report?: TestReport): number => (report && ranBy(report)) ?? 0;
  return (more.reports ?? []).some((report, i) => counted(fewer.reports?.[i]) < counted(report));
}

/** Without `-v`, Go reports its packages, not its tests. */
function ranBy({ runners, names }: TestReport): number | null {
  if (runners.size === 0) return null;
  const named = [...names.values()].reduce((sum, { passed }) => sum + passed, 0);
  if (runners.has("go")) return named === 0 ? null : named;
  return [...runners.values()].reduce((sum, { ran }) => sum + ran, 0);
}
