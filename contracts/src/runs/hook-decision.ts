/** A person's decision that another system passes on, such as a chat or a ticket system. Its request is signed. */
import { Type, type Static } from "typebox";
import { Choice } from "../journal/approval.ts";
import { Digest, RunId, TaskId } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

export const HookDecision = closed(
  {
    run: RunId,
    choice: Choice,
    by: Type.String({
      minLength: 1,
      maxLength: 64,
      description: "Name of a person with a token of their own and the role approver.",
    }),
    verdict: Type.Unsafe<Digest>({
      ...Digest,
      description: "Digest of the verdict that the person saw; another one is refused as stale.",
    }),
    task: Type.Optional(TaskId),
    reason: Type.Optional(Type.String({ maxLength: 2048, description: "Needed for `changes`." })),
  },
  { description: "A decision about a verified change, sent to `POST /hooks/:id/decisions`." },
);
export type HookDecision = Static<typeof HookDecision>;
