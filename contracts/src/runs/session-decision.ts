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
      description: "The digest of the request that the person saw, from the list of open requests.",
    }),
    reason: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { description: "Decides a request for approval. A request whose workspace has changed since is stale." },
);
/** A `RequestApproval` that waits, as `GET /sessions/{id}/approvals` lists it. */
export interface WaitingApproval {
  readonly commandId: string;
  readonly reason: string;
  readonly requiredActions: readonly string[];
  readonly requestedBy: string | null;
  /** Names the workspace and the policy; a decision has to name it, too. */
  readonly digest: string;
  readonly branch: string | null;
  readonly head: string | null;
  /** The session has changed its workspace since. */
  readonly stale: boolean;
}
export type SessionDecision = Static<typeof SessionDecision>;
