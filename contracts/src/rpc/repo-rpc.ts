/** `antiphon.v1.rpc.repo.inspect`: the gateway asks the Director's side what a repository looks like. */
import { Type, type Static } from "typebox";
import { ErrorCode } from "../shapes/ids.ts";
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
      Type.Boolean({ description: "The run names its image: the repository is not asked for one." }),
    ),
    confined: Type.Optional(
      Type.Boolean({ description: "Refuse when the deployment does not say where repositories may lie." }),
    ),
  },
  { description: "Look at a repository before a run is accepted." },
);
export type RepoInspectRequest = Static<typeof RepoInspectRequest>;

export const RpcFailure = closed(
  {
    ok: Type.Literal(false),
    code: ErrorCode,
    message: Type.String(),
    remedy: Type.String(),
  },
  { description: "How any rpc says no." },
);
export type RpcFailure = Static<typeof RpcFailure>;

export const RepoInspectReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      base: RepoBase,
      branch: Type.Union([Type.String(), Type.Null()], {
        description: "The checked-out branch; null when detached.",
      }),
      dirty: Type.Boolean(),
      files: Type.Integer({ minimum: 0 }),
      image: nullable(NamedImage, { description: "The sandbox image the repository names." }),
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
  { description: "What the repository looks like, or why it cannot be used." },
);
export type RepoInspectReply = Static<typeof RepoInspectReply>;
