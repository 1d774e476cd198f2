/** `antiphon.v1.rpc.repo.inspect`: the gateway asks a Director to inspect a repository. */
import { Type, type Static } from "typebox";
import { ErrorCode } from "../shapes/ids.ts";
import { RepositoryGates } from "../runs/skill-gates.ts";
import { Services } from "../settings/service-spec.ts";
import { NamedImage } from "../settings/project-file.ts";
import { RepoBase, RepoRef } from "../shapes/refs.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const RepoInspectRequest = closed(
  {
    repo: RepoRef,
    base_ref: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    land_on: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    allow_dirty: Type.Optional(Type.Boolean()),
    image_named: Type.Optional(
      Type.Boolean({
        description: "True if the run names its image, so that the repository's image is not read.",
      }),
    ),
    discover: Type.Optional(
      Type.Boolean({ description: "Answer also which checks discovery may choose from." }),
    ),
    confined: Type.Optional(
      Type.Boolean({ description: "Refuse if the deployment has no ANTIPHON_REPO_ROOTS." }),
    ),
  },
  { description: "Inspect a repository before a run is accepted." },
);
export type RepoInspectRequest = Static<typeof RepoInspectRequest>;

export const RpcFailure = closed(
  {
    ok: Type.Literal(false),
    code: ErrorCode,
    message: Type.String(),
    remedy: Type.String(),
  },
  { description: "The refusal of any rpc." },
);
export type RpcFailure = Static<typeof RpcFailure>;

export const RepoInspectReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      base: RepoBase,
      branch: Type.Union([Type.String(), Type.Null()], {
        description: "The checked-out branch; null if detached.",
      }),
      dirty: Type.Boolean(),
      files: Type.Integer({ minimum: 0 }),
      image: nullable(NamedImage, { description: "The sandbox image the repository names." }),
      verify_git: Type.Optional(
        Type.Boolean({ description: "The checks need a repository, says the repository." }),
      ),
      services: Type.Optional(Services),
      gates: Type.Optional(RepositoryGates),
      absent: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
          maxItems: 16,
          description: "Content of submodules and of Git LFS that is not on this machine, with remedies.",
        }),
      ),
      needs: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          maxItems: 32,
          description: "Programs beside those of the standard image that the repository's manifests ask for.",
        }),
      ),
      needs_because: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
          maxItems: 32,
          description: "The manifests that ask for them.",
        }),
      ),
      check_candidates: Type.Optional(
        Type.Array(
          closed({
            command: Type.String({ minLength: 1 }),
            needs: Type.Array(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 8 }), {
              maxItems: 8,
              description: "Programs that the image must have; one of each group is enough.",
            }),
          }),
          { maxItems: 32, description: "What discovery may choose from, in its order." },
        ),
      ),
      home: Type.Optional(
        Type.String({
          minLength: 1,
          description: "The directory that holds the branches: the same for all work trees of a repository.",
        }),
      ),
      land_ref: Type.Optional(
        Type.String({
          minLength: 1,
          description: "The branch that `land_on` moves: the one a symbolic ref of that name leads to.",
        }),
      ),
    }),
    RpcFailure,
  ],
  { description: "A description of the repository, or why it cannot be used." },
);
export type RepoInspectReply = Static<typeof RepoInspectReply>;
