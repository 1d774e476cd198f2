/**
 * What a change without a fault may still fall short of, by what its checks prove. Each takes the judgement so far, a PASS,
 * and is null where nothing is lacking. One with a code already passes by consent, and most ask for no second one. Pure.
 */
import { passesEmptied } from "./emptied.ts";
import { shortfall, type Judgement } from "./judgement.ts";
import { isWeaker, stronger } from "./strength.ts";
import type { Trial } from "./trial.ts";
import { allPass } from "./trials.ts";
import { unusedSources } from "./unused.ts";
import { listed } from "./wording.ts";

/** director/D5: a change lands by itself only if its checks prove what is demanded. */
export function shortOfProof(trial: Trial, { proves, message: says }: Judgement): Judgement | null {
  const { workflow, caller, policy, allowUnproven, byPeople } = trial.demand;
  const demanded = stronger(stronger(workflow, caller), policy);
  if (!isWeaker(proves, demanded)) return null;
  // A test that another attempt adds can prove a regression, and no more where the checks pass on the base.
  const isOpen = demanded === "regression" && unusedSources(trial).length > 0;
  const code = isOpen ? "ANT_VERIFY_UNTESTED" : "ANT_VERIFY_PROVES_NOTHING";
  return shortfall(
    { proves, code, message: `${says}; ${demanded} is demanded` },
    {
      people: byPeople && (allowUnproven || !isWeaker(proves, workflow)),
      grant: allowUnproven && !isWeaker(proves, policy),
    },
  );
}

/** director/D5: checks that pass without any file demand nothing of a change, as if there were none. */
export function shortOfFiles(trial: Trial, { proves, code, message }: Judgement): Judgement | null {
  const { emptied, demand, allowUnverified } = trial;
  if (code !== null || !passesEmptied(emptied)) return null;
  return shortfall(
    {
      proves,
      code: "ANT_VERIFY_PROVES_NOTHING",
      message: `${message}; a check that reads the files is demanded`,
    },
    { people: demand.byPeople, grant: demand.allowUnproven || allowUnverified },
  );
}

/** director/D5: a test that also passes on the sources of the base says nothing about those of the change. */
export function shortOfOwnTests({ own, demand }: Trial, { proves, message }: Judgement): Judgement | null {
  if (!demand.ownTests || own === null || !allPass(own.onBase)) return null;
  const why = `with the change's own ${listed(own.tests)} it passes on the sources of the base, too, so these tests prove nothing about the change`;
  return shortfall(
    // Not final: another attempt may write a test that shows the change.
    { proves, code: "ANT_VERIFY_OWN_TESTS", message: `${message}; ${why}` },
    { people: demand.byPeople, grant: demand.allowUnproven },
  );
}

/** director/D5: sources that no check uses are not verified by any, so they land no more than without a check. */
export function shortOfUse(trial: Trial, { proves, code, message }: Judgement): Judgement | null {
  const { demand, allowUnverified } = trial;
  if (code !== null || unusedSources(trial).length === 0) return null;
  return shortfall(
    { proves, code: "ANT_VERIFY_UNTESTED", message }, // Not final: another attempt may add a test.
    { people: demand.byPeople, grant: demand.allowUnproven || allowUnverified },
  );
}

/** People or the caller passed over these faults (faults.ts), and the code says so. */
export function shortOfReports({ unreported, aware }: Trial, judgement: Judgement): Judgement | null {
  if (judgement.code !== null) return null;
  if (unreported.length > 0) return { ...judgement, code: "ANT_VERIFY_UNREPORTED" };
  return aware.length > 0 ? { ...judgement, code: "ANT_VERIFY_TEST_AWARE" } : null;
}

/** A change with a criterion that no check decides does not land by itself. An earlier consent keeps its code. */
export function shortOfCriteria(trial: Trial, { proves, code, message }: Judgement): Judgement | null {
  const { undecided, demand, allowUnverified } = trial;
  if (undecided.length === 0) return null;
  const judgement = shortfall(
    {
      proves,
      code: "ANT_VERIFY_CRITERION",
      message: `${message}; no check decides ${listed(undecided.map(quoted))}`,
    },
    { people: demand.byPeople, grant: allowUnverified },
  );
  return judgement.verdict === "PASS" ? { ...judgement, code: code ?? judgement.code } : judgement;
}

function quoted(criterion: string): string {
  return JSON.stringify(criterion.length > 160 ? `${criterion.slice(0, 157)}...` : criterion);
}
