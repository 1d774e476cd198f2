/** DirectorTask v0 (seed 000): the Director's task for an Associate. */
import { Type, type Static } from "typebox";
import { closed, oneOf, withDefault, type Filled } from "../shapes/shape.ts";

export const TaskKind = oneOf(["edit_repo", "run", "git", "inspect"], {
  description:
    "edit_repo changes files; run executes commands without modifying files; git asks for one git verb; inspect only reads.",
});
export type TaskKind = Static<typeof TaskKind>;

export const GitAction = oneOf(["git_checkpoint", "git_reset", "git_checkout", "git_status"], {
  description: "The only git verbs a task may ask for.",
});
export type GitAction = Static<typeof GitAction>;

export const EgressMode = oneOf(["none", "git+pkg", "allowlist"], {
  description:
    "none: no network; git+pkg: fetch from git and package hosts; allowlist: only the hosts named.",
});
export type EgressMode = Static<typeof EgressMode>;

export const EgressProfile = closed(
  {
    mode: Type.Optional(
      oneOf(["none", "git+pkg", "allowlist"], {
        default: "git+pkg",
        description: "Network policy of the sandbox.",
      }),
    ),
    allowlist: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
        default: [],
        maxItems: 256,
        description: "Hosts that are allowed in addition to those of the mode. Empty unless set.",
      }),
    ),
  },
  { description: "Network policy of a task (seed 000)." },
);
export type EgressProfile = Filled<Static<typeof EgressProfile>, "mode" | "allowlist">;

export const VerifyMode = oneOf(["smoke", "full", "none"], {
  description:
    "smoke: the commands given, else the fastest obvious check; full: every known check; none: no check.",
});
export type VerifyMode = Static<typeof VerifyMode>;

export const VerifyProfile = closed(
  {
    mode: Type.Optional(
      oneOf(["smoke", "full", "none"], { default: "smoke", description: "Extent of the checks." }),
    ),
    commands: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 8192 }), {
        default: [],
        maxItems: 64,
        description:
          "Commands that prove success. Empty: discover one; nothing found means verify.status `unknown`.",
      }),
    ),
  },
  { description: "Verification policy of a task (seed 000)." },
);
export type VerifyProfile = Filled<Static<typeof VerifyProfile>, "mode" | "commands">;

export const TaskReturn = closed(
  {
    diff: Type.Boolean({ description: "Return the diff." }),
    diff_format: oneOf(["unified"], { description: "The only diff format of v0." }),
    logs: Type.Boolean({ description: "Keep the logs of the commands." }),
    files_changed: Type.Boolean({ description: "Return the list of changed paths." }),
    artifacts: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 256,
      description: "Paths of further files to keep as evidence.",
    }),
  },
  { description: "Outputs the Director asks for." },
);
export type TaskReturn = Static<typeof TaskReturn>;

export const DirectorTask = closed(
  {
    task_id: Type.String({ minLength: 1, maxLength: 64, description: "Unique id for tracking." }),
    kind: TaskKind,
    instruction: Type.String({
      minLength: 1,
      maxLength: 32_768,
      description: "The goal, in natural language.",
    }),
    acceptance_criteria: Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), {
      maxItems: 64,
      description: "A short checklist.",
    }),
    base_ref: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "Git ref the work starts from." }),
    ),
    git_action: Type.Optional(GitAction),
    allowed_tools: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 128,
      description: "Tools the agent may use; all others are refused.",
    }),
    egress_profile: Type.Optional(withDefault(EgressProfile, { mode: "git+pkg", allowlist: [] })),
    verify_profile: Type.Optional(withDefault(VerifyProfile, { mode: "smoke", commands: [] })),
    commands: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 8192 }), {
        default: [],
        maxItems: 64,
        description: "Commands to run, in order.",
      }),
    ),
    time_budget_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        default: 300,
        description: "Wall-clock time of the attempt, in seconds. At the limit the sandbox is killed.",
      }),
    ),
    return: TaskReturn,
  },
  { description: "A task for an Associate (Director -> Associate, seed 000)." },
);
/** As written: keys with a default may be missing. */
export type DirectorTaskInput = Static<typeof DirectorTask>;
/** As read: defaults filled in. */
export type DirectorTask = Omit<
  Filled<DirectorTaskInput, "commands" | "time_budget_s">,
  "egress_profile" | "verify_profile"
> & { egress_profile: EgressProfile; verify_profile: VerifyProfile };
