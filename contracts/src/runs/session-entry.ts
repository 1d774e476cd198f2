/** The request for a session of Contracts v1.3 commands, and the stored log of one. */
import { Type, type Static } from "typebox";
import { Command } from "../seeds/v13-commands.ts";
import { SessionEvent } from "../seeds/v13-events.ts";
import { WorkItemRef, WorkspaceRef } from "../seeds/v13-refs.ts";
import { Digest } from "../shapes/ids.ts";
import { BlobRef, RepoRef } from "../shapes/refs.ts";
import { SessionWorkspace } from "./session-workspace.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const SessionRequest = closed(
  {
    repo: RepoRef,
    policy: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Name of a policy profile. Default: the deployment's default profile.",
      }),
    ),
    workspace: Type.Optional(WorkspaceRef),
    workItem: Type.Optional(WorkItemRef),
    agentProfile: Type.Optional(Type.String({ minLength: 1, default: "default" })),
  },
  { description: "Opens a session for commands. The deployment sets the policy, never the caller." },
);
export type SessionRequest = Static<typeof SessionRequest>;

const AskedUnder = closed(
  {
    digest: { ...Digest, description: "Of the deployment's profiles for the repository and the requester." },
    places: Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
      maxItems: 2,
      description: "The directories of the repository, which select the profiles.",
    }),
  },
  { description: "The policy under which an approval was asked for. If it changes, the approval is stale." },
);
export type AskedUnder = Static<typeof AskedUnder>;

export const SessionEntry = closed(
  {
    v: Type.Literal(1),
    event: SessionEvent,
    command: nullable(Command, {
      description: "The accepted command, so that it can be carried out.",
    }),
    principal: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "Authenticated sender of the command." }),
    ),
    workspace: Type.Optional(SessionWorkspace),
    artifact: Type.Optional({ ...BlobRef, description: "The bytes of an artifact." }),
    policy: Type.Optional(AskedUnder),
  },
  { description: "One register of a session's log; the session's configuration is register 0." },
);
export type SessionEntry = {
  v: 1;
  event: SessionEvent;
  command: Command | null;
  principal?: string;
  /** The workspace after the command that the event completes. */
  workspace?: SessionWorkspace;
  artifact?: BlobRef;
  policy?: AskedUnder;
};
