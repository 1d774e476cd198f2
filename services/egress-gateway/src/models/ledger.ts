/**
 * The budget account of a run: what its model calls used and reserved. Pure; budget-store.ts keeps one document per run.
 * Settling a call replaces its reservation by the charge, even where the charge is larger.
 *
 * A call that would exceed the budget with its longest answer is fitted: its answer is bounded by what is left.
 *
 * Promises:
 *   egress-gateway/E4 Because the most that a model call can cost is stored as reserved before the call leaves, and stays
 *     charged until the call is settled, neither concurrent sandboxes nor a gateway that dies can exceed a run's budget.
 */
import type { ModelBudget } from "@antiphon/contracts";

/** `usd_micro` is in millionths of a US dollar. */
export interface Charge {
  readonly tokens: number;
  readonly usd_micro: number;
}

/** A call's reservation until it is settled: the longest answer in tokens, and its highest cost with that answer. */
export interface Reserved {
  readonly answer: number;
  readonly most: Charge;
}

export interface Account {
  readonly v: 1;
  readonly used: Charge;
  readonly reserved: Charge;
  readonly calls: number;
}

const NOTHING: Charge = { tokens: 0, usd_micro: 0 };
export const NEW_ACCOUNT: Account = { v: 1, used: NOTHING, reserved: NOTHING, calls: 0 };

/** The account with the reservation added, or why the budget does not allow it. */
export function reserve(
  account: Account,
  budget: ModelBudget,
  most: Charge,
): Account | { readonly over: string } {
  const reserved = plus(account.reserved, most);
  const total = plus(account.used, reserved);
  if (budget.tokens === undefined && budget.usd_micro === undefined)
    return { over: "the budget names no bound" };
  const over = (["tokens", "usd_micro"] as const).find((unit) => total[unit] > (budget[unit] ?? Infinity)); // egress-gateway/E4
  if (over !== undefined) {
    const left = Math.max(0, (budget[over] ?? 0) - account.used[over] - account.reserved[over]);
    return { over: `the call may take ${most[over]} ${over}, and ${left} of ${budget[over] ?? 0} are left` };
  }
  return { ...account, reserved, calls: account.calls + 1 };
}

/** A call before its reservation. `answer` is the longest answer that it asks for, in tokens. */
export interface Wish {
  readonly answer: number;
  readonly mostWith: (answer: number) => Charge;
}

export type Fitted =
  | { readonly kind: "fits"; readonly answer: number; readonly account: Account }
  /** Calls that are under way hold what it needs; some of that will be free again. */
  | { readonly kind: "wait"; readonly over: string }
  | { readonly kind: "over"; readonly over: string };

/** An answer below this is of no use. */
const LEAST_ANSWER = 256;

/** Reserves the longest answer that the budget allows, up to the one asked for. */
export function fit(account: Account, budget: ModelBudget, wish: Wish): Fitted {
  const least = Math.min(wish.answer, LEAST_ANSWER);
  const fits = (answer: number): boolean => !("over" in reserve(account, budget, wish.mostWith(answer)));
  if (!fits(least)) {
    const over = overOf(reserve(account, budget, wish.mostWith(least)));
    const alone = reserve({ ...account, reserved: NOTHING }, budget, wish.mostWith(least));
    return { kind: "over" in alone ? "over" : "wait", over };
  }
  let answer = least;
  let tooLong = wish.answer + 1;
  while (tooLong - answer > 1) {
    const middle = Math.floor((answer + tooLong) / 2);
    if (fits(middle)) answer = middle;
    else tooLong = middle;
  }
  const next = reserve(account, budget, wish.mostWith(answer));
  return "over" in next ? { kind: "over", over: next.over } : { kind: "fits", answer, account: next };
}

function overOf(result: ReturnType<typeof reserve>): string {
  return "over" in result ? result.over : "";
}

export function settle(account: Account, most: Charge, used: Charge): Account {
  const reserved = {
    tokens: Math.max(0, account.reserved.tokens - most.tokens),
    usd_micro: Math.max(0, account.reserved.usd_micro - most.usd_micro),
  };
  return { ...account, reserved, used: plus(account.used, used) };
}

export function plus(a: Charge, b: Charge): Charge {
  return { tokens: a.tokens + b.tokens, usd_micro: a.usd_micro + b.usd_micro };
}
