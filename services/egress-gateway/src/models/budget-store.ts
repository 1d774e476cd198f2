/**
 * The budget accounts of runs, in KV `ANT_BUDGETS`. Every change is a compare-and-set, so all sandboxes and gateways that
 * serve a run share one budget, and a gateway's restart forgets nothing (egress-gateway/E4).
 *
 * The accounts are in KV and not in the journal because a cost is a counter that many processes race for. The state of a
 * run does not depend on it, and the journal needs no record per model call.
 */
import { AntiphonError, type ModelBudget } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";
import { NEW_ACCOUNT, reserve, settle, type Account, type Charge } from "./ledger.ts";
import { EgressRefusal } from "../policy/refusal.ts";

const TRIES = 64;

export class BudgetStore {
  readonly #kv: Kv;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /** Throws ANT_EGRESS_BUDGET when the budget is too small, or when the account cannot be read or written. */
  async reserve(run: string, budget: ModelBudget, most: Charge): Promise<void> {
    await this.#change(run, (account) => {
      const next = reserve(account, budget, most);
      if ("over" in next) throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:budget", next.over);
      return next;
    }).catch((error: unknown) => {
      if (error instanceof EgressRefusal) throw error;
      // The sandbox learns only the code: details of the storage are none of its business.
      const why = `the run's budget account is unavailable: ${AntiphonError.from(error).code}`;
      throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:account", why); // egress-gateway/E4
    });
  }

  async settle(run: string, most: Charge, used: Charge): Promise<void> {
    await this.#change(run, (account) => settle(account, most, used));
  }

  async #change(run: string, step: (account: Account) => Account): Promise<void> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const entry = await this.#kv.get<Account>(run);
      const next = step(entry?.value ?? NEW_ACCOUNT);
      const done =
        entry === null
          ? await this.#kv.create(run, next)
          : (await this.#kv.update(run, next, entry.revision)) !== null;
      if (done) return;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(100, 5 * (attempt + 1))));
    }
    throw new AntiphonError(
      "ANT_EGRESS_BUDGET",
      `the account of ${run} changed ${TRIES} times while this process tried to change it`,
    );
  }
}
