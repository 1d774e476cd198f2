/** Dead letters, `antiphon.v1.dlq.<consumer>.<type>.<runId>.<taskId>.<epoch>`: messages that probably crash their consumers. */
import { Type, type Static } from "typebox";
import { ErrorCode } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

export const DeadLetter = closed(
  {
    v: Type.Literal(1),
    consumer: Type.String({ minLength: 1, maxLength: 64, description: "The consumer that gave up on it." }),
    code: ErrorCode,
    detail: Type.String({ maxLength: 16_384 }),
    deliveries: Type.Integer({ minimum: 1, description: "How often it was delivered." }),
    origin: closed({
      subject: Type.String({ minLength: 1, maxLength: 512, description: "Subject of the message." }),
      seq: Type.Integer({ minimum: 1, description: "Its stream sequence." }),
    }),
    payload: Type.String({
      pattern: "^[A-Za-z0-9+/]*={0,2}$",
      description: "The message's bytes as base64, readable or not.",
    }),
  },
  { description: "A message that is not delivered again unless it is requeued." },
);
export type DeadLetter = Static<typeof DeadLetter>;
