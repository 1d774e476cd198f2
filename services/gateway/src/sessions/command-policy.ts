// Decides whether a session's command may be dispatched (seed 004: enforced before dispatch). A limit counts only
// accepted commands of the session, regardless of the agent that the caller names. Pure: the clock is an argument.
import type { Command, CommandName, PolicyProfile, RateLimits, SessionWorkspace } from "@antiphon/contracts";
import { commandDeed } from "./command-deed.ts";
import { judgeDeed } from "../policy/policy.ts";

export interface PastCommand {
  readonly command: CommandName;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null: not completed yet. */
  readonly outcome: "Success" | "Failure" | null;
  /** An approval under a policy that has changed since: it does not count. */
  readonly isStale: boolean;
}

export interface PolicyInput {
  /** All of them apply; the first refusal counts. */
  readonly profiles: readonly PolicyProfile[];
  readonly globalLimits: RateLimits;
  /** The commands accepted in this session, oldest first. */
  readonly past: readonly PastCommand[];
  /** What the completed commands have made; null: nothing. */
  readonly workspace: SessionWorkspace | null;
  readonly now: number;
}

export type PolicyVerdict =
  | { kind: "allowed" }
  | { kind: "rejected"; policyRule: string; reason: string }
  /** Rejected for now: the same command may pass at `retryAt`. */
  | { kind: "throttled"; policyRule: string; reason: string; retryAt: number };

const MINUTE = 60_000;

export function judgeCommand(command: Command, input: PolicyInput): PolicyVerdict {
  const { profiles, globalLimits, past, workspace } = input;
  const deed = commandDeed(command, past, workspace);
  for (const profile of profiles) {
    const refusal = judgeDeed(deed, profile);
    if (refusal !== null) return { kind: "rejected", policyRule: refusal.rule, reason: refusal.reason };
    const limit = limited(command, profile.limits ?? {}, `limits`, `profile ${profile.name}`, input);
    if (limit !== null) return limit;
  }
  return limited(command, globalLimits, "globalLimits", "the deployment", input) ?? { kind: "allowed" };
}

function limited(
  { command }: Command,
  limits: RateLimits,
  where: string,
  whose: string,
  { past, now }: PolicyInput,
): PolicyVerdict | null {
  const cap = limits.perCommandCaps?.[command];
  if (cap !== undefined && past.filter((one) => one.command === command).length >= cap) {
    const reason = `${command} may be used ${cap} times in a session (${whose})`;
    return { kind: "rejected", policyRule: `${where}.perCommandCaps`, reason };
  }
  const throttled = (rule: string, allowed: number, windowMs: number): PolicyVerdict | null => {
    const recent = past.filter((one) => one.at > now - windowMs);
    if (recent.length < allowed) return null;
    const first = recent[recent.length - allowed];
    const retryAt = (first?.at ?? now) + windowMs;
    const reason = `${allowed} calls are allowed (${whose})`;
    return { kind: "throttled", policyRule: `${where}.${rule}`, reason, retryAt };
  };
  const { burst, callsPerMinute } = limits;
  return (
    (burst === undefined ? null : throttled("burst", burst, 1_000)) ??
    (callsPerMinute === undefined ? null : throttled("callsPerMinute", callsPerMinute, MINUTE))
  );
}
