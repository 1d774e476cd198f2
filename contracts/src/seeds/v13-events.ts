/** Contracts v1.3 (seed 004): events, artifact kinds, and the session's event stream. */
import { Type, type Static, type TObject } from "typebox";
import { RepoRef } from "../shapes/refs.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { TaskPlan } from "./v13-plan.ts";
import {
  CommandId,
  Correlation,
  EventId,
  IsoTime,
  SessionId,
  WorkItemDetails,
  WorkItemSummary,
} from "./v13-refs.ts";

export const ArtifactKind = oneOf(["Diff", "Patch", "TestResults", "Log", "Plan", "ErrorReport", "Conflict"]);
export type ArtifactKind = Static<typeof ArtifactKind>;

export const CommandAccepted = closed({ commandId: CommandId });
export const CommandRejected = closed({
  commandId: CommandId,
  reason: Type.String({ minLength: 1 }),
  policyRule: Type.Optional(Type.String({ description: "The rule of the policy profile that refused it." })),
});
export const CommandCompleted = closed({
  commandId: CommandId,
  outcome: oneOf(["Success", "Failure"]),
  message: Type.Optional(Type.String()),
  errorCode: Type.Optional(Type.String()),
});
export const ArtifactAvailable = closed({
  commandId: Type.Optional(CommandId),
  kind: ArtifactKind,
  downloadUri: Type.Optional(Type.String({ minLength: 1 })),
  inlineText: Type.Optional(Type.String()),
  pathHint: Type.Optional(Type.String()),
});
export const Throttled = closed({ scope: Type.String({ minLength: 1 }), retryAfter: IsoTime });
export const ConflictDetected = closed({
  repo: RepoRef,
  details: Type.String(),
  patchContent: Type.Optional(Type.String()),
});
export const SessionStatusChanged = closed({
  sessionId: SessionId,
  status: Type.String({ minLength: 1 }),
  reason: Type.Optional(Type.String()),
});
export const PlanUpdated = closed({ sessionId: SessionId, plan: TaskPlan });
export const BacklogQueried = closed({ items: Type.Array(WorkItemSummary) });
export const WorkItemQueried = closed({ details: WorkItemDetails });

export const EVENTS = {
  CommandAccepted,
  CommandRejected,
  CommandCompleted,
  ArtifactAvailable,
  Throttled,
  ConflictDetected,
  SessionStatusChanged,
  PlanUpdated,
  BacklogQueried,
  WorkItemQueried,
} as const;
export type EventName = keyof typeof EVENTS;

const envelope = <N extends string, P extends TObject>(event: N, payload: P) =>
  closed({
    sequence: Type.Integer({ minimum: 1, description: "Position in the session's stream; no gaps." }),
    eventId: EventId,
    at: IsoTime,
    correlation: Correlation,
    event: Type.Literal(event),
    payload,
  });

export const SessionEvent = Type.Union(
  Object.entries(EVENTS).map(([event, payload]) => envelope(event, payload)),
  { description: "One element of a session's ordered event stream, for UI and replay." },
);
export type SessionEvent = {
  [N in EventName]: {
    sequence: number;
    eventId: string;
    at: string;
    correlation: Correlation;
    event: N;
    payload: Static<(typeof EVENTS)[N]>;
  };
}[EventName];
