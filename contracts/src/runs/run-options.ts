/** How to carry out a run: repository, agent, checks, limits. Part of the `intent` record. */
import { Type, type Static } from "typebox";
import { limits } from "../limits.ts";
import { RepoRef } from "../shapes/refs.ts";
import { EgressProfile } from "../seeds/director-task.ts";
import { closed, oneOf, type Filled } from "../shapes/shape.ts";
import { Patch } from "../seeds/patch.ts";
import { Workflow } from "../seeds/router-contract.ts";

const command = Type.String({ minLength: 1, maxLength: 8192 });
const glob = Type.String({ minLength: 1, maxLength: 1024 });

export const ScriptedAgent = closed(
  {
    kind: Type.Literal("scripted"),
    commands: Type.Optional(
      Type.Array(command, { maxItems: 64, description: "Shell commands that edit the work tree." }),
    ),
    patch: Type.Optional(Patch),
    claim: Type.Optional(
      oneOf(["honest", "ok"], {
        description: "ok: report success without verifying. Used to prove that the clean room ignores it.",
      }),
    ),
    ask: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: "A question: the first epoch answers needs_input.",
      }),
    ),
  },
  { description: "No model: explicit commands or a given patch." },
);

export const CommandAgent = closed(
  {
    kind: Type.Literal("command"),
    argv: Type.Array(Type.String({ maxLength: 8192 }), { minItems: 1, maxItems: 256 }),
  },
  { description: "Any program in the sandbox: DirectorTask JSON on stdin, edits /workspace." },
);

export const ReplayAgent = closed(
  {
    kind: Type.Literal("replay"),
    seed: Type.String({ minLength: 1, maxLength: 256, description: "Part of the replay key." }),
  },
  { description: "A recorded session, found by its replay key." },
);

export const AgentSpec = Type.Union([ScriptedAgent, CommandAgent, ReplayAgent], {
  description: "The agent of the run.",
});
export type AgentSpec = Static<typeof AgentSpec>;

export const TaskSpec = closed(
  {
    id: Type.Integer({ minimum: 1, maximum: 1000 }),
    description: Type.String({ minLength: 1, maxLength: 8192 }),
    dependencies: Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), { maxItems: 1000 }),
    agent: Type.Optional(AgentSpec),
    checks: Type.Optional(Type.Array(command, { maxItems: 64 })),
    kind: Type.Optional(oneOf(["edit_repo", "run", "inspect"])),
  },
  { description: "A task given by the user instead of planned by the Router." },
);
export type TaskSpec = Static<typeof TaskSpec>;

export const ModelBudget = closed(
  {
    tokens: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: "Tokens in and out together." }),
    ),
    usd_micro: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000_000_000, description: "Millionths of a US dollar." }),
    ),
  },
  {
    description:
      "Total budget of a run's model calls. With both, the first one reached applies; with neither, calls are refused.",
  },
);
export type ModelBudget = Static<typeof ModelBudget>;

export const Approvals = closed(
  {
    needed: Type.Integer({
      minimum: 1,
      maximum: 16,
      description: "Number of different people who must approve.",
    }),
  },
  {
    description:
      "People approve a verified change before it lands. If people are told apart, the requester of the run does not count.",
  },
);
export type Approvals = Static<typeof Approvals>;

/** Commits of history in a sandbox if the run does not say. Enough for log and blame of recent work. */
export const DEFAULT_HISTORY = 50;

export const RunOptions = closed(
  {
    repo: RepoRef,
    base_ref: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "Start here instead of at HEAD." }),
    ),
    land_on: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: "Also move this branch when the run succeeds.",
      }),
    ),
    agent: AgentSpec,
    checks: Type.Optional(
      Type.Array(command, {
        default: [],
        maxItems: 64,
        description: "Commands that prove success. Empty: discover one.",
      }),
    ),
    workflow: Type.Optional(Workflow),
    tasks: Type.Optional(Type.Array(TaskSpec, { minItems: 1, maxItems: 256 })),
    max_attempts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 20,
        default: 3,
        description: "Epochs per task that may reach a verdict.",
      }),
    ),
    time_budget_s: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, default: 300, description: "Seconds per attempt." }),
    ),
    grants: Type.Optional(
      Type.Array(glob, {
        default: [],
        maxItems: 256,
        description: "Globs of protected paths the run may change.",
      }),
    ),
    scope: Type.Optional(
      Type.Array(glob, {
        default: [],
        maxItems: 256,
        description: "Globs of paths the run may change. Empty: all.",
      }),
    ),
    allow_unverified: Type.Optional(
      Type.Boolean({ default: false, description: "Land although no check could be found." }),
    ),
    allow_unproven: Type.Optional(
      Type.Boolean({ default: false, description: "Land although the check also passes on the base." }),
    ),
    require_proof: Type.Optional(
      oneOf(["regression", "fail-to-pass"], {
        description:
          "What the checks must prove about a change, so that it lands without people's approval. A DEBUG run of one task always demands `fail-to-pass`.",
      }),
    ),
    trials: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        description:
          "Run the checks exactly so often. Default: at least twice, more often if they are short.",
      }),
    ),
    allow_dirty: Type.Optional(
      Type.Boolean({ default: false, description: "Start although the work tree has uncommitted changes." }),
    ),
    image: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: "Sandbox image, from the allowlist." }),
    ),
    setup: Type.Optional(
      Type.Array(command, {
        maxItems: 64,
        description:
          "Commands that prepare the environment. Empty: none. Default: `setup` of antiphon.yaml, else what the lock files and manifests ask for.",
      }),
    ),
    image_note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          "Written by the gateway: why the run does not use the image of the repository's devcontainer.json.",
      }),
    ),
    history: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.historyCommits,
        description: "Commits of history in the sandbox's repository; 0: it has none. Default: 50.",
      }),
    ),
    verify_git: Type.Optional(
      Type.Boolean({
        description:
          "Give the checks in the clean room a fresh repository. Default: `verify.git` of antiphon.yaml.",
      }),
    ),
    absent: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
        maxItems: 16,
        description:
          "Written by the gateway: submodules and Git LFS files whose content is not on the Director's machine, each with a remedy.",
      }),
    ),
    priority: Type.Optional(
      oneOf(["interactive", "batch"], {
        description: "Whether a person waits for it; default: interactive. Batch keeps a guaranteed share.",
      }),
    ),
    tenant: Type.Optional(
      Type.String({
        pattern: "^[a-z0-9][a-z0-9_-]{0,31}$",
        description: "The owner of the work; tenants take turns. Default: `default`.",
      }),
    ),
    run_time_budget_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_592_000,
        description: "Seconds of wall-clock time from the intent to the end of the run. Default: no limit.",
      }),
    ),
    question_timeout_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_592_000,
        description: "Seconds a question waits for its answer. Default: seven days.",
      }),
    ),
    egress: Type.Optional(EgressProfile),
    model_budget: Type.Optional(ModelBudget),
    approvals: Type.Optional(Approvals),
  },
  { description: "How to carry out a run." },
);
export type RunOptionsInput = Static<typeof RunOptions>;
export type RunOptions = Filled<
  Omit<RunOptionsInput, "egress">,
  | "checks"
  | "max_attempts"
  | "time_budget_s"
  | "grants"
  | "scope"
  | "allow_unverified"
  | "allow_unproven"
  | "allow_dirty"
> & { egress?: EgressProfile };
