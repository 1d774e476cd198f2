/**
 * From exit codes to a verdict. Pure: the clean rooms run the checks, and `judge` decides what the outcomes mean. Three kinds of
 * rules are asked in turn:
 *
 *   faults.ts      What is wrong, whatever the checks prove. The first fault decides.
 *   proof.ts       What passing checks prove.
 *   shortfalls.ts  What is demanded beyond that. The first shortfall to which nobody consents decides.
 *
 * On the base must fail: checks that run an edited source; those of at least one task of a DEBUG run; and, with the tests that a
 * change brings, those on the sources of the base. Checks that pass without any file prove as little as none, and so do those that
 * use none of the sources that a change leaves.
 *
 * Promises:
 *   director/D5 Because only a failure without the change shows that the change is a fix, checks that run an edited
 *     source must fail on the base unless `allow_unproven` is granted; checks that pass and fail on the same tree are
 *     FLAKY, and a change is UNVERIFIABLE without consent if no check depends on the files, or none uses its sources.
 */
import { awareOfTests, failed, flakyBase, masked, stillProtected, tampered, unreported } from "./faults.ts";
import { pass, shortfall, type Judgement } from "./judgement.ts";
import { proofOf } from "./proof.ts";
import {
  shortOfCriteria,
  shortOfFiles,
  shortOfOwnTests,
  shortOfProof,
  shortOfReports,
  shortOfUse,
} from "./shortfalls.ts";
import type { Trial } from "./trial.ts";
import { allPass, deciding, firstFailure } from "./trials.ts";
import { ending } from "./wording.ts";

const FAULTS: readonly ((trial: Trial) => Judgement | null)[] = [
  failed, // A check fails, in some trials or in all.
  tampered, // The change's code wrote to the files that judge it.
  flakyBase, // Without the change, the checks fail in some trials.
  masked, // A file beside the tests hides that the sources break the checks.
  unreported, // A test runner did not report all that it ran.
  stillProtected, // The checks run an edited source, and pass without the change, too.
  awareOfTests, // A source can tell that it is tested.
];

const SHORTFALLS: readonly ((trial: Trial, passed: Judgement) => Judgement | null)[] = [
  shortOfProof, // The checks prove less than the run, the plan or the policy demands.
  shortOfFiles, // They pass without any file.
  shortOfOwnTests, // The tests that the change brings pass on the sources of the base.
  shortOfUse, // No check uses the sources of the change.
  shortOfReports, // Unreported, or aware of tests, with consent.
  shortOfCriteria, // No check decides an acceptance criterion.
];

export function judge(trial: Trial): Judgement {
  if (trial.delivered !== null) return delivered(trial, trial.delivered);
  const [checks = []] = trial.change;
  if (checks.length === 0) return withoutChecks(trial);
  for (const fault of FAULTS) {
    const found = fault(trial);
    if (found !== null) return found;
  }
  const { proves, says } = proofOf(trial);
  let judgement = pass(proves, null, says);
  for (const shortOf of SHORTFALLS) {
    judgement = shortOf(trial, judgement) ?? judgement;
    if (judgement.verdict !== "PASS") return judgement;
  }
  return advised(trial, judgement);
}

/** A plan or a review is good by its form. Red checks of the repository are facts about the repository. */
function delivered({ change }: Trial, says: string): Judgement {
  const bad = firstFailure(deciding(change));
  const red = bad === undefined ? "" : `; ${ending(bad)} on the tree, which decides nothing here`;
  return pass("nothing", null, `${says}${red}`);
}

/** director/D5: what no check verifies does not land without consent. */
function withoutChecks({ readOnly, allowUnverified }: Trial): Judgement {
  if (readOnly) return pass("nothing", null, "a read-only task with nothing to check");
  const message = "no check was named and none could be discovered in the repository";
  return shortfall({ proves: "nothing", code: "ANT_VERIFY_NO_CHECK", message }, { grant: allowUnverified });
}

/** A change lands although its checks do not depend on it: the verdict says how to demand more. */
function advised({ hollow }: Trial, judgement: Judgement): Judgement {
  const { code, proves, message } = judgement;
  if (code !== null || proves !== "nothing" || !allPass(hollow)) return judgement;
  const how = "--require-proof regression, or requireProof in the policy, demands a check that does";
  return { ...judgement, message: `${message}; ${how}` };
}
