// Whether a command may be dispatched (seed 004: enforced before dispatch). Pure: the clock is an argument.
//
// Invariants:
//   PO1 A command that any rule of the profile or a global limit forbids is not dispatched; the first rule is named.
//   PO2 A limit counts what the same agent was allowed to do in the session, not what it tried.
import type { Command, CommandName, PolicyProfile, RateLimits } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/unified-diff";

export interface PastCommand {
  readonly command: CommandName;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** IssuerAgentId; null: none was named. */
  readonly agent: string | null;
  /** null: still under way. */
  readonly outcome: "Success" | "Failure" | null;
}

export interface PolicyInput {
  readonly profile: PolicyProfile;
  readonly globalLimits: RateLimits;
  /** What was accepted in this session, oldest first. */
  readonly past: readonly PastCommand[];
  readonly now: number;
}

export type PolicyVerdict =
  | { kind: "allowed" }
  | { kind: "rejected"; policyRule: string; reason: string }
  /** Rejected for now: the same command may pass at `retryAt`. */
  | { kind: "throttled"; policyRule: string; reason: string; retryAt: number };

const MINUTE = 60_000;
/** What changes the repository, so that tests from before it say nothing about it. */
const CHANGES: readonly CommandName[] = ["ApplyPatch", "Commit"];

export function judgeCommand(command: Command, input: PolicyInput): PolicyVerdict {
  const { profile, globalLimits } = input;
  return (
    listed(command, profile) ??
    aboutBranches(command, input) ??
    aboutContent(command, profile) ??
    limited(command, profile.limits ?? {}, "limits", input) ??
    limited(command, globalLimits, "globalLimits", input) ?? { kind: "allowed" }
  );
}

function rejected(policyRule: string, reason: string): PolicyVerdict {
  return { kind: "rejected", policyRule, reason }; // PO1
}

function listed({ command }: Command, profile: PolicyProfile): PolicyVerdict | null {
  if (profile.commandBlacklist?.includes(command) === true)
    return rejected("commandBlacklist", `${command} is on the blacklist of profile ${profile.name}`);
  if (profile.commandWhitelist?.includes(command) === false)
    return rejected("commandWhitelist", `${command} is not on the whitelist of profile ${profile.name}`);
  return null;
}

function aboutBranches(command: Command, { profile, past }: PolicyInput): PolicyVerdict | null {
  if (command.command !== "Push") return null;
  const { branchName } = command.payload;
  if (profile.protectedBranches.includes(branchName.replace(/^refs\/heads\//, "")))
    return rejected("protectedBranches", `${branchName} is protected`);
  const changedAt = past.findLastIndex((one) => CHANGES.includes(one.command));
  const since = past.slice(changedAt + 1);
  const passed = (name: CommandName): boolean =>
    since.some((one) => one.command === name && one.outcome === "Success");
  if (profile.requireTestsBeforePush && !passed("RunTests"))
    return rejected("requireTestsBeforePush", "no RunTests has succeeded since the last change");
  if (profile.requireApprovalForPush && !passed("RequestApproval"))
    return rejected("requireApprovalForPush", "no RequestApproval has been granted since the last change");
  return null;
}

function aboutContent(command: Command, profile: PolicyProfile): PolicyVerdict | null {
  if (command.command === "TransitionTicket") {
    const { state } = command.payload;
    if (profile.allowedWorkItemTransitions.includes(state)) return null;
    return rejected("allowedWorkItemTransitions", `a ticket may not be moved to ${JSON.stringify(state)}`);
  }
  const most = profile.maxFilesPerCommit;
  const files = filesOf(command);
  if (most === undefined || files <= most) return null;
  return rejected("maxFilesPerCommit", `${files} files, at most ${most} are allowed`);
}

function filesOf(command: Command): number {
  if (command.command === "Commit") return command.payload.includePaths.length;
  return command.command === "ApplyPatch" ? splitDiff(command.payload.patchContent).length : 0;
}

function limited(
  { command, correlation }: Command,
  limits: RateLimits,
  where: string,
  { past, now }: PolicyInput,
): PolicyVerdict | null {
  const own = past.filter((one) => one.agent === (correlation.issuerAgentId ?? null)); // PO2
  const cap = limits.perCommandCaps?.[command];
  if (cap !== undefined && own.filter((one) => one.command === command).length >= cap)
    return rejected(`${where}.perCommandCaps`, `${command} may be used ${cap} times in a session`);
  const throttled = (rule: string, allowed: number, windowMs: number): PolicyVerdict | null => {
    const recent = own.filter((one) => one.at > now - windowMs);
    if (recent.length < allowed) return null;
    const first = recent[recent.length - allowed];
    const retryAt = (first?.at ?? now) + windowMs;
    return {
      kind: "throttled",
      policyRule: `${where}.${rule}`,
      reason: `${allowed} calls are allowed`,
      retryAt,
    };
  };
  const { burst, callsPerMinute } = limits;
  return (
    (burst === undefined ? null : throttled("burst", burst, 1_000)) ??
    (callsPerMinute === undefined ? null : throttled("callsPerMinute", callsPerMinute, MINUTE))
  );
}
