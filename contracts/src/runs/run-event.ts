/** Body of `POST /runs/:id/events` (seed 002, section 7): a user's message to a run. */
import { Type, type Static } from "typebox";
import { MessageKey, MessageText } from "../journal/message.ts";
import { Digest, TaskId } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

export const RunEvent = closed(
  {
    event: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "`approval`, `answer`, `cancel`, `message`.",
    }),
    choice: Type.Optional(
      Type.String({ maxLength: 256, description: "For an `approval`: `approve`, `reject` or `changes`." }),
    ),
    answers: Type.Optional(
      Type.Array(Type.String({ maxLength: 8192 }), {
        maxItems: 64,
        description: "In the order of the questions.",
      }),
    ),
    reason: Type.Optional(
      Type.String({ maxLength: 2048, description: "For an `approval` or `cancel`; `changes` requires it." }),
    ),
    text: Type.Optional({ ...MessageText, description: "For a `message`: what the attempt is told." }),
    key: Type.Optional({
      ...MessageKey,
      description: "For a `message`: a word of the sender's choice; sent again with it, it is accepted once.",
    }),
    task: Type.Optional(TaskId),
    verdict: Type.Optional(
      Type.Unsafe<Digest>({
        ...Digest,
        description: "For an `approval`: its verdict. Default: the one that waits.",
      }),
    ),
  },
  { description: "A user's message to a run, over HTTP." },
);
export type RunEvent = Static<typeof RunEvent>;
