/** `antiphon.v1.rpc.sandbox.images`: what images a sandbox-runner's deployment allows, and the changes to that. */
import { Type, type Static } from "typebox";
import { RpcFailure } from "./repo-rpc.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

const ref = Type.String({ minLength: 1, maxLength: 512, pattern: "^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$" });
const digest = Type.String({ pattern: "^sha256:[0-9a-f]{64}$" });

export const ImagesRequest = Type.Union(
  [
    closed({ op: Type.Literal("list") }),
    closed({ op: Type.Literal("allow"), ref }),
    closed({ op: Type.Literal("disallow"), ref }),
  ],
  { description: "List the images sandboxes may be made of, allow one, or take that back." },
);
export type ImagesRequest = Static<typeof ImagesRequest>;

export const SandboxImage = closed(
  {
    ref: Type.String({ description: "What it was called when it was allowed." }),
    id: nullable(digest, { description: "What decides. null: a name nothing is known of." }),
    allowed_by: oneOf(["setup", "configuration", "allowlist"]),
    allowed_at: nullable(Type.String()),
    bytes: nullable(Type.Integer({ minimum: 0 }), { description: "null: not on the engine." }),
    sealed: nullable(Type.Boolean(), {
      description: "A verdict can be built in it; null: not tried yet.",
    }),
  },
  { description: "An image sandboxes may be made of." },
);
export type SandboxImage = Static<typeof SandboxImage>;

export const ImagesReply = Type.Union(
  [closed({ ok: Type.Literal(true), node: Type.String(), images: Type.Array(SandboxImage) }), RpcFailure],
  { description: "The list after the request." },
);
export type ImagesReply = Static<typeof ImagesReply>;
