/** `intent`: a run was asked for. The first record of every run. */
import { Type, type Static } from "typebox";
import { Digest, IntentId, RunId } from "../shapes/ids.ts";
import { RepoBase } from "../shapes/refs.ts";
import { Gate, RiskClass } from "../runs/approvals.ts";
import { NarrowedBudget } from "../runs/narrowed-budget.ts";
import { RunOptions } from "../runs/run-options.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { Intent } from "../seeds/intent.ts";

/** A policy's demands on a change. They can be checked only once the change exists, so the Director checks them. */
export const PolicyBounds = closed(
  {
    profiles: Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 16,
      description: "Names of the profiles that allowed the run.",
    }),
    digest: Type.Optional({
      ...Digest,
      description:
        "Of the deployment's profiles that allowed the run. If they change, its approvals are stale.",
    }),
    max_files: Type.Optional(Type.Integer({ minimum: 1, description: "Files of one commit." })),
    max_lines: Type.Optional(
      Type.Integer({ minimum: 1, description: "Lines added and removed by one commit." }),
    ),
    require_proof: Type.Optional(oneOf(["nothing", "regression", "fail-to-pass"])),
    min_trials: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 64, description: "Trials of the checks." }),
    ),
    auto_land: Type.Optional(
      Type.Array(RiskClass, {
        maxItems: 16,
        description: "A change that is not in all of these classes waits for a person.",
      }),
    ),
    gates: Type.Optional(
      Type.Array(Gate, { maxItems: 64, description: "Decisions of people that certain changes need." }),
    ),
    own_judges: Type.Optional(
      Type.Boolean({
        description:
          "The run may have its changes judged by programs of its own. Else no command of a change prepares what a skill runs in.",
      }),
    ),
    protected_paths: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        maxItems: 1024,
        description: "Globs of paths that no change may touch, even with a grant.",
      }),
    ),
  },
  { description: "Bounds of the deployment's policy on what a run may land." },
);
export type PolicyBounds = Static<typeof PolicyBounds>;

export const IntentBody = closed(
  {
    intentId: IntentId,
    intent: Intent,
    options: RunOptions,
    base: RepoBase,
    principal: Type.String({ minLength: 1, maxLength: 256, description: "Who asked." }),
    retry_of: Type.Optional(RunId),
    asked_by: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        maxItems: 1024,
        description:
          "Who answered a question about the proof of a run that this one retries, forks or does again. Their approval does not count.",
      }),
    ),
    narrowed: Type.Optional(
      Type.Array(NarrowedBudget, {
        minItems: 1,
        maxItems: 5,
        description:
          "Budgets of the run that this one retries or forks, of which the policy allows less by now.",
      }),
    ),
    policy: Type.Optional(PolicyBounds),
  },
  { description: "A run was asked for. Written by the gateway." },
);
export type IntentBody = {
  intentId: string;
  intent: Intent;
  options: RunOptions;
  base: RepoBase;
  principal: string;
  /** The failed run that this one retries. */
  retry_of?: string;
  /** Who answered about the proof of a run that this one retries, forks or does again, however many runs ago. */
  asked_by?: string[];
  narrowed?: NarrowedBudget[];
  policy?: PolicyBounds;
};
