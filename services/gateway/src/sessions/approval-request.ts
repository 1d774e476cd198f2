// The requests for approval that a session's log holds, what each is bound to, and whether that has changed since.
import { canonicalJson, digestOf } from "@antiphon/contracts";
import type {
  AskedUnder,
  Command,
  PolicyConfig,
  SessionConfig,
  SessionEntry,
  WaitingApproval,
} from "@antiphon/contracts";
import { profilesFor } from "../policy/policy-choice.ts";
import { policyChanged, policyDigest } from "../policy/policy-digest.ts";
import type { Said } from "./said.ts";
import { isWaiting, pendingCommands, workspaceIn } from "./session-log.ts";
import { speakerOf } from "./session-binding.ts";

export type RequestApproval = Extract<Command, { command: "RequestApproval" }>;

export interface OpenRequest extends WaitingApproval {
  /** Of the event that told the request. */
  readonly sequence: number;
}

export interface Waiting extends OpenRequest {
  readonly command: RequestApproval;
  /** How the policy has changed since the request; null: it has not. */
  readonly policyChange: string | null;
}

/** What is told when a request's turn comes. */
export function waitingFor(
  sessionId: string,
  { commandId, payload }: RequestApproval,
  policy: AskedUnder,
): Said {
  const reason = `${commandId}: ${payload.reason}`;
  return {
    event: "SessionStatusChanged",
    payload: { sessionId, status: "waiting for approval", reason },
    policy,
  };
}

export function openRequests(
  config: SessionConfig,
  entries: readonly SessionEntry[],
  policies: PolicyConfig,
): Waiting[] {
  return pendingCommands(entries).flatMap(({ command, principal }) => {
    if (command.command !== "RequestApproval" || !isWaiting(entries, command.commandId)) return [];
    const { commandId, payload } = command;
    const at = entries.findIndex((entry) => tells(entry, commandId));
    const before = entries.slice(0, at);
    const asked = entries[at]?.policy;
    const policyChange = changeOf(config, asked, policies, principal);
    const digest = digestAt(config, before, asked);
    const stale = policyChange !== null || digest !== digestAt(config, entries, asked);
    const { branch = null, head = null } = workspaceIn(before) ?? {};
    const { reason, requiredActions } = payload;
    const sequence = entries[at]?.event.sequence ?? 0;
    return [
      {
        ...{ commandId, sequence, reason, requiredActions, requestedBy: principal, digest, branch, head },
        ...{ stale, command, policyChange },
      },
    ];
  });
}

/** The approvals given under a policy that has changed since, by the ids of their requests, with the change. */
export function staleApprovals(
  config: SessionConfig,
  entries: readonly SessionEntry[],
  policies: PolicyConfig,
): Map<string, string> {
  const stale = new Map<string, string>();
  for (const { command, principal = null } of entries) {
    if (command?.command !== "RequestApproval" || !isApproved(entries, command.commandId)) continue;
    const asked = entries.find((entry) => tells(entry, command.commandId))?.policy;
    const change = changeOf(config, asked, policies, principal);
    if (change !== null) stale.set(command.commandId, change);
  }
  return stale;
}

function tells({ event }: SessionEntry, commandId: string): boolean {
  return event.event === "SessionStatusChanged" && event.correlation.commandId === commandId;
}

function isApproved(entries: readonly SessionEntry[], commandId: string): boolean {
  return entries.some(
    ({ event }) =>
      event.event === "CommandCompleted" &&
      event.payload.commandId === commandId &&
      event.payload.outcome === "Success",
  );
}

/** Older entries do not tell the policy, so no change of it is seen. */
function changeOf(
  config: SessionConfig,
  asked: AskedUnder | undefined,
  policies: PolicyConfig,
  principal: string | null,
): string | null {
  if (asked === undefined) return null;
  const held = profilesFor(policies, asked.places, principal ?? speakerOf(config));
  return policyDigest(held) === asked.digest ? null : policyChanged(config.repo.path, held);
}

function digestAt(
  { policy }: SessionConfig,
  entries: readonly SessionEntry[],
  asked: AskedUnder | undefined,
): string {
  const bound = { policy, workspace: workspaceIn(entries) };
  const document = asked === undefined ? bound : { ...bound, deployment: asked.digest };
  return digestOf(Buffer.from(canonicalJson(document), "utf8"));
}
