// A session as its events tell it, and nothing else: a client that replays them has the same. Pure.
import { ERRORS, isErrorCode } from "@antiphon/contracts";
import type { ArtifactKind, SessionEvent, TaskPlan } from "@antiphon/contracts";

export interface SessionView {
  readonly status: string;
  readonly reason?: string;
  /** Sequence of the last event. */
  readonly sequence: number;
  readonly plan: TaskPlan | null;
  readonly commands: readonly CommandView[];
  readonly artifacts: readonly { kind: ArtifactKind; downloadUri?: string; commandId?: string }[];
}

export interface CommandView {
  readonly commandId: string;
  readonly state: "accepted" | "rejected" | "succeeded" | "failed";
  readonly message?: string;
  readonly code?: string;
  /** What a person can do about the failure. */
  readonly remedy?: string;
}

const NEW: SessionView = { status: "open", sequence: 0, plan: null, commands: [], artifacts: [] };

/** `events`: all of them, in order. */
export function sessionView(events: readonly SessionEvent[]): SessionView {
  return events.reduce(withEvent, NEW);
}

function withEvent(view: SessionView, told: SessionEvent): SessionView {
  const next = { ...view, sequence: told.sequence };
  switch (told.event) {
    case "SessionStatusChanged": {
      const { status, reason } = told.payload;
      const { reason: _, ...rest } = next;
      return { ...rest, status, ...(reason === undefined ? {} : { reason }) };
    }
    case "CommandAccepted":
      return { ...next, commands: command(view, { commandId: told.payload.commandId, state: "accepted" }) };
    case "CommandRejected": {
      const { commandId, reason, policyRule } = told.payload;
      const rule = policyRule === undefined ? {} : { code: policyRule };
      return { ...next, commands: command(view, { commandId, state: "rejected", message: reason, ...rule }) };
    }
    case "CommandCompleted": {
      const { commandId, outcome, message, errorCode } = told.payload;
      const said = message === undefined ? {} : { message };
      const code = errorCode === undefined ? {} : { code: errorCode };
      const remedy = isErrorCode(errorCode) ? { remedy: ERRORS[errorCode].remedy } : {};
      const state = outcome === "Success" ? "succeeded" : "failed";
      return { ...next, commands: command(view, { commandId, state, ...said, ...code, ...remedy }) };
    }
    case "PlanUpdated":
      return { ...next, plan: told.payload.plan };
    case "ArtifactAvailable": {
      const { kind, downloadUri, commandId } = told.payload;
      const at = downloadUri === undefined ? {} : { downloadUri };
      const by = commandId === undefined ? {} : { commandId };
      return { ...next, artifacts: [...view.artifacts, { kind, ...at, ...by }] };
    }
    case "Throttled":
    case "ConflictDetected":
    case "BacklogQueried":
    case "WorkItemQueried":
      return next; // Answers to a command, which leave nothing behind.
  }
}

function command({ commands }: SessionView, one: CommandView): CommandView[] {
  const others = commands.filter(({ commandId }) => commandId !== one.commandId);
  return [...others, one];
}
