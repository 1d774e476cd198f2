/** `cancel` and `input`: a person's messages to an active run. */
import { Type, type Static } from "typebox";
import { ErrorCode } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

export const CancelBody = closed(
  {
    by: Type.String({ minLength: 1, maxLength: 256 }),
    reason: Type.String({ maxLength: 2048 }),
    code: Type.Optional(ErrorCode),
  },
  {
    description:
      "The run stops. Written by the gateway, or, with a code, by the Director when the run reaches a limit; then it ends as failed.",
  },
);
export type CancelBody = Static<typeof CancelBody>;

export const InputBody = closed(
  {
    event: Type.String({ minLength: 1, maxLength: 64, description: "`approval`, `answer`." }),
    choice: Type.Optional(
      Type.String({
        maxLength: 256,
        description: "`approve`, `reject` or `changes`; only for an `approval`.",
      }),
    ),
    answers: Type.Array(Type.String({ maxLength: 8192 }), {
      maxItems: 64,
      description: "In the order of the questions.",
    }),
    by: Type.String({ minLength: 1, maxLength: 256 }),
    reason: Type.Optional(Type.String({ maxLength: 2048 })),
    instructs: Type.Optional(
      Type.Boolean({
        description:
          "The answer is a part of what was asked for, so approvals of the same person do not count in this run. Absent in records of gateways that let them count.",
      }),
    ),
  },
  { description: "The user answered a waiting run. Written by the gateway." },
);
export type InputBody = Static<typeof InputBody>;
