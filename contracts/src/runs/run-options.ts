/**
 * The table of run options: how to carry out a run. From a row derive the contract `RunOptions` (part of the `intent`
 * record), the place where the gateway looks for the option, the flags of `antiphon run` and the reference page.
 */
import { Type, type Static, type TOptional, type TSchema } from "typebox";
import { limits } from "../limits.ts";
import { RunId } from "../shapes/ids.ts";
import { RepoRef } from "../shapes/refs.ts";
import { EgressProfile } from "../seeds/director-task.ts";
import { TASK_TOOL_NAMES } from "../seeds/task-tool.ts";
import { ServiceSpec } from "../settings/service-spec.ts";
import { closed, oneOf, type Filled } from "../shapes/shape.ts";
import { Workflow } from "../seeds/router-contract.ts";
import { AGENT_FLAGS, AgentSpec } from "./agents.ts";
import { Approvals } from "./approvals.ts";
import { Command } from "./command.ts";
import { Fork } from "./fork.ts";
import { SkillGates } from "./skill-gates.ts";
import { flag, within, type RunFlag } from "./run-flag.ts";
import { TaskSpec } from "./task-spec.ts";

export type { RunFlag } from "./run-flag.ts";

const MEMORY_MIB = limits.sandboxMemoryBytes / 1024 / 1024;
const glob = Type.String({ minLength: 1, maxLength: 1024 });

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

/** Variables of the image, or of a program's settings. They are stored with the run, so they are no place for a secret. */
export const RunVariables = Type.Record(
  Type.String({ pattern: "^(?!ANTIPHON_)[A-Za-z_][A-Za-z0-9_]{0,63}$" }),
  Type.String({ maxLength: 4096 }),
  {
    maxProperties: 64,
    description: "Variables of the agent and the checks. They are part of the record: no secrets.",
  },
);

/** Commits of history in a sandbox if the run does not say. Enough for log and blame of recent work. */
export const DEFAULT_HISTORY = 50;

/** Where a caller writes an option; null: the gateway writes it. */
export type OptionPlace = "inputs" | "constraints" | null;

/** `implied`: the fields of an object that its flags leave open. */
interface Option<S extends TSchema> {
  readonly place: OptionPlace;
  readonly schema: S;
  readonly flags: readonly RunFlag[];
  readonly implied: object;
}

function required<S extends TSchema>(place: OptionPlace, schema: S, flags: readonly RunFlag[]): Option<S> {
  return { place, schema, flags, implied: {} };
}

function option<S extends TSchema>(
  place: OptionPlace,
  schema: S,
  flags: readonly RunFlag[] = [],
  implied: object = {},
): Option<TOptional<S>> {
  return { place, schema: Type.Optional(schema) as TOptional<S>, flags, implied };
}

const text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description });
const seconds = (description: string, standard: { maximum: number; default?: number }) =>
  Type.Integer({ minimum: 1, ...standard, description });
const globs = (description: string) => Type.Array(glob, { default: [], maxItems: 256, description });
const permission = (description: string) => Type.Boolean({ default: false, description });

