/** Tells which budgets of a retry or a fork the policy has narrowed. Pure. */
import type { IntentBody } from "@antiphon/contracts";
import { harmless } from "../screen/harmless.ts";

/** One sentence; null: none was narrowed. */
export function narrowedSentence({ narrowed = [], retry_of }: IntentBody): string | null {
  if (narrowed.length === 0) return null;
  const each = narrowed.map(({ budget, was, is }) => `${budget} is ${is} instead of ${was}`);
  const before = retry_of ?? "the run that it forks";
  return harmless(`The policy allows this run less than ${before}: ${each.join(", ")}.`);
}
