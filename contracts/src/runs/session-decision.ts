/** A person's decision about a `RequestApproval` of a command session. */
import { Type, type Static } from "typebox";
import { closed } from "../shapes/shape.ts";

export const SessionDecision = closed(
  {
    commandId: Type.String({
      minLength: 1,
      maxLength: 256,
      description: "The `RequestApproval` that is decided.",
    }),
    choice: Type.Union([Type.Literal("approve"), Type.Literal("reject")]),
    digest: Type.String({
      minLength: 1,
      maxLength: 80,
      description: "What was looked at, as the list of open requests tells it.",
    }),
    reason: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { description: "Decides a request for approval. A request whose workspace has changed since is stale." },
);
export type SessionDecision = Static<typeof SessionDecision>;
