/** The faults that decide about a change, whatever its checks prove. Each is null where a trial does not show it. Pure. */
import { missedNetwork } from "@antiphon/contracts";
import { fail, flaky, unverifiable, type Judgement } from "./judgement.ts";
import type { Trial } from "./trial.ts";
import { allPass, deciding, firstFailure, isPassed, type Trials } from "./trials.ts";
import { ending, listed } from "./wording.ts";

export function failed({ change }: Trial): Judgement | null {
  const bad = firstFailure(deciding(change));
  if (bad === undefined) return null;
  const passed = change.filter(isPassed).length;
  if (passed > 0)
    return flaky(`${ending(bad)}, and passed in ${passed} of ${change.length} trials on the same tree`);
  const network = missedNetwork(bad.tail);
  const why = network === null ? "" : `; ${network}`;
  return fail("ANT_VERIFY_CHECK_FAILED", `${ending(bad)} in the clean room${why}`);
}

export function tampered({ tampering }: Trial): Judgement | null {
  return tampering.length === 0 ? null : fail("ANT_VERIFY_TAMPERED", listed(tampering));
}

/** Checks that pass now and then without the change show nothing when they pass with it. */
export function flakyBase({ base, unproven, demand }: Trial): Judgement | null {
  if (base === null || allPass(base) || !base.some(isPassed)) return null;
  if (unproven.length === 0 && demand.allowUnproven) return null;
  const passed = `passed in ${base.filter(isPassed).length} of ${base.length} trials`;
  return flaky(
    `without the change, ${failingIn(base)} ${passed}: it is flaky, or the change is what repairs it`,
  );
}

/** The sources of the change break the checks, and a file that it adds beside the tests hides that. */
export function masked({ base, judges, withoutJudges }: Trial): Judgement | null {
  if (withoutJudges === null || allPass(withoutJudges) || !allPass(base)) return null;
  const own = `the change's own ${listed(judges)}, which is not among the sources`;
  return fail(
    "ANT_VERIFY_MASKED",
    `${failingIn(withoutJudges)} fails without ${own}, and passes on the base`,
  );
}

/** A run of tests that nobody saw end shows nothing. People may know why, and so may the caller who allows it. */
export function unreported({ unreported: gaps, demand, allowUnverified }: Trial): Judgement | null {
  if (gaps.length === 0 || demand.byPeople || allowUnverified) return null;
  return fail("ANT_VERIFY_UNREPORTED", listed(gaps));
}

/** director/D5: an edited source that the checks run stays protected where they pass on the base, too. */
export function stillProtected({ base, unproven: [first] }: Trial): Judgement | null {
  if (first === undefined || !allPass(base)) return null;
  const message = `${first.path}: protected: ${first.why}, and that passes without the change too`;
  return fail("ANT_PATCH_PROTECTED", message);
}

/** No test shows how a source behaves elsewhere if it can tell that it is tested. People may see that it is meant. */
export function awareOfTests({ aware: signs, demand, allowUnverified }: Trial): Judgement | null {
  if (signs.length === 0 || demand.byPeople || allowUnverified) return null;
  const message = `${listed(signs)}: passing checks say nothing about a source that knows them`;
  return unverifiable("nothing", "ANT_VERIFY_TEST_AWARE", message);
}

function failingIn(trials: Trials): string {
  return firstFailure(deciding(trials))?.command ?? "the check";
}
