/**
 * What passing checks prove about a change. Pure.
 *
 *   fail-to-pass  They fail on the base, so the change is what makes them pass.
 *   regression    They depend on the change, or may do so, and show that it breaks nothing.
 *   nothing       They do not depend on it, or cannot be trusted to tell.
 */
import type { Proves } from "@antiphon/contracts";
import { passesEmptied } from "./emptied.ts";
import type { Trial } from "./trial.ts";
import { allPass, anyFails } from "./trials.ts";
import { unusedSources } from "./unused.ts";
import { listed, passing } from "./wording.ts";

interface Proof {
  readonly proves: Proves;
  /** A clause that follows "passes in the clean room". */
  readonly why: string;
}

/** With the sentence that says so. */
export function proofOf(trial: Trial): { proves: Proves; says: string } {
  const { proves, why } =
    untold(trial) ??
    onlyWithJudges(trial) ??
    failsOnBase(trial) ??
    ownTestsFail(trial) ??
    testsAlone(trial) ??
    independent(trial) ??
    passesOnBase(trial);
  const unused = unusedSources(trial);
  const gap =
    unused.length === 0 ? "" : `; nothing that it runs uses ${listed(unused)}: add a test that does`;
  return { proves, says: `${passing(trial.change)}${why}${gap}` };
}

function untold({ unreported, aware }: Trial): Proof | null {
  const gaps = [...unreported, ...aware];
  return gaps.length === 0 ? null : { proves: "nothing", why: `; ${listed(gaps)}` };
}

function onlyWithJudges({ judges, withoutJudges }: Trial): Proof | null {
  if (!anyFails(withoutJudges)) return null;
  const why = `, but only with the change's own ${listed(judges)}, which is not among the sources`;
  return { proves: "nothing", why };
}

function failsOnBase({ base, unproven }: Trial): Proof | null {
  if (!anyFails(base)) return null;
  const opened = unproven.map(
    ({ path, why }) => `; ${path} may change: ${why}, and that fails without the change`,
  );
  return { proves: "fail-to-pass", why: `, and fails without the change${opened.join("")}` };
}

function ownTestsFail({ own }: Trial): Proof | null {
  if (own === null || !anyFails(own.onBase)) return null;
  const why = `, and with the change's own ${listed(own.tests)} it fails on the sources of the base`;
  return { proves: "regression", why };
}

function testsAlone({ own, hollow }: Trial): Proof | null {
  if (own === null || own.onBase !== null) return null;
  const why = `; the change brings tests alone (${listed(own.tests)}), which describe what is there and prove no change`;
  return { proves: allPass(hollow) ? "nothing" : "regression", why };
}

function independent({ emptied, hollow }: Trial): Proof | null {
  const isEmptied = passesEmptied(emptied);
  if (!isEmptied && !allPass(hollow)) return null;
  const without = isEmptied ? "any file" : "the files of the change";
  const why = `; it also passes without ${without}: it does not depend on the change, so it proves nothing about it`;
  return { proves: "nothing", why };
}

function passesOnBase({ base, removes }: Trial): Proof {
  if (base === null) return { proves: "regression", why: "" };
  const why = removes
    ? "; it also passes without the change, which only removes what nothing that it runs uses"
    : "; it also passes without the change, so it proves no fix";
  return { proves: "regression", why };
}
