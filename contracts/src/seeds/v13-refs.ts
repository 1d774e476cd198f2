/** Contracts v1.3 (seed 004): references, correlation, and the wire forms of its scalar types. */
import { Type, type Static } from "typebox";
import { closed } from "../shapes/shape.ts";

/** GUIDs or strings with stable casing. They are compared byte for byte and never re-cased. */
const id = (what: string) =>
  Type.String({ minLength: 1, maxLength: 128, description: `${what}; its casing is stable.` });
export const SessionId = id("A session");
export const CommandId = id("A command");
export const EventId = id("An event");
export const PlanNodeId = id("A node of a task plan");

/** .NET TimeSpan on the wire. */
export const IsoDuration = Type.String({
  pattern: "^P(?!$)(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+(\\.\\d{1,9})?S)?)?$",
  maxLength: 64,
  description: "ISO-8601 duration: `PT5M`, `P1DT2H`, `PT0.5S`.",
});

/** .NET DateTimeOffset on the wire. */
export const IsoTime = Type.String({
  pattern:
    "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$",
  maxLength: 40,
  description: "ISO-8601 time with its offset: `2025-11-30T12:00:00Z`.",
});

export const WorkItemRef = closed({
  id: Type.String({ minLength: 1 }),
  providerHint: Type.Optional(Type.String()),
});
export type WorkItemRef = Static<typeof WorkItemRef>;

export const WorkItemSummary = closed({
  id: Type.String({ minLength: 1 }),
  title: Type.String(),
  status: Type.String(),
  assignee: Type.Optional(Type.String()),
});
export type WorkItemSummary = Static<typeof WorkItemSummary>;

export const WorkItemDetails = closed({
  id: Type.String({ minLength: 1 }),
  title: Type.String(),
  description: Type.String(),
  status: Type.String(),
  assignee: Type.Optional(Type.String()),
  tags: Type.Array(Type.String()),
});
export type WorkItemDetails = Static<typeof WorkItemDetails>;

export const WorkspaceRef = closed(
  { path: Type.String({ minLength: 1 }) },
  { description: "Workspace root of one session." },
);
export type WorkspaceRef = Static<typeof WorkspaceRef>;

export const Correlation = closed(
  {
    sessionId: SessionId,
    commandId: Type.Optional(CommandId),
    parentCommandId: Type.Optional(CommandId),
    planNodeId: Type.Optional(PlanNodeId),
    issuerAgentId: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Responses go only to this agent, not to the whole session (v1.2).",
      }),
    ),
  },
  { description: "Correlation of a command or event." },
);
export type Correlation = Static<typeof Correlation>;
