/**
 * Finds a check that cannot start before an agent is paid for work that nobody could verify: its first word is a program that
 * the sandbox lacks. A path is not looked at, since the agent may be about to write it. Pure.
 */
import { programOf, type SandboxOutcome, type SandboxStep } from "@antiphon/contracts";
import type { Ending } from "../evidence/attempt-facts.ts";

const STEP = "programs";
/** A failure here ends the job before the agent. Words of the shell are found, too. */
const SCRIPT = 'for program do command -v "$program" >/dev/null 2>&1 || { echo "$program"; exit 1; }; done';

export function programSteps(
  checks: readonly string[],
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): SandboxStep[] {
  const programs = new Set(checks.flatMap((check) => programOf(check) ?? []));
  if (programs.size === 0) return [];
  const argv = ["sh", "-c", SCRIPT, "sh", ...programs];
  return [{ id: STEP, argv, env: { ...env }, timeoutMs, continueOnFailure: false, quiet: true }];
}

/** Null: every check can start, as far as its first word tells. */
export function unstartable(checks: readonly string[], outcome: SandboxOutcome): Ending | null {
  const step = outcome.steps.find(({ id }) => id === STEP);
  if (outcome.outcome !== "completed" || step?.exitCode !== 1) return null;
  const missing = step.stdout.tail.trim();
  const check = checks.find((one) => programOf(one) === missing);
  if (check === undefined) return null;
  const message = `the sandbox has no program ${missing}, so the check \`${check.trim().slice(0, 120)}\` cannot start; the agent was not started`;
  return { kind: "stopped", code: "ANT_VERIFY_NO_PROGRAM", message };
}
