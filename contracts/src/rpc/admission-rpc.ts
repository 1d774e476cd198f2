/** `antiphon.v1.rpc.director.admission`: which attempts a Director holds back. Each Director answers for itself. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";
import { RpcFailure } from "./repo-rpc.ts";

const HeldAttempts = closed(
  {
    tenant: Type.String({ minLength: 1 }),
    priority: oneOf(["interactive", "batch"]),
    attempts: Type.Integer({ minimum: 1 }),
  },
  { description: "Attempts that wait for their turn." },
);
export type HeldAttempts = Static<typeof HeldAttempts>;

export const AdmissionReply = Type.Union(
  [closed({ ok: Type.Literal(true), held: Type.Array(HeldAttempts) }), RpcFailure],
  { description: "The admission queue of one Director." },
);
export type AdmissionReply = Static<typeof AdmissionReply>;
