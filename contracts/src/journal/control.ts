/** `control`, `requeue` and `due`: a run is paused or resumed, a dead letter is requeued, a timer came due. */
import { Type, type Static } from "typebox";
import { ErrorCode } from "../shapes/ids.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

export const ControlBody = closed(
  {
    kind: oneOf(["pause", "resume"]),
    by: Type.String({ minLength: 1, maxLength: 256 }),
    reason: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  {
    description:
      "The run is paused (nothing new is dispatched; attempts under way may finish and land) or resumed. The epoch counts the controls of a run: 1, 2, ... Written by the gateway.",
  },
);
export type ControlBody = Static<typeof ControlBody>;

export const RequeueBody = closed(
  {
    consumer: oneOf(["router", "director", "associate"], {
      description: "The consumer that handles it again.",
    }),
    origin: closed(
      {
        type: Type.String({ minLength: 1, maxLength: 32 }),
        task: nullable(Type.String({ minLength: 1, maxLength: 64 })),
        epoch: Type.Integer({ minimum: 0 }),
      },
      { description: "The record that became a dead letter; `cause` carries its sequence and digest." },
    ),
    code: nullable(ErrorCode, { description: "The code of the dead letter." }),
    by: Type.String({ minLength: 1, maxLength: 256 }),
  },
  {
    description:
      "A dead letter is handled once more. The epoch counts the requeues of a run: 1, 2, ... Written by the gateway.",
  },
);
export type RequeueBody = Static<typeof RequeueBody>;

export const DueBody = closed(
  {
    kind: oneOf(["rest", "question"], {
      description:
        "rest: the backoff after repeated losses is over; epoch is the lost attempt. question: the question was not answered in time.",
    }),
  },
  {
    description: "A timer of a task came due. Written by the Director.",
  },
);
export type DueBody = Static<typeof DueBody>;
