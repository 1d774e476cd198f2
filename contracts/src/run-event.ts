/** Body of `POST /runs/:id/events` (seed 002, section 7): what the user says to a run. */
import { Type, type Static } from "typebox";
import { TaskId } from "./ids.ts";
import { closed } from "./shape.ts";

export const RunEvent = closed(
  {
    event: Type.String({ minLength: 1, maxLength: 64, description: "`approval`, `answer`, `cancel`." }),
    choice: Type.Optional(Type.String({ maxLength: 256, description: "`approve`, `reject`." })),
    answers: Type.Optional(
      Type.Array(Type.String({ maxLength: 8192 }), {
        maxItems: 64,
        description: "In the order of the questions.",
      }),
    ),
    reason: Type.Optional(Type.String({ maxLength: 2048 })),
    task: Type.Optional(TaskId),
  },
  { description: "What the user says to a run, over HTTP." },
);
export type RunEvent = Static<typeof RunEvent>;
