/**
 * The budget account of a run: what its model calls used and reserved. Pure; budget-store.ts keeps one document per run.
 * Settling a call replaces its reservation by the charge, even where the charge is larger.
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
