/**
 * Skills that judge a verified change before it lands: a reviewer, and a QA. A skill is an agent in a sandbox of its own that sees
 * the change and its contract. Its word can only keep a change from landing; the clean room has passed before.
 */
import { Type, type Static } from "typebox";
import type { Severity } from "../reviews/findings.ts";
import { BlobRef } from "../shapes/refs.ts";
import { CommitId, Epoch, TaskId } from "../shapes/ids.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { AgentSpec } from "./agents.ts";

export const GATE_SKILLS = ["reviewer", "qa"] as const;
export type GateSkill = (typeof GATE_SKILLS)[number];
export const GateSkill = oneOf([...GATE_SKILLS], {
  description: "reviewer: looks for faults in the change. qa: tries whether it does what its contract says.",
});

/** The findings that keep a change from landing if nothing else is said. */
export const DEFAULT_BLOCKS: Severity = "error";

const blocks = oneOf(["error", "warning", "info"], {
  description: "The least severe finding of a reviewer that keeps the change from landing. Default: error.",
});

export const GateAgent = Type.Unsafe<AgentSpec>({
  ...AgentSpec,
  description:
    "Who judges, in a sandbox of its own. Default: the judge of the policy, else the agent of the run, if that may judge.",
});

export const SkillGates = closed(
  {
    skills: Type.Array(GateSkill, {
      maxItems: 2,
      uniqueItems: true,
      description: "In this order; the first that blocks spares the others.",
    }),
    blocks: Type.Optional(blocks),
    agent: Type.Optional(GateAgent),
  },
  { description: "Skills that judge each verified change before it lands." },
);
export type SkillGates = Static<typeof SkillGates>;

export const RepositoryGates = Type.Array(GateSkill, {
  maxItems: 2,
  uniqueItems: true,
  description: "Skills that judge each verified change of the repository before it lands.",
});

export const PlannedGate = closed(
  {
    skill: GateSkill,
    of: Type.Unsafe<TaskId>({ ...TaskId, description: "The task whose change is judged." }),
    blocks,
    paths: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        minItems: 1,
        maxItems: 256,
        description: "Only changes that touch one of these globs are judged. Absent: every change.",
      }),
    ),
  },
  { description: "The task is a skill that judges the verified change of another task." },
);
export type PlannedGate = Static<typeof PlannedGate>;

export const GateOrder = closed(
  {
    skill: GateSkill,
    task: TaskId,
    attempt: Epoch,
    integration: Type.Optional({
      ...Epoch,
      description:
        "The change stands on a target branch that moved: the try to land the run there. Absent: the change as its attempt made it.",
    }),
    commit: { ...CommitId, description: "The verified commit that would land." },
    diff: Type.Unsafe<BlobRef>({ ...BlobRef, description: "The change, as the clean room verified it." }),
  },
  { description: "What a skill judges. The base of the attempt has the files of `commit`." },
);
export type GateOrder = Static<typeof GateOrder>;

/** `T-001-reviewer`. */
export function gateTaskId(of: string, skill: GateSkill): string {
  return `${of}-${skill}`;
}

/** The file with which a QA ends. */
export const QA_FILE = "qa.json";

export const QaReport = closed(
  {
    result: oneOf(["PASS", "FAIL"], { description: "FAIL: the change does not do what its contract says." }),
    details: Type.String({
      minLength: 1,
      maxLength: 8192,
      description: "What was tried, and what came of it.",
    }),
  },
  { description: "`qa.json`: what a QA found, as its agent writes it." },
);
export type QaReport = Static<typeof QaReport>;
