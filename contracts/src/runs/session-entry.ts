/** What a session of Contracts v1.3 commands is asked for with, and what is kept of it. */
import { Type, type Static } from "typebox";
import { RepoRef } from "../shapes/refs.ts";
import { Command } from "../seeds/v13-commands.ts";
import { SessionEvent } from "../seeds/v13-events.ts";
import { WorkItemRef, WorkspaceRef } from "../seeds/v13-refs.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const SessionRequest = closed(
  {
    repo: RepoRef,
    policy: Type.Optional(
      Type.String({ minLength: 1, description: "Name of a policy profile; absent: the default one." }),
    ),
    workspace: Type.Optional(WorkspaceRef),
    workItem: Type.Optional(WorkItemRef),
    agentProfile: Type.Optional(Type.String({ minLength: 1, default: "default" })),
  },
  { description: "Opens a session that takes commands. The policy is the deployment's, never the caller's." },
);
export type SessionRequest = Static<typeof SessionRequest>;

export const SessionEntry = closed(
  {
    v: Type.Literal(1),
    event: SessionEvent,
    command: nullable(Command, {
      description: "The command an acceptance is about, so that it can be carried out.",
    }),
    principal: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "Who sent the command, as authenticated." }),
    ),
  },
  { description: "One register of a session's log; the session's configuration is register 0." },
);
export type SessionEntry = { v: 1; event: SessionEvent; command: Command | null; principal?: string };
