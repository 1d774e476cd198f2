/**
 * `antiphon.yaml`: a repository's own settings. The trusted side reads it from the base tree before a run is accepted.
 * Its path is protected, so a change cannot edit it without a grant.
 */
import { Type, type Static } from "typebox";
import { limits } from "../limits.ts";
import { RepositoryGates } from "../runs/skill-gates.ts";
import { closed } from "../shapes/shape.ts";
import { ServiceName, ServiceSettings } from "./service-spec.ts";

const command = Type.String({ minLength: 1, maxLength: 8192 });
const commands = Type.Union([command, Type.Array(command, { minItems: 1, maxItems: 64 })], {
  description: "Commands that prove success, used if the run names none.",
});

/** Names the runner's own image, even if the repository names another one. */
export const DEFAULT_IMAGE = "default";

export const ProjectFile = closed(
  {
    image: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: "Sandbox image, from the allowlist. `default`: the runner's own.",
      }),
    ),
    checks: Type.Optional(commands),
    check: Type.Optional(command),
    verify: Type.Optional(
      closed(
        {
          git: Type.Optional(
            Type.Boolean({ description: "True: the checks find a fresh git repository in the clean room." }),
          ),
        },
        { description: "What the clean room has besides files and programs." },
      ),
    ),
    gates: Type.Optional(RepositoryGates),
    services: Type.Optional(
      Type.Record(ServiceName, ServiceSettings, {
        maxProperties: limits.services,
        description: "Programs that the checks need beside them, by name: a database, a cache.",
      }),
    ),
    setup: Type.Optional(
      Type.Union([command, Type.Array(command, { maxItems: 64 })], {
        description:
          "Commands that prepare the environment, with downloads. Empty: none. Default: found from lock files and manifests.",
      }),
    ),
    setup_inputs: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        minItems: 1,
        maxItems: 64,
        description:
          "Globs of the files that decide what setup makes. Default: all lock files and manifests.",
      }),
    ),
    setup_owned: Type.Optional(
      Type.Boolean({
        description:
          "True: each sandbox owns the files that setup made, and may change their modes and times. Takes a copy for each sandbox that runs at one time. Default: with pnpm, yarn and bun, which need it.",
      }),
    ),
  },
  { description: "A repository's `antiphon.yaml`." },
);
export type ProjectFile = Static<typeof ProjectFile>;

/** The file in which a repository names its image. */
export const ImageSource = Type.Union([
  Type.Literal("antiphon.yaml"),
  Type.Literal("antiphon.yml"),
  Type.Literal(".devcontainer/devcontainer.json"),
  Type.Literal(".devcontainer.json"),
]);

export const NamedImage = closed({
  ref: Type.String({ minLength: 1, maxLength: 512 }),
  from: ImageSource,
});
export type NamedImage = Static<typeof NamedImage>;
