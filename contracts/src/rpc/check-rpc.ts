/**
 * A check without a run: `POST /checks` at the gateway, and `antiphon.v1.rpc.repo.check`, by which the gateway asks a
 * Director. Nothing of it is in the journal, and no ref moves.
 */
import { Type, type Static } from "typebox";
import { CheckOutcome } from "../journal/check-outcome.ts";
import { RunOptions } from "../runs/run-options.ts";
import { ErrorCode } from "../shapes/ids.ts";
import { Services } from "../settings/service-spec.ts";
import { RepoRef } from "../shapes/refs.ts";
import { closed, nullable } from "../shapes/shape.ts";

const commands = RunOptions.properties.checks;
const patch = Type.String({
  minLength: 1,
  description: "A unified diff against the commit; it may change any path that a change can have.",
});

export const CheckRequest = closed(
  {
    repo: Type.String({ pattern: "^/", maxLength: 4096, description: "Path of the repository." }),
    patch: Type.Optional(patch),
    checks: commands,
    base_ref: RunOptions.properties.base_ref,
    image: RunOptions.properties.image,
    time_budget_s: RunOptions.properties.time_budget_s,
  },
  { description: "Run a repository's checks in a clean room, on a commit with a change or without one." },
);
export type CheckRequest = Static<typeof CheckRequest>;

const checked = {
  commit: Type.String({
    pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$",
    description: "The commit below the change.",
  }),
  discovered: Type.Boolean({ description: "The repository named the commands, not the caller." }),
  checks: Type.Array(CheckOutcome, {
    description: "In the order in which they ran. Empty: no check was found.",
  }),
  others: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 64,
      description:
        "Commands that look like the repository's tests too, if the one that was discovered did not pass.",
    }),
  ),
};

export const CheckReport = closed(
  {
    checkId: Type.String({ pattern: "^chk_[a-z0-9]{1,32}$" }),
    passed: Type.Boolean({ description: "There was a check, and all of them exited with 0." }),
    image: nullable(Type.String({ minLength: 1 }), { description: "null: the standard image." }),
    image_note: Type.Optional(
      Type.String({ description: "Why this image, where neither the caller nor the repository names one." }),
    ),
    ...checked,
  },
  { description: "What the checks did in the clean room." },
);
export type CheckReport = Static<typeof CheckReport>;

export const RepoCheckRequest = closed(
  {
    checkId: Type.String({ pattern: "^chk_[a-z0-9]{1,32}$" }),
    repo: RepoRef,
    commit: Type.String({ pattern: "^[0-9a-f]{40}([0-9a-f]{24})?$" }),
    patch: nullable(patch),
    checks: Type.Array(Type.String({ minLength: 1 }), { maxItems: 64, description: "Empty: discover one." }),
    image: nullable(Type.String({ minLength: 1 })),
    lacks: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: 64,
        description: "Programs that the image lacks: what needs one is not discovered.",
      }),
    ),
    git: Type.Optional(Type.Boolean({ description: "The checks find a git repository." })),
    services: Type.Optional(Services),
    budgetMs: Type.Integer({ minimum: 1, description: "For all checks together." }),
  },
  { description: "The gateway asks a Director to check a commit with a change in a clean room." },
);
export type RepoCheckRequest = Static<typeof RepoCheckRequest>;

export const RepoCheckEvent = Type.Union(
  [
    closed({ kind: Type.Literal("alive") }),
    closed({ kind: Type.Literal("done"), ...checked }),
    closed({
      ok: Type.Literal(false),
      code: ErrorCode,
      message: Type.String(),
      remedy: Type.String(),
    }),
  ],
  { description: "A sign of life, the outcome, or why there is none." },
);
export type RepoCheckEvent = Static<typeof RepoCheckEvent>;
export type RepoChecked = Extract<RepoCheckEvent, { kind: "done" }>;
