/** `task_tools` of an agent pack: how its program is held to the tools of a task. */
import { Type, type Static } from "typebox";
import { closed } from "../shapes/shape.ts";

const toolName = Type.String({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9][A-Za-z0-9_.:-]*$" });
const ownNames = Type.Optional(Type.Array(toolName, { minItems: 1, maxItems: 32 }));

export const PackTaskTools = closed(
  {
    names: closed(
      { read_file: ownNames, write_file: ownNames, edit_file: ownNames, git_checkpoint: ownNames },
      {
        description:
          "The names that the program has for the tools of a task. A task that allows one of two tools with a common name is refused.",
      },
    ),
    each: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: "^[^\\n\\r\\u0000]*$",
        description: "How each name is written: `${tool}` is the name. Default: the name alone.",
      }),
    ),
    between: Type.Optional(
      Type.String({ maxLength: 16, description: "What stands between two names. Default: a comma." }),
    ),
    argv: Type.Optional(
      Type.Array(Type.String({ maxLength: 8192 }), {
        maxItems: 32,
        description: "Words behind those of `argv`. `${task_tools}` is the list of the allowed tools.",
      }),
    ),
    env: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" }),
        Type.String({ maxLength: 4096 }),
        { maxProperties: 16, description: "Variables that replace those of `env`, with the same list." },
      ),
    ),
  },
  {
    description:
      "How its program is held to the `allowed_tools` of a task without `bash`. With a shell it can do what its other tools do. Default: such a task is refused for it.",
  },
);
export type PackTaskTools = Static<typeof PackTaskTools>;
