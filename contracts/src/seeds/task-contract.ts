/** The task contract, `tasks/T-{id}.yaml` (seed 001): a persistent definition of work to be done. */
import { Type, type Static } from "typebox";
import { Digest, TaskId } from "../shapes/ids.ts";
import { EgressProfile, GitAction, TaskKind } from "./director-task.ts";
import { closed, oneOf } from "../shapes/shape.ts";

export const TaskState = oneOf(["open", "proposed", "done", "failed"], {
  description: "open -> proposed -> done | failed. A rejected proposal shows open again, at the next epoch.",
});
export type TaskState = Static<typeof TaskState>;

const globs = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 1024, description });

export const TaskScope = closed({
  allowed_files: globs("Globs of files the task may change. Empty: all."),
  disallowed_files: globs("Globs of files the task must not change."),
  allowed_tools: globs("Tools the agent may use. Empty: all."),
  disallowed_tools: globs("Tools the agent must not use."),
});
export type TaskScope = Static<typeof TaskScope>;

export const TaskFeedback = closed({
  epoch: Type.Integer({ minimum: 1 }),
  code: Type.String(),
  message: Type.String(),
});
export type TaskFeedback = Static<typeof TaskFeedback>;

export const TaskContract = closed(
  {
    id: TaskId,
    objective: Type.String({ minLength: 1, description: "Natural language description." }),
    scope: TaskScope,
    verification_commands: Type.Array(Type.String({ minLength: 1 }), {
      description: "Commands to run to prove success.",
    }),
    acceptance_criteria: Type.Array(Type.String({ minLength: 1 }), {
      description: "Checklist for the Director to verify.",
    }),
    status: TaskState,
    run_id: Type.Optional(Type.String({ minLength: 1, description: "The run this task belongs to." })),
    epoch: Type.Optional(Type.Integer({ minimum: 0, description: "Attempts dispatched so far." })),
    depends_on: Type.Optional(Type.Array(TaskId)),
    kind: Type.Optional(TaskKind),
    git_action: Type.Optional(GitAction),
    base_ref: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Of `git_reset` and `git_checkout`: `base`, or the id of a task.",
      }),
    ),
    image: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: "Its own sandbox image, if it names one." }),
    ),
    default_criteria: Type.Optional(
      Type.Literal(true, {
        description:
          "Nobody named the criteria: they say that the commands pass, and demand no more. Absent: each was named.",
      }),
    ),
    egress_profile: Type.Optional(EgressProfile),
    feedback: Type.Optional(Type.Array(TaskFeedback, { description: "Why earlier attempts were rejected." })),
    evidence: Type.Optional(
      Type.Array(closed({ path: Type.String({ minLength: 1 }), digest: Digest }), {
        description: "Bundles of the attempts, oldest first.",
      }),
    ),
    commit: Type.Optional(Type.String({ description: "The commit it landed as." })),
  },
  { description: "A definition of work to be done (seed 001)." },
);
export type TaskContract = Static<typeof TaskContract>;
