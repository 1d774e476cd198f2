/**
 * `agent.yaml`: an agent pack. It says how a coding agent is installed, started and told its task, so that it works on any
 * repository without an image of its own.
 */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";
import { PackTaskTools } from "./pack-task-tools.ts";
import { PackUsage } from "./pack-usage.ts";
import { inWorkTree } from "./work-tree-glob.ts";

const line = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[^\\n\\r\\u0000]*$", description });
const pinned = (pattern: string, description: string) =>
  Type.Optional(
    Type.Array(Type.String({ pattern, maxLength: 256 }), { minItems: 1, maxItems: 16, description }),
  );

export const PackInstall = closed(
  {
    npm: pinned(
      "^(@[a-z0-9._~-]+/)?[a-z0-9._~-]+@[0-9][0-9A-Za-z.+-]*$",
      "Packages of npm with their exact versions: `name@1.2.3`.",
    ),
    pip: pinned(
      "^[A-Za-z0-9._-]+(\\[[A-Za-z0-9,._-]+\\])?==[0-9][0-9A-Za-z.+!-]*$",
      "Packages of PyPI with their exact versions: `name==1.2.3`.",
    ),
    lock: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
        description:
          "A file beside `agent.yaml` with what `pip` needs: each package with its version and hashes, as `pip install --require-hashes` reads it. Nothing else is installed. They are kept with the Python that installed them.",
      }),
    ),
    npm_lock: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
        description:
          "A file beside `agent.yaml` with what `npm` needs: each package with its version and integrity, as `npm ci` reads it, and the Node that runs them. Nothing else is installed.",
      }),
    ),
    commands: Type.Optional(
      Type.Array(line(8192, "Runs in the home directory."), {
        minItems: 1,
        maxItems: 16,
        description: "Shell commands, for an agent that comes another way.",
      }),
    ),
    files: Type.Optional(
      Type.Array(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$" }), {
        minItems: 1,
        maxItems: 16,
        description:
          "Small files beside `agent.yaml`, its own programs: they are put into `${files}`, from where they find the packages of `npm`.",
      }),
    ),
  },
  {
    description:
      "How it is installed: into the home directory, with a network for downloads only. Packages with a lock are installed once for all images, others once for each. Without it, the image has the agent.",
  },
);

export const PackModel = closed(
  {
    shape: oneOf(["openai", "anthropic", "gemini"], { description: "The API that it speaks." }),
    host: line(
      253,
      "The host of its calls: `${model_host}` in `argv` and `env`. `--model-host` replaces it.",
    ),
    name: line(128, "Its model: `${model}` in `argv` and `env`. `--model` replaces it."),
  },
  { description: "Where its model traffic goes. The egress gateway meters it and adds the key." },
);

export const PackTranscript = closed(
  {
    file: Type.Optional(
      inWorkTree(
        "A glob of one file in the work tree, which is then left out of the change. Default: standard output.",
      ),
    ),
    format: oneOf(["jsonl", "json", "text"], { description: "jsonl: one event a line." }),
  },
  { description: "Its own account of the session, which is kept as evidence." },
);
export type PackTranscript = Static<typeof PackTranscript>;

export const PACK_PROMPTS = ["stdin", "argument", "compile"] as const;

export const PackAsks = closed(
  {
    exit_code: Type.Integer({
      minimum: 1,
      maximum: 255,
      description: "It ends with this code when a person has to decide.",
    }),
    file: Type.Optional(
      inWorkTree(
        "The file in the work tree with its question, as text or as `{question, choices}`; it is left out of the change. Default: the end of its standard output.",
      ),
    ),
  },
  { description: "How it asks a person, besides the ways that every agent has." },
);
export type PackAsks = Static<typeof PackAsks>;

export const PackHears = Type.Boolean({
  description:
    "True: it runs `antiphon-inbox` between its steps, which prints the next message of a person. Default: it hears nothing.",
});

export const PackHonoursTools = Type.Boolean({
  description:
    "True: its tools are exactly the task's `allowed_tools`. Default: it is a program that a task with fewer tools is refused for.",
});

export const PackNeeds = Type.Array(Type.String({ pattern: "^[A-Za-z0-9._+-]{1,64}$" }), {
  minItems: 1,
  maxItems: 8,
  description:
    "Programs that the image of the run must have, besides a shell. An image without one is refused before the first attempt.",
});

export const PackResume = Type.Array(line(8192, "A word of the command."), {
  minItems: 1,
  maxItems: 16,
  description:
    "Words with which its program goes on with its newest conversation in the same container. They stand where `argv` has the word `${resume}`, which is nothing at a first start; by default behind `argv`. The prompt is then the answer to its question. Default: its program has no way to go on, and is started as at first and told its task, question and answer.",
});

export const AgentPack = closed(
  {
    name: Type.String({ pattern: "^[a-z][a-z0-9-]{0,31}$", description: "What `--agent` calls it." }),
    description: Type.Optional(line(256, "One line, for a list.")),
    install: Type.Optional(PackInstall),
    needs: Type.Optional(PackNeeds),
    argv: Type.Array(line(8192, "A word of the command."), {
      minItems: 1,
      maxItems: 64,
      description:
        "The command, run in the work tree. Exit code 0 says that it is done. `${files}` is the directory of its own files, and `${resume}` a word for those of `resume`.",
    }),
    prompt: oneOf(PACK_PROMPTS, {
      description:
        "How it is told its task: on standard input, or as one more word at the end of `argv`. compile: an OCCompileInput as JSON on standard input, which it answers with `{input, output}` in the file that ANTIPHON_COMPILE_FILE names. The full brief is in ANTIPHON_TASK either way.",
    }),
    env: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" }),
        Type.String({ maxLength: 4096 }),
        {
          maxProperties: 64,
          description: "Environment variables. A key that it insists on is any placeholder.",
        },
      ),
    ),
    junk: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        maxItems: 64,
        description: "Globs of its own files in the work tree, which are left out of the change.",
      }),
    ),
    transcript: Type.Optional(PackTranscript),
    usage: Type.Optional(PackUsage),
    asks: Type.Optional(PackAsks),
    resume: Type.Optional(PackResume),
    hears: Type.Optional(PackHears),
    honours_tools: Type.Optional(PackHonoursTools),
    task_tools: Type.Optional(PackTaskTools),
    model: Type.Optional(PackModel),
  },
  { description: "An agent pack: `agent.yaml` in a directory of its own." },
);
export type AgentPack = Static<typeof AgentPack>;
