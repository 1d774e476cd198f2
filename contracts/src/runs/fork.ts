/** Where a fork goes on: another run's task at one of its attempts, with the first of the recorded answers of its model. */
import { Type, type Static } from "typebox";
import { Feedback } from "../journal/check-outcome.ts";
import { Epoch, RunId, TaskId } from "../shapes/ids.ts";
import { closed, oneOf } from "../shapes/shape.ts";

/** All that were recorded. */
export const ALL_CALLS = 10_000;

/** A fork takes them over, and a retry. */
export const INHERITED_BUDGETS = [
  "max_attempts",
  "time_budget_s",
  "run_time_budget_s",
  "model_budget",
] as const;
export type InheritedBudget = (typeof INHERITED_BUDGETS)[number];

export const ForkPoint = closed(
  {
    run: Type.Unsafe<RunId>({ ...RunId, description: "The run that is forked." }),
    task: Type.Unsafe<TaskId>({ ...TaskId, description: "Its task, which has the same name here." }),
    epoch: Type.Unsafe<Epoch>({ ...Epoch, minimum: 1, description: "The attempt that is begun again." }),
    calls: Type.Integer({
      minimum: 0,
      maximum: ALL_CALLS,
      description:
        "So many of its recorded model calls are answered from the record; then the model answers.",
    }),
  },
  { description: "The event of another run from which this one goes on." },
);
export type ForkPoint = Static<typeof ForkPoint>;

export const Fork = closed(
  {
    ...ForkPoint.properties,
    feedback: Type.Array(Feedback, { maxItems: 20, description: "What the attempt is told, oldest first." }),
    inherited: Type.Optional(
      Type.Array(oneOf(INHERITED_BUDGETS), {
        uniqueItems: true,
        description:
          "Budgets that are those of the other run. Where the policy allows less by now, they are narrowed; a budget that is named here and now is refused then.",
      }),
    ),
  },
  { description: "Go on from an event of another run of the same repository." },
);
export type Fork = Static<typeof Fork>;
