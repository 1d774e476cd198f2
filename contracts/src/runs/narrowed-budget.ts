/** A budget that a run took over from another one, of which the policy allows less by now. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";

export const NarrowedBudget = closed({
  budget: oneOf(["max_attempts", "time_budget_s", "run_time_budget_s", "model_tokens", "model_usd_micro"]),
  was: Type.Integer({ minimum: 0, description: "As the other run was given it." }),
  is: Type.Integer({ minimum: 0, description: "As much of it as the policy allows." }),
});
export type NarrowedBudget = Static<typeof NarrowedBudget>;
