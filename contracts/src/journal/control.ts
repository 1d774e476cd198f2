/** `control`, `requeue` and `due`: a run is held or let go, a dead letter is given another chance, a time has come. */
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
      "The run is held (nothing new is dispatched; what is under way may finish and land) or let go. The epoch counts a run's controls: 1, 2, ... Written by the gateway.",
  },
);
export type ControlBody = Static<typeof ControlBody>;

export const RequeueBody = closed(
  {
    consumer: oneOf(["router", "director", "associate"], { description: "Who is to handle it again." }),
    origin: closed(
      {
        type: Type.String({ minLength: 1, maxLength: 32 }),
        task: nullable(Type.String({ minLength: 1, maxLength: 64 })),
        epoch: Type.Integer({ minimum: 0 }),
      },
      { description: "The record that became a dead letter; `cause` carries its sequence and digest." },
    ),
    code: nullable(ErrorCode, { description: "What the dead letter said." }),
    by: Type.String({ minLength: 1, maxLength: 256 }),
  },
  {
    description:
      "A dead letter is to be handled once more. The epoch counts a run's requeues: 1, 2, ... Written by the gateway.",
  },
);
export type RequeueBody = Static<typeof RequeueBody>;

export const DueBody = closed(
  {
    kind: oneOf(["rest", "question"], {
      description:
        "rest: the pause after repeated losses is over, epoch is the lost one. question: nobody answered in time.",
    }),
  },
  {
    description: "A time that a task was waiting for has come. Written by the Director when its timer fires.",
  },
);
export type DueBody = Static<typeof DueBody>;
