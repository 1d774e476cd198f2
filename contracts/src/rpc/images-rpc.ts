/** `antiphon.v1.rpc.sandbox.images`: the images that a sandbox-runner's deployment allows, and changes to that list. */
import { Type, type Static } from "typebox";
import { RpcFailure } from "./repo-rpc.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

const ref = Type.String({ minLength: 1, maxLength: 512, pattern: "^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$" });

export const ImagesRequest = Type.Union(
  [
    closed({
      op: Type.Literal("list"),
      look_into: Type.Optional(
        Type.Unsafe<string>({
          ...ref,
          description: "Answer also which programs of checks this image lacks.",
        }),
      ),
    }),
    closed({ op: Type.Literal("allow"), ref }),
    closed({ op: Type.Literal("disallow"), ref }),
  ],
  { description: "List the allowed sandbox images, allow one, or revoke one." },
);
export type ImagesRequest = Static<typeof ImagesRequest>;

export const SandboxImage = closed(
  {
    ref: Type.String({ description: "Its name when it was allowed." }),
    id: nullable(ref, {
      description:
        "What decides: the digest of an image of an engine, otherwise the provider's name for it. null: the name is unknown.",
    }),
    allowed_by: oneOf(["setup", "configuration", "allowlist"]),
    allowed_at: nullable(Type.String()),
    bytes: nullable(Type.Integer({ minimum: 0 }), { description: "null if the engine does not have it." }),
    sealed: nullable(Type.Boolean(), {
      description: "Whether a verdict can be reached in it; null if not tried yet.",
    }),
    programs: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 64,
        description: "Programs of toolchains that it has; absent if nobody has looked.",
      }),
    ),
  },
  { description: "An image that sandboxes may use." },
);
export type SandboxImage = Static<typeof SandboxImage>;

export const ImagesReply = Type.Union(
  [
    closed({
      ok: Type.Literal(true),
      node: Type.String(),
      images: Type.Array(SandboxImage),
      lacks: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          maxItems: 64,
          description: "Programs of checks that the image of `look_into` lacks; absent: nobody could look.",
        }),
      ),
    }),
    RpcFailure,
  ],
  { description: "The list after the request." },
);
export type ImagesReply = Static<typeof ImagesReply>;
