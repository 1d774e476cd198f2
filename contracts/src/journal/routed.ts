/** `routed`: the Router chose a workflow and planned the task graph. */
import { Type, type Static } from "typebox";
import { TaskId } from "../shapes/ids.ts";
import { AgentSpec } from "../runs/agents.ts";
import { PlannedGate } from "../runs/skill-gates.ts";
import { Approvals } from "../runs/approvals.ts";
import { TaskImage } from "../runs/task-spec.ts";
import { MappedCriterion } from "../plans/criteria.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { DirectorTask } from "../seeds/director-task.ts";
import { RouterContractInitial, Workflow } from "../seeds/router-contract.ts";

const globs = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 256, description });

export const FileScope = closed({
  allowed_files: globs("Globs of files the task may change. Empty: all."),
  disallowed_files: globs("Globs of files the task must not change."),
});
export type FileScope = { allowed_files: string[]; disallowed_files: string[] };

export const PlannedTask = closed({
  task: DirectorTask,
  deps: Type.Array(TaskId, { maxItems: 1000, description: "task_ids that must be done first." }),
  agent: AgentSpec,
  scope: Type.Optional(FileScope),
  criteria: Type.Optional(
    Type.Array(MappedCriterion, {
      maxItems: 64,
      description: "The acceptance criteria of a plan and the checks that decide them.",
    }),
  ),
  approvals: Type.Optional(Approvals),
  image: Type.Optional(TaskImage),
  gate: Type.Optional(PlannedGate),
});
export type PlannedTask = {
  task: DirectorTask;
  deps: string[];
  agent: AgentSpec;
  /** The files of this task, besides the scope of the run. Absent: the run's scope alone counts. */
  scope?: FileScope;
  /** Absent: no plan named criteria. */
  criteria?: MappedCriterion[];
  /** Absent: the plan asks no people. */
  approvals?: Approvals;
  /** Its sandbox image. Absent: that of the run. */
  image?: string;
  /** The task judges the verified change of another task. Absent: it does work of its own. */
  gate?: PlannedGate;
};

export const RouteTier = oneOf(["caller", "explicit", "classifier", "model"], {
  description:
    "Who decided: the caller's option, the goal's own words (`/review`), the local classifier, or a model that was asked because the classifier was unsure.",
});
export type RouteTier = Static<typeof RouteTier>;

export const RouteAlternative = closed({
  workflow: Workflow,
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
});
export type RouteAlternative = Static<typeof RouteAlternative>;

export const RoutedBody = closed(
  {
    workflow: Workflow,
    reason: Type.String({ description: "Why this workflow, in words." }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
    tier: Type.Optional(RouteTier),
    unsure: Type.Optional(
      Type.Boolean({ description: "The workflow is a guess. The caller's `workflow` option overrides it." }),
    ),
    alternatives: Type.Optional(
      Type.Array(RouteAlternative, { maxItems: 3, description: "The other workflows, the likeliest first." }),
    ),
    contract: RouterContractInitial,
    tasks: Type.Array(PlannedTask, {
      maxItems: 256,
      description: "Empty if no plan is possible; `reason` says why.",
    }),
  },
  { description: "The run's workflow and task graph. Written by the Router." },
);
export type RoutedBody = {
  workflow: Workflow;
  reason: string;
  confidence: number;
  tier?: RouteTier;
  unsure?: boolean;
  alternatives?: RouteAlternative[];
  contract: RouterContractInitial;
  tasks: PlannedTask[];
};
