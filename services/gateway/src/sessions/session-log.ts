// Reads a session's state from the entries of its log, which are in order and without gaps. Pure.
import type { Command, SessionEntry, SessionEvent } from "@antiphon/contracts";
import type { PastCommand } from "./command-policy.ts";

type Named<N extends SessionEvent["event"]> = Extract<SessionEvent, { event: N }>;

const isNamed = <N extends SessionEvent["event"]>(event: SessionEvent, name: N): event is Named<N> =>
  event.event === name;

function completionOf(entries: readonly SessionEntry[], commandId: string): Named<"CommandCompleted"> | null {
  for (const { event } of entries)
    if (isNamed(event, "CommandCompleted") && event.payload.commandId === commandId) return event;
  return null;
}

/** Whether a command of that id was already accepted or rejected. */
export function isDecided(entries: readonly SessionEntry[], commandId: string): boolean {
  return entries.some(
    ({ event }) =>
      (isNamed(event, "CommandAccepted") || isNamed(event, "CommandRejected")) &&
      event.payload.commandId === commandId,
  );
}

export interface PendingCommand {
  readonly command: Command;
  /** The sender; null: an old entry, which did not record it. */
  readonly principal: string | null;
}

/** Accepted commands that are not completed. */
export function pendingCommands(entries: readonly SessionEntry[]): PendingCommand[] {
  return entries.flatMap(({ command, principal = null }) =>
    command === null || completionOf(entries, command.commandId) !== null ? [] : [{ command, principal }],
  );
}

/** Whether an event of that name is already recorded for a command, or no longer needed because it is completed. */
export function isTold(
  entries: readonly SessionEntry[],
  commandId: string,
  name: "ArtifactAvailable" | "CommandCompleted",
): boolean {
  if (completionOf(entries, commandId) !== null) return true;
  return entries.some(({ event }) => isNamed(event, name) && event.payload.commandId === commandId);
}

export function pastCommands(entries: readonly SessionEntry[]): PastCommand[] {
  return entries.flatMap(({ event, command }) =>
    command === null
      ? []
      : [
          {
            command: command.command,
            at: Date.parse(event.at),
            outcome: completionOf(entries, command.commandId)?.payload.outcome ?? null,
          },
        ],
  );
}

/** Answers go to the agent that asked; events without an agent go to all (v1.2 of the seed). */
export function eventsFor(
  entries: readonly SessionEntry[],
  after: number,
  agent: string | null,
): SessionEvent[] {
  return entries
    .map(({ event }) => event)
    .filter(({ sequence }) => sequence > after)
    .filter(({ correlation }) => agent === null || (correlation.issuerAgentId ?? agent) === agent);
}
