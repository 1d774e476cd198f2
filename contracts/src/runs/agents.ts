/**
 * The table of agents. The contract `AgentSpec`, the list of kinds and the flags of `antiphon run` derive from it; the
 * Associate's table of adapters must have the same kinds, or it does not compile.
 */
import { Type, type Static, type TObject, type TProperties } from "typebox";
import { Patch } from "../seeds/patch.ts";
import {
  PACK_PROMPTS,
  PackAsks,
  PackHears,
  PackHonoursTools,
  PackNeeds,
  PackTranscript,
} from "../settings/agent-pack.ts";
import { PackTaskTools } from "../settings/pack-task-tools.ts";
import { PackUsage } from "../settings/pack-usage.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { flag, within, type Flag, type RunFlag } from "./run-flag.ts";

const command = Type.String({ minLength: 1, maxLength: 8192 });

const scripted = agent(
  "No model: explicit commands or a given patch.",
  {
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
  [
    flag("--command <cmd>", "texts", "a shell command that edits the work tree (repeatable)", "commands"),
    flag(
      "--patch <file or run>",
      "patch",
      "a unified diff, or a Patch.v0 as JSON; - is stdin; or the id of a run, for the change it left",
      "patch",
    ),
  ],
);

const program = agent(
  "Any program in the sandbox: DirectorTask JSON on stdin, edits /workspace.",
  { argv: Type.Array(Type.String({ maxLength: 8192 }), { minItems: 1, maxItems: 256 }) },
  [
    flag(
      "--program <argv...>",
      "argv",
      "a program in the sandbox image; or write it after a bare --",
      "argv",
    ),
  ],
);

const replay = agent(
  "A recorded session, found by its replay key.",
  { seed: Type.String({ minLength: 1, maxLength: 256, description: "Part of the replay key." }) },
  [
    flag("--seed <s>", "text", "the seed of a recorded session", "seed"),
    flag("--recording <file>", "recording", "store this session (JSON {input, output}) first", "seed"),
  ],
);

const pack = agent(
  "An installed coding agent: a pack with its model filled in.",
  {
    name: Type.String({ pattern: "^[a-z][a-z0-9-]{0,31}$" }),
    install: Type.Array(command, {
      maxItems: 32,
      description: "Commands that install it into the home directory, once for each image.",
    }),
    tools: Type.Array(Type.String({ pattern: "^[A-Za-z0-9._+-]{1,64}$" }), {
      maxItems: 8,
      description: "Programs that installing needs.",
    }),
    path: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 8,
      description: "Directories of its programs.",
    }),
    argv: Type.Array(Type.String({ maxLength: 8192 }), { minItems: 1, maxItems: 64 }),
    prompt: oneOf(PACK_PROMPTS, { description: "How it is told its task." }),
    seed: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          "Part of the replay key of an agent that compiles; another seed asks its model anew. Default: 0.",
      }),
    ),
    env: Type.Record(
      Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" }),
      Type.String({ maxLength: 4096 }),
      {
        maxProperties: 64,
      },
    ),
    junk: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 64,
      description: "Globs of its own files, which are left out of the change.",
    }),
    model: Type.Optional(
      closed(
        {
          host: Type.String({ minLength: 1, maxLength: 253 }),
          name: Type.String({ minLength: 1, maxLength: 128 }),
        },
        { description: "The model that it calls, and where. Such calls need a model budget." },
      ),
    ),
    needs: Type.Optional(PackNeeds),
    transcript: Type.Optional(PackTranscript),
    usage: Type.Optional(PackUsage),
    asks: Type.Optional(PackAsks),
    resume: Type.Optional(
      Type.Array(Type.String({ maxLength: 8192 }), {
        minItems: 1,
        maxItems: 128,
        description:
          "The command that goes on with its newest conversation in the same container, where its prompt is the answer to its question. Default: it is started as at first.",
      }),
    ),
    hears: Type.Optional(PackHears),
    honours_tools: Type.Optional(PackHonoursTools),
    task_tools: Type.Optional(PackTaskTools),
  },
  [
    flag("--model <name>", "text", "the model, instead of the pack's own", "model"),
    flag(
      "--model-host <host>",
      "text",
      "the host of the model calls, instead of the pack's own",
      "model_host",
    ),
  ],
);

export const AGENTS = { scripted, command: program, replay, pack };
export type AgentKind = keyof typeof AGENTS;
export const AGENT_KINDS = Object.keys(AGENTS) as AgentKind[];

type Spec<K extends AgentKind> = { kind: K } & Static<TObject<(typeof AGENTS)[K]["fields"]>>;
/** The agent of one kind. */
export type AgentOf<K extends AgentKind> = { [F in keyof Spec<K>]: Spec<K>[F] };
export type AgentSpec = { [K in AgentKind]: AgentOf<K> }[AgentKind];

export const AgentSpec = Type.Unsafe<AgentSpec>(
  Type.Union(
    AGENT_KINDS.map((kind) => {
      const { description, fields } = AGENTS[kind];
      return closed({ kind: Type.Literal(kind), ...(fields as TProperties) }, { description });
    }),
    { description: "The agent of the run." },
  ),
);

/** The agents' flags, with the kind each of them implies in its help. */
export const AGENT_FLAGS: readonly RunFlag[] = within(
  "agent",
  flag(
    "--agent <name>",
    "text",
    "an agent pack (`antiphon agents list`) or its directory, perhaps with its model (pi@small, pi@small@models.example); with several (a,b, or the option again), a rejected attempt hands over to the next; scripted, command and replay are implied by the options below",
  ),
  ...AGENT_KINDS.flatMap((kind) =>
    AGENTS[kind].flags.map((each) => ({ ...each, help: `agent ${kind}: ${each.help}` })),
  ),
);

function agent<F extends TProperties>(description: string, fields: F, flags: readonly Flag[]) {
  return { description, fields, flags };
}