export const RUN_OPTIONS = {
  repo: required("inputs", RepoRef, []),
  agent: required("inputs", AgentSpec, AGENT_FLAGS),
  next_agents: option(
    "inputs",
    Type.Array(AgentSpec, {
      maxItems: 7,
      description:
        "Each rejected attempt hands its task over to the next of them; the last one keeps it. Not for tasks with an agent of their own.",
    }),
  ),
  checks: option(
    "inputs",
    Type.Array(Command, {
      default: [],
      maxItems: 64,
      description: "Commands that prove success. Empty: discover one.",
    }),
    within(
      "proof",
      flag(
        "--check <cmd>",
        "texts",
        "a command that verifies success (repeatable); auto-detected if omitted, and asked for if none is found",
      ),
    ),
  ),
  base_ref: option(
    "inputs",
    text(255, "Start here instead of at HEAD."),
    within("work", flag("--base <ref>", "text", "start from this branch, tag or commit instead of HEAD")),
  ),
  land_on: option(
    "inputs",
    text(255, "Also move this branch when the run succeeds."),
    within("work", flag("--land <branch>", "text", "on success, also move this branch to the new commit")),
  ),
  fork: option("inputs", Fork),
  again_of: option(
    "inputs",
    Type.Unsafe<RunId>({
      ...RunId,
      description:
        "The run of the same repository whose task is done again, with what people answered about its proof. Who answered cannot approve the change here.",
    }),
  ),
  race: option(
    "inputs",
    Type.String({
      pattern: "^race_[a-z0-9]{20}$",
      description:
        "Of the runs of one task with this name, at most one lands: the first whose verified commit becomes the branch `antiphon/<race>`.",
    }),
  ),
  workflow: option(
    "inputs",
    Workflow,
    within(
      "work",
      flag("--workflow <w>", "word", "BUILD, DEBUG, REVIEW or PLAN; chosen by the Router if omitted"),
    ),
  ),
  tasks: option(
    "inputs",
    Type.Array(TaskSpec, {
      minItems: 1,
      maxItems: 256,
      description: "The task graph, instead of a plan by the Router.",
    }),
    within(
      "work",
      flag("--tasks <file>", "tasks", "read the task graph from a YAML or JSON file instead of planning it"),
      flag(
        "--plan <file|run>",
        "plan",
        "carry out a plan: a YAML or JSON file, the directory of an export, or a PLAN run",
      ),
    ),
  ),
  max_attempts: option(
    "constraints",
    Type.Integer({
      minimum: 1,
      maximum: 20,
      default: 3,
      description: "Epochs per task that may reach a verdict.",
    }),
    within("agent", flag("--attempts <n>", "number", "maximum attempts per task (default 3)")),
  ),
  time_budget_s: option(
    "constraints",
    seconds("Seconds per attempt.", { maximum: 86_400, default: 300 }),
    within("agent", flag("--time-budget <seconds>", "number", "time limit of one attempt (default 300)")),
  ),
  grants: option(
    "inputs",
    globs("Globs of protected paths the run may change."),
    within(
      "work",
      flag("--grant <glob>", "texts", "let the run change protected paths: tests, CI, config (repeatable)"),
    ),
  ),
  scope: option(
    "inputs",
    globs("Globs of paths the run may change. Empty: all."),
    within("work", flag("--scope <glob>", "texts", "let the run change only these paths (repeatable)")),
  ),
  allow_unverified: option(
    "constraints",
    permission("Land although no check could be found."),
    within("proof", flag("--allow-unverified", "switch", "land the change even if no check is found")),
  ),
  allow_unproven: option(
    "constraints",
    permission("Land although the check also passes on the base."),
    within(
      "proof",
      flag("--allow-unproven", "switch", "land the change even if the check also passes without it"),
    ),
  ),
  require_proof: option(
    "constraints",
    oneOf(["regression", "fail-to-pass"], {
      description:
        "What the checks must prove about a change, so that it lands without people's approval. A DEBUG run of one task always demands `fail-to-pass`.",
    }),
    within(
      "proof",
      flag("--require-proof <p>", "text", "land only what the checks prove: `regression` or `fail-to-pass`"),
    ),
  ),
  trials: option(
    "constraints",
    Type.Integer({
      minimum: 1,
      maximum: 64,
      description: "Run the checks exactly so often. Default: at least twice, more often if they are short.",
    }),
    within(
      "proof",
      flag(
        "--trials <n>",
        "number",
        "run the checks exactly n times (default: twice or more, by their time)",
      ),
    ),
  ),
  allow_dirty: option(
    "constraints",
    permission("Start although the work tree has uncommitted changes."),
    within(
      "work",
      flag("--allow-dirty", "switch", "ignore uncommitted changes and start from the last commit"),
    ),
  ),
  egress: option(
    "constraints",
    EgressProfile,
    within(
      "sandbox",
      flag(
        "--egress <profile>",
        "text",
        "network access of the sandbox: none (default), git+pkg or allowlist",
        "mode",
      ),
      flag("--allow-host <host>", "texts", "let the sandbox reach this host (repeatable)", "allowlist"),
    ),
    { mode: "allowlist", allowlist: [] },
  ),
  allowed_tools: option(
    "constraints",
    Type.Array(oneOf([...TASK_TOOL_NAMES]), {
      maxItems: 16,
      description:
        "Tools of the agents that do the work. Without `bash`, only an agent that is held to its tools is taken. Default: all. A task may narrow them.",
    }),
    within(
      "agent",
      flag(
        "--tools <names>",
        "list",
        `the tools of the agent, with commas: ${TASK_TOOL_NAMES.join(", ")} (default: all)`,
      ),
    ),
  ),
  model_budget: option(
    "constraints",
    ModelBudget,
    within(
      "agent",
      flag(
        "--model-tokens <n>",
        "number",
        "token budget for all model calls of the run (default: no model calls)",
        "tokens",
      ),
      flag("--model-usd <amount>", "usd", "budget in US dollars for all model calls of the run", "usd_micro"),
    ),
  ),
  continue_change: option(
    "constraints",
    Type.Boolean({
      description:
        "Each further attempt starts from the change of the one before instead of from the original files. Default: false.",
    }),
    within(
      "agent",
      flag("--continue", "switch", "let each further attempt start from the change of the one before"),
    ),
  ),
  record_calls: option(
    "constraints",
    Type.Boolean({
      description:
        "Record the model calls of the run in its evidence, without secrets, so that it can be replayed. Default: true.",
    }),
    within(
      "agent",
      flag("--no-record", "never", "do not record the run's model calls; it cannot be replayed then"),
    ),
  ),
  approvals: option(
    "constraints",
    Approvals,
    within(
      "people",
      flag(
        "--require-approval [n]",
        "count",
        "land nothing until n different people have approved it (default 1)",
        "needed",
      ),
    ),
  ),
  gates: option(
    "inputs",
    SkillGates,
    within(
      "people",
      flag(
        "--gate <skill>",
        "texts",
        "a skill that judges each verified change before it lands: reviewer or qa (repeatable)",
        "skills",
      ),
      flag(
        "--gate-severity <s>",
        "text",
        "the least severe finding that keeps a change from landing: error (default), warning or info",
        "blocks",
      ),
      flag(
        "--gate-agent <name>",
        "gate-agent",
        "the agent pack that judges; default: the agent of the run",
        "agent",
      ),
    ),
    { skills: [] },
  ),
  image: option(
    "inputs",
    text(512, "Sandbox image, from the allowlist."),
    within(
      "sandbox",
      flag("--image <ref>", "text", "an allowed sandbox image; `default` is the standard image"),
    ),
  ),
  env: option(
    "inputs",
    RunVariables,
    within(
      "sandbox",
      flag(
        "--env <name=value>",
        "pairs",
        "set this variable for the agent and the checks (repeatable); no secrets",
      ),
    ),
  ),
  memory_mib: option(
    "inputs",
    Type.Integer({
      minimum: 64,
      maximum: limits.sandboxMemoryMostBytes / 1024 / 1024,
      description: `Memory of each sandbox of the run, in MiB. Default: ${MEMORY_MIB}.`,
    }),
    within(
      "sandbox",
      flag("--memory <MiB>", "number", `memory of each sandbox of the run (default ${MEMORY_MIB})`, null),
    ),
  ),
  history: option(
    "inputs",
    Type.Integer({
      minimum: 0,
      maximum: limits.historyCommits,
      description: "Commits of history in the sandbox's repository; 0: it has none. Default: 50.",
    }),
    within(
      "sandbox",
      flag(
        "--history <n>",
        "number",
        "commits of history in the sandbox's git repository (default 50; 0: none)",
      ),
    ),
  ),
  verify_git: option(
    "inputs",
    Type.Boolean({
      description:
        "Give the checks in the clean room a fresh repository. Default: `verify.git` of antiphon.yaml.",
    }),
    within("proof", flag("--verify-git", "switch", "give the checks in the clean room a git repository too")),
  ),
  setup: option(
    "inputs",
    Type.Array(Command, {
      maxItems: 64,
      description:
        "Commands that prepare the environment. Empty: none. Default: `setup` of antiphon.yaml, else what the lock files and manifests ask for.",
    }),
    within(
      "sandbox",
      flag("--setup <command>", "texts", "prepare the environment with this command (repeatable)"),
      flag("--no-setup", "off", "prepare no environment"),
    ),
  ),
  image_note: option(
    null,
    text(2048, "Written by the gateway: why the run uses an image that neither it nor the repository names."),
  ),
  image_lacks: option(
    null,
    Type.Array(text(64, "A program."), {
      maxItems: 64,
      description:
        "Written by the gateway: programs that the image lacks. A check that the repository does not declare is passed over if it needs one, and so is the setup that does.",
    }),
  ),
  task_image_lacks: option(
    null,
    Type.Record(
      Type.String({ minLength: 1, maxLength: 512 }),
      Type.Array(text(64, "A program."), { maxItems: 64 }),
      {
        maxProperties: 64,
        description: "Written by the gateway: the same by image, for the images that tasks name.",
      },
    ),
  ),
  services: option(
    null,
    Type.Array(ServiceSpec, {
      maxItems: limits.services,
      description: "Written by the gateway: `services` of antiphon.yaml, beside the agent and the checks.",
    }),
  ),
  absent: option(
    null,
    Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
      maxItems: 16,
      description:
        "Written by the gateway: submodules and Git LFS files whose content is not on the Director's machine, each with a remedy.",
    }),
  ),
  priority: option(
    "inputs",
    oneOf(["interactive", "batch"], {
      description: "Whether a person waits for it; default: interactive. Batch keeps a guaranteed share.",
    }),
  ),
  tenant: option(
    "inputs",
    Type.String({
      pattern: "^[a-z0-9][a-z0-9_-]{0,31}$",
      description: "The owner of the work; tenants take turns. Default: `default`.",
    }),
  ),
  run_time_budget_s: option(
    "constraints",
    seconds("Seconds of wall-clock time from the intent to the end of the run. Default: no limit.", {
      maximum: 2_592_000,
    }),
  ),
  end_without_check: option(
    "constraints",
    Type.Boolean({
      description:
        "A run that no check could prove ends before its first attempt. Default: it asks for the check and waits.",
    }),
    within(
      "proof",
      flag("--end-without-check", "switch", "if no check is found, end the run instead of asking for one"),
    ),
  ),
  question_timeout_s: option(
    "constraints",
    seconds("Seconds a question waits for its answer. Default: seven days.", { maximum: 2_592_000 }),
  ),
};
export type RunOptionName = keyof typeof RUN_OPTIONS;
export const RUN_OPTION_NAMES = Object.keys(RUN_OPTIONS) as RunOptionName[];

type Schemas = { [N in RunOptionName]: (typeof RUN_OPTIONS)[N]["schema"] };

/** All flags of the table, in its order. */
export const RUN_FLAGS: readonly RunFlag[] = RUN_OPTION_NAMES.flatMap((name) => RUN_OPTIONS[name].flags);

export const RunOptions = closed(
  Object.fromEntries(RUN_OPTION_NAMES.map((name) => [name, RUN_OPTIONS[name].schema])) as Schemas,
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
