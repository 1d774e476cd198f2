/**
 * `antiphon.v1.rpc.session.deed`: the gateway asks a Director to carry out one accepted command of a session on git or in
 * a sandbox. The request holds the whole state, so any Director can answer it, and asking twice for the same command makes
 * the same objects.
 */
import { Type, type Static } from "typebox";
import { PolicyBounds } from "../journal/intent.ts";
import { SessionWorkspace } from "../runs/session-workspace.ts";
import { Command } from "../seeds/v13-commands.ts";
import { ArtifactKind, Throttled } from "../seeds/v13-events.ts";
import { IsoTime, SessionId, WorkItemDetails, WorkItemSummary } from "../seeds/v13-refs.ts";
import { Services } from "../settings/service-spec.ts";
import { ErrorCode } from "../shapes/ids.ts";
import { BlobRef, RepoRef } from "../shapes/refs.ts";
import { closed, nullable, oneOf } from "../shapes/shape.ts";

/** How checks of the repository run; from its inspection. */
const SessionRoom = closed({
  image: nullable(Type.String({ minLength: 1 }), { description: "null: the standard image." }),
  lacks: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 64,
      description: "Programs that the image lacks: tests that need one are not discovered.",
    }),
  ),
  git: Type.Optional(Type.Boolean({ description: "The commands find a git repository." })),
  services: Type.Optional(Services),
  budgetMs: Type.Integer({ minimum: 1, description: "For all commands together." }),
});

export const SessionDeedRequest = closed(
  {
    deedId: Type.String({ pattern: "^dee_[a-z0-9]{1,32}$", description: "Names it to a cancel." }),
    sessionId: SessionId,
    at: { ...IsoTime, description: "When the command was accepted: the time of its commit." },
    again: Type.Boolean({ description: "An earlier try may have moved the branch already." }),
    repo: RepoRef,
    command: Command,
    workspace: nullable(SessionWorkspace, { description: "null: no command has made one yet." }),
    policy: PolicyBounds,
    grants: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 256,
      description: "Protected paths that the policy lets a change touch.",
    }),
    room: Type.Optional(SessionRoom),
  },
  { description: "The gateway asks a Director to carry out a session's command." },
);
export type SessionDeedRequest = Omit<Static<typeof SessionDeedRequest>, "command"> & { command: Command };

const SessionArtifact = closed({
  kind: ArtifactKind,
  blob: BlobRef,
  text: Type.Optional(Type.String({ description: "The whole of it, if it is short." })),
  pathHint: Type.Optional(Type.String()),
});

const done = closed({
  kind: Type.Literal("done"),
  workspace: nullable(SessionWorkspace),
  outcome: oneOf(["Success", "Failure"]),
  message: Type.String({ minLength: 1 }),
  code: Type.Optional(ErrorCode),
  artifacts: Type.Array(SessionArtifact, { maxItems: 8 }),
  conflict: Type.Optional(
    closed({ details: Type.String({ minLength: 1 }), patchContent: Type.Optional(Type.String()) }),
  ),
  items: Type.Optional(Type.Array(WorkItemSummary, { description: "The answer to QueryBacklog." })),
  details: Type.Optional(WorkItemDetails),
  throttled: Type.Optional(Throttled),
});
export type SessionDeedDone = Static<typeof done>;

export const SessionDeedEvent = Type.Union(
  [
    closed({ kind: Type.Literal("alive") }),
    done,
    closed({ ok: Type.Literal(false), code: ErrorCode, message: Type.String(), remedy: Type.String() }),
  ],
  { description: "A sign of life, the outcome of a command, or why it could not be tried." },
);
export type SessionDeedEvent = Static<typeof SessionDeedEvent>;

export const SessionClaim = closed(
  {
    holder: Type.String({ minLength: 1, maxLength: 128, description: "The gateway process." }),
    until: { ...IsoTime, description: "Afterwards another gateway may carry the command out." },
  },
  { description: "A gateway's turn at carrying out a session's command." },
);
export type SessionClaim = Static<typeof SessionClaim>;
