/**
 * From exit codes to a verdict. Pure: the clean room runs the commands, and `judge` decides what they mean.
 *
 * Promises:
 *   director/D5 Because only a failure without the change shows that the change is a fix, checks that run an edited
 *     source must fail on the base, and so must those of a one-task DEBUG run unless `allow_unproven` is granted; a
 *     check that fails and then passes on the same tree is FLAKY; and without checks a change is UNVERIFIABLE unless
 *     `allow_unverified` is granted.
 */
import type { CheckOutcome, Proves, VerdictBody } from "@antiphon/contracts";

export interface Trial {
  /** The checks on the tree that is to become the head. */
  checks: readonly CheckOutcome[];
  /** The checks on the same tree again; null unless the first trial failed. */
  again: readonly CheckOutcome[] | null;
  /** The checks on the tree without the change; null if no proof is needed. */
  base: readonly CheckOutcome[] | null;
  /** Sources that the change edits and the check runs. If there are any, `base` is not null. */
  unproven: readonly { path: string; why: string }[];
  /** A read-only task changes nothing, so it needs no check. */
  readOnly: boolean;
  allowUnverified: boolean;
  allowUnproven: boolean;
}

export type Judgement = Pick<VerdictBody, "verdict" | "code" | "message"> & { proves: Proves };

export function judge(trial: Trial): Judgement {
  if (trial.checks.length === 0) return withoutChecks(trial);
  const failure = failed(trial);
  if (failure !== null) return failure;
  if (trial.base !== null && firstFailure(trial.base) === undefined) return withoutProof(trial);
  if (trial.base === null) return pass("regression", null, `${names(trial.checks)} passes in the clean room`);
  const opened = trial.unproven.map(
    ({ path, why }) => `; ${path} may change: ${why}, and that fails without the change`,
  );
  const message = `${names(trial.checks)} passes in the clean room, and fails without the change`;
  return pass("fail-to-pass", null, `${message}${opened.join("")}`);
}

function failed({ checks, again }: Trial): Judgement | null {
  const bad = firstFailure(checks);
  if (bad !== undefined && again !== null && firstFailure(again) === undefined) {
    const message = `${bad.command} ${how(bad)}, then passed on the same tree`;
    return { verdict: "FLAKY", code: "ANT_VERIFY_FLAKY", message, proves: "nothing" }; // director/D5
  }
  if (bad !== undefined) {
    const message = `${bad.command} ${how(bad)} in the clean room`;
    return { verdict: "FAIL", code: "ANT_VERIFY_CHECK_FAILED", message, proves: "nothing" };
  }
  return null;
}

/** director/D5: the checks pass on the base too. */
function withoutProof({ checks, unproven, allowUnproven }: Trial): Judgement {
  const [first] = unproven;
  if (first !== undefined) {
    const message = `${first.path}: protected: ${first.why}, and that passes without the change too`;
    return { verdict: "FAIL", code: "ANT_PATCH_PROTECTED", message, proves: "nothing" };
  }
  const message = `${names(checks)} also passes without the change, so it proves nothing about it`;
  if (allowUnproven) return pass("nothing", "ANT_VERIFY_PROVES_NOTHING", `${message}; landed by grant`);
  return { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_PROVES_NOTHING", message, proves: "nothing" };
}

function pass(proves: Proves, code: VerdictBody["code"], message: string): Judgement {
  return { verdict: "PASS", code, message, proves };
}

function withoutChecks(trial: Trial): Judgement {
  if (trial.readOnly) return pass("nothing", null, "a read-only task with nothing to check");
  const message = "no check was named and none could be discovered in the repository";
  if (trial.allowUnverified) return pass("nothing", "ANT_VERIFY_NO_CHECK", `${message}; landed by grant`);
  return { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_NO_CHECK", message, proves: "nothing" }; // director/D5
}

export function firstFailure(checks: readonly CheckOutcome[]): CheckOutcome | undefined {
  return checks.find((check) => check.exitCode !== 0);
}

function names(checks: readonly CheckOutcome[]): string {
  return checks.map((check) => check.command).join(", ");
}

function how(check: CheckOutcome): string {
  if (check.timedOut) return "ran out of time";
  return check.exitCode === null ? "did not finish" : `exited ${check.exitCode}`;
}
