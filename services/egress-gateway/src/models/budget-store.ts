/**
 * Accounts of runs in KV `ANT_BUDGETS`, changed by compare-and-set, so that several sandboxes and several gateways of one
 * run share one budget and a gateway's restart forgets nothing (models/ledger.ts, M1, M2).
 *
 * KV and not the journal: a call's cost is a counter that many processes race for, not a decision a run's state depends
 * on; one register a run with compare-and-set is exactly that, and the journal stays free of a record per model call.
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

  /** Throws ANT_EGRESS_BUDGET when there is no room, or when it cannot be known. */
  async reserve(run: string, budget: ModelBudget, most: Charge): Promise<void> {
    await this.#change(run, (account) => {
      const next = reserve(account, budget, most);
      if ("over" in next) throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:budget", next.over);
      return next;
    }).catch((error: unknown) => {
      if (error instanceof EgressRefusal) throw error;
      // Not the other side's fault, and how it went wrong is not the sandbox's business.
      const why = `the run's account is out of reach: ${AntiphonError.from(error).code}`;
      throw new EgressRefusal("ANT_EGRESS_BUDGET", "model:account", why);
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
    throw new AntiphonError("ANT_EGRESS_BUDGET", `the account of ${run} is written too often to be changed`);
  }
}
