// Reads a session's state from the entries of its log, which are in order and without gaps. Pure.
import { AntiphonError, canonicalJson } from "@antiphon/contracts";
import type { Command, SessionEntry, SessionEvent, SessionWorkspace } from "@antiphon/contracts";
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

/**
 * An id that came again stands for the command it was first given to, so another one would be answered with the events of that.
 * @throws AntiphonError ANT_SESSION_COMMAND_ID
 */
export function requireSame(
  entries: readonly SessionEntry[],
  { commandId, command, payload }: Command,
): void {
  const first = entries.find((entry) => entry.command?.commandId === commandId)?.command ?? null;
  if (first === null) return;
  const asked = canonicalJson({ command, payload });
  if (canonicalJson({ command: first.command, payload: first.payload }) === asked) return;
  const what = first.command === command ? "with other fields" : `that is a ${first.command}`;
  throw new AntiphonError("ANT_SESSION_COMMAND_ID", `${commandId} is a command of the session ${what}`);
}

export interface PendingCommand {
  readonly command: Command;
  /** The sender; null: an old entry, which did not record it. */
  readonly principal: string | null;
  /** When it was accepted. */
  readonly at: string;
}

/** Accepted commands that are not completed, oldest first. */
export function pendingCommands(entries: readonly SessionEntry[]): PendingCommand[] {
  return entries.flatMap(({ event, command, principal = null }) =>
    command === null || completionOf(entries, command.commandId) !== null
      ? []
      : [{ command, principal, at: event.at }],
  );
}

/** Whether a request for approval has been told, so that only a person can complete it. */
export function isWaiting(entries: readonly SessionEntry[], commandId: string): boolean {
  return entries.some(
    ({ event }) => event.event === "SessionStatusChanged" && event.correlation.commandId === commandId,
  );
}

/** Whether the `i`-th event that answers a command is recorded, or no longer needed because the command is completed. */
export function isTold(entries: readonly SessionEntry[], commandId: string, i: number): boolean {
  if (completionOf(entries, commandId) !== null) return true;
  const accepted = entries.findIndex(({ command }) => command?.commandId === commandId);
  const told = entries.slice(accepted + 1).filter(({ event }) => event.correlation.commandId === commandId);
  return told.length > i;
}

/** What the completed commands have made. Null: none has worked on the repository. */
export function workspaceIn(entries: readonly SessionEntry[]): SessionWorkspace | null {
  return entries.findLast(({ workspace }) => workspace !== undefined)?.workspace ?? null;
}

/** `stale`: the ids of approvals that do not count any more. */
export function pastCommands(
  entries: readonly SessionEntry[],
  stale: Pick<ReadonlySet<string>, "has">,
): PastCommand[] {
  return entries.flatMap(({ event, command }) =>
    command === null
      ? []
      : [
          {
            command: command.command,
            at: Date.parse(event.at),
            isStale: stale.has(command.commandId),
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
