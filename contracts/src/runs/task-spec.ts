/** A task that the user gives instead of a plan by the Router. */
import { Type, type Static } from "typebox";
import { EgressProfile, GitAction, TaskKind } from "../seeds/director-task.ts";
import { closed } from "../shapes/shape.ts";
import { AgentSpec } from "./agents.ts";
import { Approvals } from "./approvals.ts";

const command = Type.String({ minLength: 1, maxLength: 8192 });
const globs = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 256, description });

export const Criterion = Type.Union(
  [
    Type.String({ minLength: 1, maxLength: 2048 }),
    closed({ criterion: Type.String({ minLength: 1, maxLength: 2048 }), check: command }),
  ],
  {
    description:
      "What has to be true in the end. With `check`, the command that decides it. A plain text is mapped to a check that it quotes: `<check> passes`, or the check in backticks, or `(check: <check>)`. In a plan with several changes, a check that is named (`check`, or `(check: <check>)`) has to fail before the task; one that is quoted in words need not.",
  },
);
export type Criterion = Static<typeof Criterion>;

export const TaskImage = Type.String({
  minLength: 1,
  maxLength: 512,
  description:
    "Sandbox image of its attempts and of its checks, from the allowlist; `default` is the standard image. Default: that of the run.",
});

export const TaskSpec = closed(
  {
    id: Type.Integer({ minimum: 1, maximum: 1000 }),
    description: Type.String({ minLength: 1, maxLength: 8192 }),
    dependencies: Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), { maxItems: 1000 }),
    agent: Type.Optional(AgentSpec),
    checks: Type.Optional(Type.Array(command, { maxItems: 64 })),
    kind: Type.Optional(TaskKind),
    git_action: Type.Optional(GitAction),
    base_ref: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          "What `git_reset` and `git_checkout` go back to: `base`, the commit that the run started from, or a task that this one depends on (`T-003`), for the files as that one left them. Default: `base`.",
      }),
    ),
    allowed_files: Type.Optional(
      globs(
        "Globs of files the task may change. Empty: all. Tasks that may change the same files run one after the other; a task without this field is not compared.",
      ),
    ),
    disallowed_files: Type.Optional(globs("Globs of files the task must not change.")),
    acceptance_criteria: Type.Optional(
      Type.Array(Criterion, {
        maxItems: 64,
        description: "A task with a criterion that no check decides does not land by itself.",
      }),
    ),
    approvals: Type.Optional(Approvals),
    image: Type.Optional(TaskImage),
    egress_profile: Type.Optional(EgressProfile),
    allowed_tools: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 128,
        description:
          "Tools the agent may use. Refused for an agent that nothing holds to them. Default: those of the kind.",
      }),
    ),
    time_budget_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description: "Seconds per attempt, at most those of the run. Default: those of the run.",
      }),
    ),
  },
  { description: "A task given by the user instead of planned by the Router." },
);
export type TaskSpec = Static<typeof TaskSpec>;
