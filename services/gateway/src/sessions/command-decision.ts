// Judges one command of a session and writes the decision. It is judged again if the session's log has grown meanwhile.
import type { Command, PolicyProfile, SessionConfig, SessionEntry } from "@antiphon/contracts";
import { judgeCommand } from "./command-policy.ts";
import type { PolicyVerdict } from "./command-policy.ts";
import { profilesFor } from "../policy/policy-choice.ts";
import { staleApprovals } from "./approval-request.ts";
import { pastCommands, workspaceIn } from "./session-log.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";
import { locate, placesOf } from "../intents/repository-place.ts";
import type { RepositoryPlace } from "../intents/repository-place.ts";
import { strays } from "./session-binding.ts";
import type { SessionLog, SessionRegister } from "./session-register.ts";

interface Parts {
  readonly register: SessionRegister;
  readonly guard: PolicyGuard;
  readonly backend: Pick<Backend, "inspect">;
  now(): number;
}

export class CommandDecision {
  readonly #parts: Parts;
  readonly #command: Command;
  readonly #principal: string;
  #found: Promise<RepositoryPlace | null> | null = null;
  /** A command counts as one call, even if it is judged several times. */
  #counted = false;

  constructor(parts: Parts, command: Command, principal: string) {
    this.#parts = parts;
    this.#command = command;
    this.#principal = principal;
  }

  /** False: the log has grown meanwhile, so the command must be judged again. */
  async write(log: SessionLog): Promise<boolean> {
    const { register } = this.#parts;
    const verdict = await this.#verdict(log.config, log.entries);
    const { commandId, correlation } = this.#command;
    const { sessionId } = correlation;
    const about = { ...correlation, commandId };
    if (verdict.kind === "allowed") {
      const accepted = { command: this.#command, principal: this.#principal };
      const said = { event: "CommandAccepted", payload: { commandId } } as const;
      return register.say(sessionId, log.entries, about, said, accepted);
    }
    let { entries } = log;
    if (verdict.kind === "throttled") {
      const retryAfter = new Date(verdict.retryAt).toISOString();
      const payload = { scope: verdict.policyRule, retryAfter };
      if (!(await register.say(sessionId, entries, about, { event: "Throttled", payload }))) return false;
      ({ entries } = await register.read(sessionId));
    }
    const { reason, policyRule } = verdict;
    const payload = { commandId, reason, policyRule };
    return register.say(sessionId, entries, about, { event: "CommandRejected", payload });
  }

  async #verdict(config: SessionConfig, entries: readonly SessionEntry[]): Promise<PolicyVerdict> {
    const { guard } = this.#parts;
    const places = await this.#placesIn(config);
    if (!Array.isArray(places)) return places;
    const policies = await guard.policies();
    const { globalLimits } = policies;
    const held = profilesFor(policies, places, this.#principal).map(({ profile }) => profile);
    const profiles: PolicyProfile[] = [config.policy, ...held];
    const stale = staleApprovals(config, entries, policies);
    const past = pastCommands(entries, stale);
    const input = { profiles, globalLimits, past, workspace: workspaceIn(entries), now: this.#parts.now() };
    const verdict = withStaleness(judgeCommand(this.#command, input), stale);
    if (verdict.kind !== "allowed" || this.#counted) return verdict;
    const throttle = guard.takeCommand(this.#principal, profiles, globalLimits);
    this.#counted = throttle === null;
    return throttle ?? verdict;
  }

  /** The directories of the session's repository, or a refusal if the command is about another one. */
  async #placesIn(config: SessionConfig): Promise<string[] | PolicyVerdict> {
    const { payload } = this.#command;
    if (!("repo" in payload)) return [config.repo.path];
    this.#found ??= locate(this.#parts.backend, payload.repo);
    const found = await this.#found;
    const bound = { repo: config.repo.path, policy: config.policy };
    const refusal = strays(bound, found, payload.repo.path);
    if (refusal !== null) return { kind: "rejected", policyRule: refusal.rule, reason: refusal.reason };
    return found === null ? [] : placesOf(found);
  }
}

/** Tells the person who has an approval why it does not count. */
function withStaleness(verdict: PolicyVerdict, stale: ReadonlyMap<string, string>): PolicyVerdict {
  if (verdict.kind !== "rejected" || verdict.policyRule !== "requireApprovalForPush") return verdict;
  const [last] = [...stale].slice(-1);
  if (last === undefined) return verdict;
  return { ...verdict, reason: `${verdict.reason} (${last[0]} is stale, ANT_APPROVAL_STALE: ${last[1]})` };
}
