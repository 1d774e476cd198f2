/** Maps a sandbox's outcome to the ending of an attempt. */
import { isErrorCode } from "@antiphon/contracts";
import type { ErrorCode, SandboxOutcome } from "@antiphon/contracts";
import type { NamedStep } from "./attempt.ts";
import type { Ending } from "../evidence/attempt-facts.ts";

const FALLBACK: Record<Exclude<SandboxOutcome["outcome"], "completed">, ErrorCode> = {
  timeout: "ANT_TASK_TIME_BUDGET",
  oom: "ANT_SANDBOX_OOM",
  canceled: "ANT_SANDBOX_CANCELED",
  refused: "ANT_SANDBOX_REFUSED",
  error: "ANT_SANDBOX_FAILED",
};

/**
 * Called for `canceled` and `error` only when the job will not be tried again. The time limit of each step is the rest of
 * the task's budget, so every timeout means that the budget is spent.
 */
export function endingOf(outcome: SandboxOutcome, steps: readonly NamedStep[], budgetMs: number): Ending {
  if (outcome.outcome === "completed") return { kind: "ran" };
  if (outcome.outcome === "timeout") return overBudget(budgetMs, commandUnderWay(outcome, steps));
  const code = isErrorCode(outcome.code) ? outcome.code : FALLBACK[outcome.outcome];
  return { kind: "stopped", code, message: outcome.message };
}

export function overBudget(budgetMs: number, command: string | null): Ending {
  const where = command === null ? "" : ` while running ${command.slice(0, 120)}`;
  const message = `killed at the end of its time budget of ${Math.round(budgetMs / 1000)} s${where}`;
  return { kind: "stopped", code: "ANT_TASK_TIME_BUDGET", message };
}

/** The command that was killed: the one that timed out, else the first without an outcome. */
function commandUnderWay(outcome: SandboxOutcome, steps: readonly NamedStep[]): string | null {
  const killed = outcome.steps.find((step) => step.timedOut)?.id;
  const ended = new Set(outcome.steps.map((step) => step.id));
  const step = steps.find(({ id }) => id === killed) ?? steps.find(({ id }) => !ended.has(id));
  return step?.command ?? null;
}
