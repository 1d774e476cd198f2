/** What the reports of the test runners say about a change that was tried out. */
import { pathMatcher } from "@antiphon/git";
import type { AppliedChange } from "../../ports.ts";
import type { TriedOut } from "../tried-out.ts";
import type { Trial } from "../trial.ts";
import { isPassed } from "../trials.ts";
import { gapsIn, readTestReport, type TestReport } from "./test-report.ts";

const NONE: TestReport = readTestReport("");

/**
 * What the reports of passing checks lack. Tests that the change adds would hide that others are gone, so the trial
 * without them is compared with the base, if it passed.
 */
export function unreportedBy(tried: TriedOut, checks: readonly string[], fewerAllowed: boolean): string[] {
  const { change, base, withoutJudges } = tried;
  if (!change.trials.every(isPassed) || change.reports === undefined) return [];
  const hasOwn = withoutJudges?.reports !== undefined && withoutJudges.trials.every(isPassed);
  const reports = (hasOwn ? withoutJudges.reports : change.reports) ?? [];
  const gaps = checks.flatMap((command, i) => {
    const now = reports[i];
    const report = base?.reports?.[i];
    const isPassed = base?.trials[0]?.[i]?.exitCode === 0;
    return now === undefined ? [] : gapsIn(command, report === undefined ? null : { report, isPassed }, now);
  });
  return gaps.filter(({ kind }) => kind !== "fewer" || !fewerAllowed).map(({ what }) => what);
}

/** A change that uses a grant may remove tests. */
export function mayRunFewer(applied: AppliedChange | null, grants: readonly string[]): boolean {
  if (applied === null || grants.length === 0) return false;
  const granted = pathMatcher(grants);
  const { overlay, deletions } = applied.candidate;
  return [...overlay.map(({ path }) => path), ...deletions].some((path) => granted.matches(path));
}

/**
 * The files that the change adds on the side that judges it or that the check opened without a source that names them, and
 * the trial without them. If only plain tests are added, a failure without them counts where other tests failed: a
 * repository may demand that a test exists.
 */
export function addedOf(
  applied: AppliedChange | null,
  { withoutJudges, opened }: TriedOut,
): Pick<Trial, "judges" | "withoutJudges"> {
  const { judges = [], tests = [] } = applied ?? {};
  const all = [...judges, ...tests, ...opened];
  if (withoutJudges === null) return { judges: all, withoutJudges: null };
  const failed = (withoutJudges.reports ?? [NONE]).some(({ runners }) =>
    [...runners.values()].some((report) => report.failed > 0),
  );
  return {
    judges: all,
    withoutJudges: judges.length + opened.length > 0 || failed ? withoutJudges.trials : null,
  };
}
