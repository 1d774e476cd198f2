/**
 * What the model calls of a run were charged, against its budget. Pure; the document lives in KV `ANT_BUDGETS`, one a
 * run, and changes by compare-and-set only.
 *
 * Invariants:
 *   M1  used + reserved never passes the budget: what a call may cost at most is reserved before it leaves.
 *   M2  A reservation that is never settled (a gateway that died, an answer without usage) stays charged in full.
 *   M3  Settling puts what was used in the place of what was reserved, also when that is more.
 */
import type { ModelBudget } from "@antiphon/contracts";

/** Tokens, and millionths of a US dollar. */
export interface Charge {
  readonly tokens: number;
  readonly usd_micro: number;
}

export interface Account {
  readonly v: 1;
  readonly used: Charge;
  readonly reserved: Charge;
  readonly calls: number;
}

const NOTHING: Charge = { tokens: 0, usd_micro: 0 };
export const NEW_ACCOUNT: Account = { v: 1, used: NOTHING, reserved: NOTHING, calls: 0 };

/** The account with the reservation in it, or why there is no room for it. */
export function reserve(
  account: Account,
  budget: ModelBudget,
  most: Charge,
): Account | { readonly over: string } {
  const reserved = plus(account.reserved, most);
  const total = plus(account.used, reserved);
  if (budget.tokens === undefined && budget.usd_micro === undefined)
    return { over: "the budget names no bound" };
  const over = (["tokens", "usd_micro"] as const).find((unit) => total[unit] > (budget[unit] ?? Infinity)); // M1
  if (over !== undefined) {
    const left = Math.max(0, (budget[over] ?? 0) - account.used[over] - account.reserved[over]);
    return { over: `the call may take ${most[over]} ${over}, and ${left} of ${budget[over] ?? 0} are left` };
  }
  return { ...account, reserved, calls: account.calls + 1 };
}

export function settle(account: Account, most: Charge, used: Charge): Account {
  const reserved = {
    tokens: Math.max(0, account.reserved.tokens - most.tokens),
    usd_micro: Math.max(0, account.reserved.usd_micro - most.usd_micro),
  };
  return { ...account, reserved, used: plus(account.used, used) }; // M3
}

export function plus(a: Charge, b: Charge): Charge {
  return { tokens: a.tokens + b.tokens, usd_micro: a.usd_micro + b.usd_micro };
}
