/** How many people approve a verified change, and why: by the run, by a task of its plan, or by the deployment's policy. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";
import { GateAgent, GateSkill } from "./skill-gates.ts";

const people = Type.Integer({
  minimum: 1,
  maximum: 16,
  description: "Number of different people who must approve.",
});
const globs = Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { minItems: 1, maxItems: 256 });

export const Approvals = closed(
  { needed: people },
  {
    description:
      "People approve a verified change before it lands. If people are told apart, the requester of the run does not count.",
  },
);
export type Approvals = Static<typeof Approvals>;

export const ApprovalNeed = closed(
  {
    needed: people,
    reasons: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 64,
      description: "Why people decide, one sentence each.",
    }),
  },
  {
    description:
      "What a plan or a policy demands of a change that passed, besides the run's own `approvals`.",
  },
);
export type ApprovalNeed = Static<typeof ApprovalNeed>;

export const RiskClass = closed(
  {
    paths: Type.Optional({ ...globs, description: "Every file of the change is below one of these globs." }),
    maxFiles: Type.Optional(Type.Integer({ minimum: 0, description: "Files of the change." })),
    maxLines: Type.Optional(Type.Integer({ minimum: 0, description: "Lines added and removed." })),
    proof: Type.Optional(
      oneOf(["regression", "fail-to-pass"], { description: "What the checks prove at least." }),
    ),
  },
  {
    description: "A class of changes that land without people. A change is in it if all its conditions hold.",
  },
);
export type RiskClass = Static<typeof RiskClass>;

export const Gate = closed(
  {
    name: Type.String({ minLength: 1, maxLength: 64, description: "What people see: `security`, `schema`." }),
    paths: Type.Optional({
      ...globs,
      description: "A change that touches one of these. Absent: every change.",
    }),
    needed: Type.Optional({ ...people, description: "How many people. Default: 1; with `skill`: none." }),
    skill: Type.Optional({
      ...GateSkill,
      description: "This skill judges the change, instead of people. With `needed`, both decide.",
    }),
    blocks: Type.Optional(
      oneOf(["error", "warning", "info"], {
        description:
          "With `skill`: the least severe finding that keeps the change from landing. Default: error.",
      }),
    ),
    agent: Type.Optional({
      ...GateAgent,
      description:
        "With `skill`: who judges. Default: the `judge` of the profile, else whom the run names, if that may judge.",
    }),
  },
  { description: "A decision of people, or of a skill, that certain changes need before they land." },
);
export type Gate = Static<typeof Gate>;
