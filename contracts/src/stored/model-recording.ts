/**
 * The recording of one model call: `egress/model-<n>.json` of an attempt's evidence. It is written by the egress gateway,
 * without secrets, and is the answer that a replay gives to the same request.
 */
import { Type, type Static } from "typebox";
import { Digest } from "../shapes/ids.ts";
import { anyObject, closed, nullable } from "../shapes/shape.ts";

const host = Type.String({ minLength: 1, maxLength: 253 });
const path = Type.String({ minLength: 1, maxLength: 4096 });

export const ModelRecording = closed(
  {
    v: Type.Literal(1),
    request_digest: Digest,
    request: closed(
      { host, path, body: anyObject({ description: "The body that left, in its final form." }) },
      { description: "The request as it left the gateway." },
    ),
    asked: Type.Optional(
      closed(
        { host, port: Type.Integer({ minimum: 1, maximum: 65_535 }), path },
        { description: "Where the program sent it. The deployment may send it elsewhere." },
      ),
    ),
    response: closed({
      status: Type.Integer({ minimum: 0, description: "0: there was no answer." }),
      content_type: nullable(Type.String()),
      text: Type.String(),
      truncated: Type.Boolean({ description: "The answer was longer than its bound." }),
      masked: Type.Optional(
        Type.Literal(true, {
          description:
            "Stars stand for something that looks like a secret, so this is not what the program was given.",
        }),
      ),
      whole: Type.Optional(Type.Boolean({ description: "False: the answer broke off." })),
    }),
    model: Type.String({ minLength: 1 }),
    charged: closed({ tokens: Type.Integer({ minimum: 0 }), usd_micro: Type.Integer({ minimum: 0 }) }),
  },
  { description: "One model call of an attempt: request, answer and charge." },
);
export type ModelRecording = Static<typeof ModelRecording>;
