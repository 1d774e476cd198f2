/**
 * From exit codes to a verdict. Pure: the clean room runs the commands, and `judge` decides what they mean.
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
import { missedNetwork, type CheckOutcome, type Proves, type VerdictBody } from "@antiphon/contracts";
import { passesEmptied } from "./emptied.ts";
import { firstFailure, isPassed } from "./trials.ts";

type Trials = readonly (readonly CheckOutcome[])[];

export interface Trial {
  /** The checks on the tree that is to become the head, once for each trial. */
  change: Trials;
  /** The checks on the tree without the change; null if they were not tried there, or did not end in time. */
  base: Trials | null;
  /** The checks on the base without the files that the change touches; null if they were not tried there. */
  hollow: Trials | null;
  /** The checks without any file; null if they were not tried so, because they depend on files. */
  emptied: Trials | null;
  /** Files that the change adds on the side that judges, and data that it changes there. */
  judges: readonly string[];
  /**
   * The checks on the changed tree without `judges`; null if there are none, or if only plain tests are missing and that
   * alone may be why the checks fail.
   */
  withoutJudges: Trials | null;
  /** The tests that the change brings and its check runs; null if it brings none. */
  own: OwnProof | null;
  /** What the reports of the test runners lack, in clauses. */
  unreported: readonly string[];
  /** Sources of the change that know they are being tested, in clauses. */
  aware: readonly string[];
  /** What the change's code did to the files that judge it, in clauses. */
  tampering: readonly string[];
  /** Program text that the change leaves in the tree (git/src/protection/sources.ts). */
  sources: readonly string[];
  /** The change only removes files, sources among them, so the base without its files is the changed tree. */
  removes: boolean;
  /** Sources that the change edits and the check runs. If there are any, `base` is not null. */
  unproven: readonly { path: string; why: string }[];
  /** What the checks have to prove. */
  demand: Demand;
  /** The task may only read, or had nothing to change, so it needs no check. */
  readOnly: boolean;
  /** What the task delivered, in a clause; its checks then decide nothing. Null: it delivers its change. */
  delivered: string | null;
  /** Acceptance criteria that no check decides. */
  undecided: readonly string[];
  allowUnverified: boolean;
}

export interface OwnProof {
  readonly tests: readonly string[];
  /** The checks with these tests on the sources of the base. Null: the change has no sources, or the base decides. */
  readonly onBase: Trials | null;
  readonly hasSources: boolean;
}

/** What passing checks have to prove, so that a change lands by itself. */
export interface Demand {
  /** By the workflow. Only `allow_unproven` lifts it. */
  workflow: Proves;
  /** By the caller and the plan. `allow_unproven` and people lift it. */
  caller: Proves;
  /** By the deployment's policy. Only people lift it. */
  policy: Proves;
  /** The tests that the change brings have to fail on the sources of the base. `allow_unproven` and people lift it. */
  ownTests: boolean;
  /** The checks have to use the sources of the change. `allow_unproven`, `allow_unverified` and people lift it. */
  sources: boolean;
  allowUnproven: boolean;
  /** People approve the change before it lands, and they see what is proven. */
  byPeople: boolean;
}

export type Judgement = Pick<VerdictBody, "verdict" | "code" | "message"> & { proves: Proves };

const STRENGTH: readonly Proves[] = ["nothing", "regression", "fail-to-pass"];

export function judge(trial: Trial): Judgement {
  const checks = trial.change[0] ?? [];
  if (trial.delivered !== null) return delivered(trial.delivered, trial.change);
  if (checks.length === 0) return withoutChecks(trial);
  const failure =
    failed(trial) ??
    tampered(trial) ??
    flakyBase(trial) ??
    masked(trial) ??
    unreported(trial) ??
    unopened(trial) ??
    aware(trial);
  if (failure !== null) return failure;
  const { proves, why } = proofOf(trial);
  const says = `${names(checks)} passes ${where(trial.change)}${why}${unusedIn(trial)}`;
  const asked = ofNothing(trial, demanded(trial, proves, says));
  const judgement = ofSources(trial, ofOwnTests(trial, asked));
  const doubt = trial.unreported.length > 0 ? "ANT_VERIFY_UNREPORTED" : null;
  const code = judgement.code ?? doubt ?? (trial.aware.length > 0 ? "ANT_VERIFY_TEST_AWARE" : null);
  return remarked(trial, decided(trial, { ...judgement, code }));
}

