/** The tests that a change brings, as its checks are tried with them on the sources of the base. Pure. */
import { ownTests, type OwnTests } from "@antiphon/git";
import type { AppliedChange, RoomOutcome } from "../ports.ts";
import type { OwnProof } from "./judge.ts";
import type { TestReport } from "./reports/test-report.ts";

export interface TriedOwn {
  readonly tests: readonly string[];
  /** Null: without its sources, the change is its tests. */
  readonly onBase: RoomOutcome | null;
}

export function ownTestsOf({ files, candidate }: AppliedChange): OwnTests | null {
  const texts = new Map(candidate.overlay.map(({ path, content }) => [path, content]));
  const own = ownTests(files, (path) => texts.get(path)?.toString("latin1") ?? "");
  return own.added.length + own.edited.length === 0 ? null : own;
}

/**
 * Which of them the checks run. As many tests as before means that none is new: a test was moved, is skipped, or is not
 * found. Where no report counts them, an added test counts, and an edited one does not.
 *
 * @param before the outcome without the new tests
 */
export function newTests(own: OwnTests, change: RoomOutcome, before: RoomOutcome | null): readonly string[] {
  const [now, then] = [ranIn(change), before === null ? null : ranIn(before)];
  if (now === null || then === null) return own.added;
  return now > then ? [...own.added, ...own.edited] : [];
}

export function ownProof(tried: TriedOwn | null): OwnProof | null {
  if (tried === null) return null;
  const { tests, onBase } = tried;
  return { tests, onBase: onBase?.trials ?? null, hasSources: onBase !== null };
}

/** Null: a check has no report that counts its tests. */
function ranIn({ reports = [] }: RoomOutcome): number | null {
  let sum = 0;
  for (const report of reports) {
    const ran = ranBy(report);
    if (ran === null) return null;
    sum += ran;
  }
  return reports.length === 0 ? null : sum;
}

/** Without `-v`, Go reports its packages, not its tests. */
function ranBy({ runners, names }: TestReport): number | null {
  if (runners.size === 0) return null;
  const named = [...names.values()].reduce((sum, { passed }) => sum + passed, 0);
  if (runners.has("go")) return named === 0 ? null : named;
  return [...runners.values()].reduce((sum, { ran }) => sum + ran, 0);
}
