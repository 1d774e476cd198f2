/**
 * From exit codes to a verdict. Pure: the clean room runs the commands, this decides what they mean.
 *
 * Invariants:
 *   V2 A DEBUG check must fail on the base and pass with the change.
 *   V4 A check that fails and then passes on the same tree is FLAKY, not a coin toss.
 *   V5 No check means UNVERIFIABLE, which lands only with the caller's explicit grant.
 */
import type { CheckOutcome, VerdictBody } from "@antiphon/contracts";

export interface Trial {
  /** The checks on the tree about to become the head. */
  checks: readonly CheckOutcome[];
  /** The same tree once more, run only when the first trial failed. */
  again: readonly CheckOutcome[] | null;
  /** The checks on the tree without the change; null when fail-to-pass is not asked for. */
  base: readonly CheckOutcome[] | null;
  /** Read-only tasks change nothing, so no check is a fact and not a gap. */
  readOnly: boolean;
  allowUnverified: boolean;
  allowUnproven: boolean;
}

export type Judgement = Pick<VerdictBody, "verdict" | "code" | "message">;

export function judge(trial: Trial): Judgement {
  if (trial.checks.length === 0) return withoutChecks(trial);
  const bad = firstFailure(trial.checks);
  if (bad !== undefined) {
    if (trial.again !== null && firstFailure(trial.again) === undefined) {
      return {
        verdict: "FLAKY",
        code: "ANT_VERIFY_FLAKY",
        message: `${bad.command} ${how(bad)}, then passed on the same tree`,
      }; // V4
    }
    return {
      verdict: "FAIL",
      code: "ANT_VERIFY_CHECK_FAILED",
      message: `${bad.command} ${how(bad)} in the clean room`,
    };
  }
  if (trial.base !== null && firstFailure(trial.base) === undefined) {
    const message = `${names(trial.checks)} also passes without the change, so it proves nothing about it`;
    if (!trial.allowUnproven) return { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_PROVES_NOTHING", message }; // V2
    return { verdict: "PASS", code: "ANT_VERIFY_PROVES_NOTHING", message: `${message}; landed by grant` };
  }
  const proof = trial.base === null ? "" : ", and fails without the change";
  return { verdict: "PASS", code: null, message: `${names(trial.checks)} passes in the clean room${proof}` };
}

function withoutChecks(trial: Trial): Judgement {
  if (trial.readOnly)
    return { verdict: "PASS", code: null, message: "a read-only task with nothing to check" };
  const message = "no check was named and none could be discovered in the repository";
  if (!trial.allowUnverified) return { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_NO_CHECK", message }; // V5
  return { verdict: "PASS", code: "ANT_VERIFY_NO_CHECK", message: `${message}; landed by grant` };
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
