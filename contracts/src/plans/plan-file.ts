/** A plan as people and agents write it: the tasks of a run in a file. */
import { Type, type Static } from "typebox";
import { closed } from "../shapes/shape.ts";
import { TaskSpec } from "../runs/task-spec.ts";

const { dependencies, ...others } = TaskSpec.properties;

export const PlanFile = closed(
  {
    goal: Type.Optional(
      Type.String({ minLength: 1, maxLength: 32_768, description: "The goal of the run, in plain words." }),
    ),
    tasks: Type.Array(closed({ ...others, dependencies: Type.Optional(dependencies) }), {
      minItems: 1,
      maxItems: 256,
    }),
  },
  {
    description:
      "`plan.yaml`: the task graph of a run. An agent of a PLAN run writes it at the root of its work tree; `antiphon run --plan` takes it.",
  },
);
export type PlanFile = Static<typeof PlanFile>;