/** A change that lands although its checks do not depend on it: whoever reads the verdict learns how to demand more. */
function remarked({ hollow }: Trial, judgement: Judgement): Judgement {
  const { verdict, code, proves, message } = judgement;
  if (verdict !== "PASS" || code !== null || proves !== "nothing" || hollow?.every(isPassed) !== true)
    return judgement;
  const how = "--require-proof regression, or requireProof in the policy, demands a check that does";
  return { ...judgement, message: `${message}; ${how}` };
}

/** A plan or a review is good by its form. Red checks of the repository are facts about the repository. */
function delivered(says: string, change: Trials): Judgement {
  const bad = firstFailure(deciding(change));
  const red = bad === undefined ? "" : `; ${bad.command} ${how(bad)} on the tree, which decides nothing here`;
  return pass("nothing", null, `${says}${red}`);
}

/** A change with a criterion that no check decides does not land by itself. */
function decided({ undecided, demand, allowUnverified }: Trial, judgement: Judgement): Judgement {
  if (undecided.length === 0 || judgement.verdict !== "PASS") return judgement;
  const quoted = undecided.map((one) => JSON.stringify(one.length > 160 ? `${one.slice(0, 157)}...` : one));
  const message = `${judgement.message}; no check decides ${listed(quoted)}`;
  const { proves } = judgement;
  const code = judgement.code ?? "ANT_VERIFY_CRITERION";
  if (demand.byPeople) return pass(proves, code, `${message}, so people decide`);
  if (allowUnverified) return pass(proves, code, `${message}; landed by grant`);
  return { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_CRITERION", message, proves };
}

/** The checks of the trial that decides: one that failed, if any did. */
export function deciding(trials: Trials): readonly CheckOutcome[] {
  return trials.find((checks) => !isPassed(checks)) ?? trials[0] ?? [];
}

/** The stronger of two proofs. */
export function stronger(one: Proves, other: Proves): Proves {
  return isWeaker(one, other) ? other : one;
}

export function isWeaker(one: Proves, other: Proves): boolean {
  return STRENGTH.indexOf(one) < STRENGTH.indexOf(other);
}

/** What passing checks prove about the change, with the clause that says so. */
function proofOf(trial: Trial): { proves: Proves; why: string } {
  const { base, hollow, emptied, withoutJudges, judges, unproven, aware: signs, unreported } = trial;
  const gaps = [...unreported, ...signs];
  if (gaps.length > 0) return { proves: "nothing", why: `; ${listed(gaps)}` };
  if (withoutJudges !== null && !withoutJudges.every(isPassed)) {
    const why = `, but only with the change's own ${listed(judges)}, which is not among the sources`;
    return { proves: "nothing", why };
  }
  if (base !== null && !base.every(isPassed)) {
    const opened = unproven.map(
      ({ path, why }) => `; ${path} may change: ${why}, and that fails without the change`,
    );
    return { proves: "fail-to-pass", why: `, and fails without the change${opened.join("")}` };
  }
  const { own } = trial;
  if (own?.onBase?.every(isPassed) === false) {
    const why = `, and with the change's own ${listed(own.tests)} it fails on the sources of the base`;
    return { proves: "regression", why };
  }
  if (own?.hasSources === false) {
    const why = `; the change brings tests alone (${listed(own.tests)}), which describe what is there and prove no change`;
    return { proves: hollow?.every(isPassed) === true ? "nothing" : "regression", why };
  }
  const without = passesEmptied(emptied)
    ? "any file"
    : hollow?.every(isPassed)
      ? "the files of the change"
      : null;
  if (without !== null) {
    const why = `; it also passes without ${without}: it does not depend on the change, so it proves nothing about it`;
    return { proves: "nothing", why };
  }
  if (base === null) return { proves: "regression", why: "" };
  if (trial.removes) {
    const why = "; it also passes without the change, which only removes what nothing that it runs uses";
    return { proves: "regression", why };
  }
  return { proves: "regression", why: "; it also passes without the change, so it proves no fix" };
}

/** director/D5: a change lands by itself only if its checks prove what is demanded. */
function demanded(trial: Trial, proves: Proves, says: string): Judgement {
  const { workflow, caller, policy, allowUnproven, byPeople } = trial.demand;
  const [byRun, byAll] = [stronger(workflow, caller), stronger(stronger(workflow, caller), policy)];
  if (!isWeaker(proves, byAll)) return pass(proves, null, says);
  // A test that another attempt adds can prove a regression, and no more where the check passes on the base.
  const isOpen = byAll === "regression" && unused(trial).length > 0;
  const code = isOpen ? "ANT_VERIFY_UNTESTED" : "ANT_VERIFY_PROVES_NOTHING";
  const granted = allowUnproven || !isWeaker(proves, workflow);
  if (byPeople && granted) return pass(proves, code, `${says}; ${byAll} is demanded, so people decide`);
  if (allowUnproven && !isWeaker(proves, policy))
    return pass(proves, code, `${says}; ${byRun} is demanded, landed by grant`);
  return { verdict: "UNVERIFIABLE", code, message: `${says}; ${byAll} is demanded`, proves };
}

/** director/D5: a check that passes without any file demands nothing of a change, as if there were none. */
function ofNothing({ emptied, demand, allowUnverified }: Trial, judgement: Judgement): Judgement {
  const { proves, verdict, code: known } = judgement;
  if (verdict !== "PASS" || known !== null || !passesEmptied(emptied)) return judgement;
  const code = "ANT_VERIFY_PROVES_NOTHING";
  const message = `${judgement.message}; a check that reads the files is demanded`;
  if (demand.byPeople) return pass(proves, code, `${message}, so people decide`);
  if (demand.allowUnproven || allowUnverified) return pass(proves, code, `${message}, landed by grant`);
  return { verdict: "UNVERIFIABLE", code, message, proves };
}

/** director/D5: a test that also passes on the sources of the base says nothing about those of the change. */
function ofOwnTests({ own, demand }: Trial, judgement: Judgement): Judgement {
  const { ownTests, allowUnproven, byPeople } = demand;
  if (!ownTests || own?.onBase?.every(isPassed) !== true || judgement.verdict !== "PASS") return judgement;
  const { proves } = judgement;
  const code = "ANT_VERIFY_OWN_TESTS"; // Not final: another attempt may write a test that shows the change.
  const message = `${judgement.message}; with the change's own ${listed(own.tests)} it passes on the sources of the base, too, so these tests prove nothing about the change`;
  if (byPeople) return pass(proves, code, `${message}, and people decide`);
  if (allowUnproven) return pass(proves, code, `${message}; landed by grant`);
  return { verdict: "UNVERIFIABLE", code, message, proves };
}

/** director/D5: what no check uses is not verified by any, so it lands no more than without a check. */
function ofSources(trial: Trial, judgement: Judgement): Judgement {
  const { proves, verdict, code: known } = judgement;
  const { byPeople, allowUnproven } = trial.demand;
  if (verdict !== "PASS" || known !== null || unused(trial).length === 0) return judgement;
  const code = "ANT_VERIFY_UNTESTED"; // Not final: another attempt may add a test.
  if (byPeople) return pass(proves, code, `${judgement.message}; people decide`);
  if (allowUnproven || trial.allowUnverified)
    return pass(proves, code, `${judgement.message}; landed by grant`);
  return { ...judgement, verdict: "UNVERIFIABLE", code };
}

/** The sources of the change, if its checks pass without its files and no test of its own needs them. */
function unused({
  demand,
  sources,
  hollow,
  emptied,
  own,
  unreported,
  aware: signs,
}: Trial): readonly string[] {
  const isKnown = unreported.length + signs.length === 0 && !passesEmptied(emptied);
  const isFree = hollow?.every(isPassed) === true && own?.onBase?.every(isPassed) !== false;
  return demand.sources && isKnown && isFree ? sources : [];
}

function unusedIn(trial: Trial): string {
  const sources = unused(trial);
  return sources.length === 0 ? "" : `; nothing that it runs uses ${listed(sources)}: add a test that does`;
}

function failed({ change }: Trial): Judgement | null {
  const bad = firstFailure(deciding(change));
  if (bad === undefined) return null;
  const passed = change.filter(isPassed).length;
  if (passed > 0) {
    const message = `${bad.command} ${how(bad)}, and passed in ${passed} of ${change.length} trials on the same tree`;
    return { verdict: "FLAKY", code: "ANT_VERIFY_FLAKY", message, proves: "nothing" }; // director/D5
  }
  const network = missedNetwork(bad.tail);
  const why = network === null ? "" : `; ${network}`;
  return fail("ANT_VERIFY_CHECK_FAILED", `${bad.command} ${how(bad)} in the clean room${why}`);
}

function tampered({ tampering }: Trial): Judgement | null {
  return tampering.length === 0 ? null : fail("ANT_VERIFY_TAMPERED", listed(tampering));
}

/** A check that passes now and then without the change shows nothing when it passes with it. */
function flakyBase({ base, unproven, demand }: Trial): Judgement | null {
  if (base === null || base.every(isPassed) || !base.some(isPassed)) return null;
  if (unproven.length === 0 && demand.allowUnproven) return null;
  const bad = firstFailure(deciding(base));
  const passed = `passed in ${base.filter(isPassed).length} of ${base.length} trials`;
  const message = `without the change, ${bad?.command ?? "the check"} ${passed}: it is flaky, or the change is what repairs it`;
  return { verdict: "FLAKY", code: "ANT_VERIFY_FLAKY", message, proves: "nothing" }; // director/D5
}

/** The sources of the change break the check, and a file that it adds beside the tests hides that. */
function masked({ base, judges, withoutJudges }: Trial): Judgement | null {
  if (withoutJudges === null || withoutJudges.every(isPassed) || base?.every(isPassed) !== true) return null;
  const bad = firstFailure(deciding(withoutJudges));
  const message = `${bad?.command ?? "the check"} fails without the change's own ${listed(judges)}, which is not among the sources, and passes on the base`;
  return fail("ANT_VERIFY_MASKED", message);
}

/** A run of tests that nobody saw end shows nothing. People may know why, and so may the caller who allows it. */
function unreported({ unreported: gaps, demand, allowUnverified }: Trial): Judgement | null {
  if (gaps.length === 0 || demand.byPeople || allowUnverified) return null;
  return fail("ANT_VERIFY_UNREPORTED", listed(gaps));
}

/** No test shows how a source behaves elsewhere if it can tell that it is tested. People may see that it is meant. */
function aware({ aware: signs, demand, allowUnverified }: Trial): Judgement | null {
  if (signs.length === 0 || demand.byPeople || allowUnverified) return null;
  const message = `${listed(signs)}: passing checks say nothing about a source that knows them`;
  return { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_TEST_AWARE", message, proves: "nothing" };
}

/** director/D5: an edited source that the check runs stays protected, because the check passes on the base too. */
function unopened({ base, unproven: [first] }: Trial): Judgement | null {
  if (first === undefined || base?.every(isPassed) !== true) return null;
  const message = `${first.path}: protected: ${first.why}, and that passes without the change too`;
  return fail("ANT_PATCH_PROTECTED", message);
}

function pass(proves: Proves, code: VerdictBody["code"], message: string): Judgement {
  return { verdict: "PASS", code, message, proves };
}

function fail(code: NonNullable<VerdictBody["code"]>, message: string): Judgement {
  return { verdict: "FAIL", code, message, proves: "nothing" };
}

function withoutChecks(trial: Trial): Judgement {
  if (trial.readOnly) return pass("nothing", null, "a read-only task with nothing to check");
  const message = "no check was named and none could be discovered in the repository";
  if (trial.allowUnverified) return pass("nothing", "ANT_VERIFY_NO_CHECK", `${message}; landed by grant`);
  return { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_NO_CHECK", message, proves: "nothing" }; // director/D5
}

function names(checks: readonly CheckOutcome[]): string {
  return checks.map((check) => check.command).join(", ");
}

function where({ length }: Trials): string {
  return length > 1 ? `in ${length} of ${length} trials` : "in the clean room";
}

/** The first few of a list, in one line. */
function listed(all: readonly string[]): string {
  const [shown, more] = [all.slice(0, 3).join(", "), all.length - 3];
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function how(check: CheckOutcome): string {
  if (check.timedOut) return "ran out of time";
  return check.exitCode === null ? "did not finish" : `exited ${check.exitCode}`;
}
