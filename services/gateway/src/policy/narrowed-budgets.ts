/** Which budgets that a run took over from another one the policy has narrowed. Pure. */
import type { Intent, NarrowedBudget, RunOptions } from "@antiphon/contracts";

/**
 * `named`: as the intent says; `admitted`: as the policy admitted them. A budget that the caller states is refused and not narrowed, so
 * one of the intent that is smaller now was taken over. A budget that the intent leaves open is no news.
 */
export function narrowedBudgets(
  { constraints }: Intent,
  named: RunOptions,
  admitted: RunOptions,
): NarrowedBudget[] {
  const less = (budget: NarrowedBudget["budget"], was?: number, is?: number): NarrowedBudget[] =>
    was === undefined || is === undefined || is >= was ? [] : [{ budget, was, is }];
  const plain = (["max_attempts", "time_budget_s", "run_time_budget_s"] as const).filter(
    (option) => constraints[option] !== undefined,
  );
  const [before, now] = [named.model_budget, admitted.model_budget];
  return [
    ...plain.flatMap((option) => less(option, named[option], admitted[option])),
    ...less("model_tokens", before?.tokens, now?.tokens),
    ...less("model_usd_micro", before?.usd_micro, now?.usd_micro),
  ];
}
