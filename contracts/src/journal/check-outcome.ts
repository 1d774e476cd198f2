/** The outcome of one check, and the feedback that a later attempt gets about it. */
import { Type, type Static } from "typebox";
import { ErrorCode } from "../shapes/ids.ts";
import { BlobRef } from "../shapes/refs.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const CheckOutcome = closed(
  {
    command: Type.String({ minLength: 1 }),
    exitCode: nullable(Type.Integer(), { description: "null if the check was killed." }),
    timedOut: Type.Boolean(),
    durationMs: Type.Number({ minimum: 0 }),
    stdout: nullable(BlobRef),
    stderr: nullable(BlobRef),
    tail: Type.String({ maxLength: 8192, description: "The last 2 KiB of its output." }),
  },
  { description: "The outcome of one check." },
);
export type CheckOutcome = Static<typeof CheckOutcome>;

export const Feedback = closed(
  {
    epoch: Type.Integer({ minimum: 1, description: "The attempt that was rejected." }),
    code: ErrorCode,
    message: Type.String(),
    checks: Type.Array(CheckOutcome),
  },
  { description: "Why an earlier attempt was rejected." },
);
export type Feedback = Static<typeof Feedback>;
