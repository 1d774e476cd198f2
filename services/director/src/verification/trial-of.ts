/** Makes the trial that `judge` decides about: from the run, the change and how the checks ended in the clean rooms. */
import { besides, tamperings } from "@antiphon/git";
import { allowsUnverified, intentOf, type EffectOf, type RunState } from "@antiphon/run";
import type { AppliedChange } from "../ports.ts";
import type { Demand } from "./demand.ts";
import { ownProof } from "./own-tests.ts";
import { addedOf, mayRunFewer, unreportedBy } from "./reports/reported.ts";
import { hasReport } from "./reports/test-report.ts";
import type { TriedOut } from "./tried-out.ts";
import { touchedBy } from "./touched.ts";
import type { Trial } from "./trial.ts";
import { firstFailure } from "./trials.ts";

export interface Subject {
  /** Null: a task that may leave the files as they are, and did. */
  readonly change: AppliedChange | null;
  readonly checks: readonly string[];
  readonly demand: Demand;
  /** What the task delivered. Null: its change. */
  readonly delivery: { readonly says: string } | null;
}

export function trialOf(
  run: RunState,
  { planned }: EffectOf<"verify">["task"],
  { change, checks, demand, delivery }: Subject,
  outcome: TriedOut,
): Trial {
  const { grants } = intentOf(run).options;
  const { sources, removes } = touchedBy(change);
  const { criteria = [] } = planned;
  return {
    change: outcome.change.trials,
    base: outcome.base?.trials ?? null,
    hollow: outcome.hollow?.trials ?? null,
    emptied: outcome.emptied?.trials ?? null,
    ...addedOf(change, outcome),
    own: ownProof(outcome.own),
    unreported: unreportedBy(outcome, checks, mayRunFewer(change, grants)),
    aware: awareIn(change, outcome),
    tampering: tamperingOf(change, grants, outcome),
    sources,
    removes,
    unproven: change?.unproven ?? [],
    demand,
    readOnly: change === null,
    delivered: delivery?.says ?? null,
    undecided: criteria.flatMap(({ criterion, check }) => (check === null ? [criterion] : [])),
    allowUnverified: allowsUnverified(run),
  };
}

/** A report of a test runner shows that an error was not caught on its way. */
function awareIn(change: AppliedChange | null, { change: { reports }, elsewhere }: TriedOut): string[] {
  const isReported = reports !== undefined && reports.length > 0 && reports.every(hasReport);
  const signs = (change?.aware ?? []).filter(({ ifUnreported }) => !ifUnreported || !isReported);
  const bad = firstFailure(elsewhere?.trials[0] ?? []);
  const moved =
    elsewhere === undefined || bad === undefined
      ? []
      : [`${bad.command} passes at /workspace and fails ${elsewhere.where}`];
  const said = signs.map(({ path, what, line }) => `${path}${line === undefined ? "" : `:${line}`} ${what}`);
  return [...said, ...moved];
}

/** What the change's code did to the files that judge it, and the base's code did not. */
function tamperingOf(change: AppliedChange | null, grants: readonly string[], outcome: TriedOut): string[] {
  const { written } = outcome.change;
  if (change === null || written === null) return [];
  const found = tamperings(change.guards, grants, written);
  const known = outcome.base?.written == null ? [] : tamperings(change.guards, grants, outcome.base.written);
  return besides(found, known).map(({ what }) => what);
}
