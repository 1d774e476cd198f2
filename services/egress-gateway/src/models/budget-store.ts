/**
 * The budget accounts of runs, in KV `ANT_BUDGETS`. Every change is a compare-and-set, so all sandboxes and gateways that
 * serve a run share one budget, and a gateway's restart forgets nothing (egress-gateway/E4).
 *
 * The accounts are in KV and not in the journal because a cost is a counter that many processes race for. The state of a
 * run does not depend on it, and the journal needs no record per model call.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError, type ModelBudget } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";
import {
  fit,
  NEW_ACCOUNT,
  settle,
  type Account,
  type Charge,
  type Fitted,
  type Reserved,
  type Wish,
} from "./ledger.ts";
import { EgressRefusal } from "../policy/refusal.ts";

const TRIES = 64;
/** How often, and for how long, a call waits for others to settle what they reserved. */
const WAIT_MS = 250;
const WAITS = 120;

export class BudgetStore {
  readonly #kv: Kv;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /**
   * Reserves the call's cost, and returns the longest answer that this pays for, in tokens. Waits up to half a minute when
   * only the reservations of calls under way are in the way.
   *
   * Throws ANT_EGRESS_BUDGET with the rule `model:budget` when the budget is too small, with `model:reserved` when calls
   * under way held it for too long, and with `model:account` when the account cannot be read or written.
   */
  async reserve(run: string, budget: ModelBudget, wish: Wish, signal: AbortSignal): Promise<Reserved> {
    for (let wait = 0; ; wait += 1) {
      const fitted = await this.#fitted(run, budget, wish);
      if (fitted.kind === "fits") return { answer: fitted.answer, most: wish.mostWith(fitted.answer) };
      if (fitted.kind === "over") throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:budget", fitted.over);
      if (wait >= WAITS) throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:reserved", fitted.over);
      await sleep(WAIT_MS, undefined, { signal });
    }
  }

  async #fitted(run: string, budget: ModelBudget, wish: Wish): Promise<Fitted> {
    let fitted: Fitted | null = null;
    try {
      await this.#change(run, (account) => {
        fitted = fit(account, budget, wish);
        return fitted.kind === "fits" ? fitted.account : null;
      });
    } catch (error) {
      // The sandbox learns only the code: details of the storage are none of its business.
      const why = `the run's budget account is unavailable: ${AntiphonError.from(error).code}`;
      throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:account", why); // egress-gateway/E4
    }
    return fitted ?? { kind: "over", over: "the account was not read" };
  }

  async settle(run: string, most: Charge, used: Charge): Promise<void> {
    await this.#change(run, (account) => settle(account, most, used));
  }

  /** `step` returns null to leave the account as it is. */
  async #change(run: string, step: (account: Account) => Account | null): Promise<void> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const entry = await this.#kv.get<Account>(run);
      const next = step(entry?.value ?? NEW_ACCOUNT);
      if (next === null) return;
      const done =
        entry === null
          ? await this.#kv.create(run, next)
          : (await this.#kv.update(run, next, entry.revision)) !== null;
      if (done) return;
      await sleep(Math.random() * Math.min(100, 5 * (attempt + 1)));
    }
    throw new AntiphonError(
      "ANT_EGRESS_BUDGET",
      `the account of ${run} changed ${TRIES} times while this process tried to change it`,
    );
  }
}
