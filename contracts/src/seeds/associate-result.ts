/** AssociateResult v0 (seed 000): an Associate's answer to the Director. */
import { Type, type Static } from "typebox";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

export const CommandRun = closed(
  {
    command: Type.String({ description: "As it was run." }),
    exit_code: nullable(Type.Integer(), {
      description:
        "null if the command was killed before it could exit, or waits for the answer to its question.",
    }),
    stdout_path: nullable(Type.String(), {
      description: "Path in the evidence bundle, or null if nothing was written.",
    }),
    stderr_path: nullable(Type.String(), {
      description: "Path in the evidence bundle, or null if nothing was written.",
    }),
  },
  { description: "One command of the attempt." },
);
export type CommandRun = Static<typeof CommandRun>;

export const VerifyStatus = oneOf(["pass", "fail", "unknown"], {
  description: "unknown: no check could be found. It never lands without an explicit grant.",
});
export type VerifyStatus = Static<typeof VerifyStatus>;

export const VerifyReport = closed(
  {
    mode: oneOf(["smoke", "full", "none"]),
    status: VerifyStatus,
    commands: Type.Array(Type.String(), { description: "The checks that were run." }),
    logs_path: nullable(Type.String(), { description: "Path in the evidence bundle, or null." }),
  },
  { description: "Result of the Associate's own verification. It is never an input of the verdict." },
);
export type VerifyReport = Static<typeof VerifyReport>;

export const AssociateDiff = closed({
  format: oneOf(["unified"]),
  content: Type.String({ description: "The diff as text; large ones are in the evidence bundle." }),
});
export type AssociateDiff = Static<typeof AssociateDiff>;

export const AssociateResult = closed(
  {
    task_id: Type.String({ minLength: 1, maxLength: 64, description: "Echoes the DirectorTask." }),
    status: oneOf(["ok", "needs_input", "failed"], {
      description: "failed if verification failed; needs_input only if the user must answer a question.",
    }),
    summary: Type.String({ maxLength: 65_536, description: "What changed and why." }),
    diff: nullable(AssociateDiff, { description: "Unified diff, or null." }),
    files_changed: Type.Array(Type.String({ minLength: 1 }), {
      description: "Paths relative to the repository root.",
    }),
    commands_run: Type.Array(CommandRun),
    verify: VerifyReport,
    questions: Type.Array(Type.String({ minLength: 1 }), { description: "Questions for the user." }),
    suggested_next: nullable(Type.String(), { description: "Optional follow-up." }),
  },
  { description: "The outcome of an attempt (Associate -> Director, seed 000)." },
);
export type AssociateResult = Static<typeof AssociateResult>;
