/** Skill results, `skills/results/{run_id}/`, and per-skill `skills/{skill_name}/io_schema.json` (seed 001). */
import { Type, type Static, type TSchema } from "typebox";
import { BriefOutput } from "../reviews/brief.ts";
import { DroppedFinding, Finding } from "../reviews/findings.ts";
import { anyObject, closed, oneOf } from "../shapes/shape.ts";

export const SkillName = Type.String({
  pattern: "^[a-z0-9][a-z0-9-]{0,63}$",
  description: "Lower-case name of the skill; a folder under skills/.",
});

export const SkillResult = closed(
  {
    skill: SkillName,
    run_id: Type.String({ minLength: 1 }),
    pairs: Type.Array(
      closed({
        input: Type.Unknown({ description: "Adheres to the io_schema's `input`." }),
        output: Type.Unknown({ description: "Adheres to the io_schema's `output`." }),
      }),
      { minItems: 1, maxItems: 1000 },
    ),
  },
  { description: "Manifest of a skill's structured output: input/output pairs (seed 001)." },
);
export type SkillResult = Static<typeof SkillResult>;

export const SkillIoSchema = closed(
  {
    skill: SkillName,
    input: anyObject({ description: "JSON Schema 2020-12 of one input." }),
    output: anyObject({ description: "JSON Schema 2020-12 of one output." }),
  },
  { description: "`skills/{skill_name}/io_schema.json` (seed 001)." },
);
export type SkillIoSchema = Static<typeof SkillIoSchema>;

/** A TypeBox schema is already a JSON Schema document; this drops the static type. */
const ioSchema = (skill: string, input: TSchema, output: TSchema): SkillIoSchema => ({
  skill,
  input: { ...input },
  output: { ...output },
});

/** The skills that Antiphon names itself (seed 001 gives Reviewer and QA as examples). */
export const SKILLS: { readonly [S in "reviewer" | "qa" | "brief"]: SkillIoSchema } = {
  reviewer: ioSchema(
    "reviewer",
    closed({
      task_id: Type.String({ minLength: 1 }),
      diff: Type.String({ description: "The change to review; empty: the whole tree is reviewed." }),
      goal: Type.Optional(Type.String()),
      commit: Type.Optional(Type.String({ description: "The commit whose files were read." })),
    }),
    closed({
      decision: oneOf(["accept", "reject"], {
        description: "reject: a finding is an error, or as severe as was asked for.",
      }),
      findings: Type.Array(Finding, { description: "Each quote is in its file, at its line." }),
      dropped: Type.Optional(
        Type.Array(DroppedFinding, { description: "Findings whose quote is not in the tree." }),
      ),
    }),
  ),
  qa: ioSchema(
    "qa",
    closed({ task_id: Type.String({ minLength: 1 }), commands: Type.Array(Type.String({ minLength: 1 })) }),
    closed({ result: oneOf(["PASS", "FAIL"]), details: Type.String() }),
  ),
  brief: ioSchema(
    "brief",
    closed({
      task_id: Type.String({ minLength: 1 }),
      commit: Type.String({ description: "The commit that holds what the connectors answered." }),
      goal: Type.String({ minLength: 1 }),
      topics: Type.Array(Type.String()),
      projects: Type.Array(Type.String()),
      connectors: Type.Array(Type.String()),
      readAt: Type.String(),
    }),
    BriefOutput,
  ),
};
