// The deployment's policy at the gateway's doors: which profiles hold, what they say, and how often somebody may call.
//
// Invariants:
//   PG1 What a profile forbids is refused before anything of it is stored, with profile, rule and value.
//   PG2 Calls count for whoever was authenticated, over all doors and sessions together. Memory is bounded: the
//       windows of those who called longest ago are forgotten.
import { AntiphonError, limits } from "@antiphon/contracts";
import type {
  Intent,
  PolicyBounds,
  PolicyConfig,
  PolicyProfile,
  RateLimits,
  RunOptions,
} from "@antiphon/contracts";
import { CallWindow } from "../http/call-window.ts";
import type { PolicyVerdict } from "../sessions/command-policy.ts";
import { profilesFor } from "./policy-choice.ts";
import type { Holding } from "./policy-choice.ts";
import { judgeDeed } from "./policy.ts";
import type { PolicyRefusal } from "./policy.ts";
import { boundsOf, runDeed, withinBudgets } from "./run-deed.ts";

export interface PolicyParts {
  policies(): Promise<PolicyConfig>;
  now(): number;
}

export interface Asked {
  readonly intent: Intent;
  readonly options: RunOptions;
  /** Absolute paths of the repository's directories. */
  readonly places: readonly string[];
  /** The branch that `land_on` moves, as the repository says; null: it names none, or was not asked. */
  readonly landRef: string | null;
  /** As authenticated. */
  readonly principal: string;
  /** A profile that holds besides those of the repository: that of a session. */
  readonly sessionPolicy?: PolicyProfile;
}

export interface Judged {
  readonly holdings: readonly Holding[];
  /** With budgets the caller left open brought within the bounds. */
  readonly options: RunOptions;
  readonly bounds: PolicyBounds;
  readonly refusal: PolicyRefusal | null;
}

type Throttle = Extract<PolicyVerdict, { kind: "throttled" }>;

const WINDOWS = { burst: 1_000, callsPerMinute: 60_000 } as const;
type WindowName = keyof typeof WINDOWS;

export class PolicyGuard {
  readonly #parts: PolicyParts;
  /** PG2. By principal and whose limit it is; the one used last is last. */
  readonly #windows = new Map<string, Record<WindowName, CallWindow>>();

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  policies(): Promise<PolicyConfig> {
    return this.#parts.policies();
  }

  /** Which profiles hold, and what they would say. Counts nothing. */
  async judge(asked: Asked): Promise<Judged> {
    const { intent, places, principal, landRef, sessionPolicy } = asked;
    const holdings = profilesFor(await this.policies(), places, principal);
    const profiles = distinct([
      ...(sessionPolicy === undefined ? [] : [sessionPolicy]),
      ...holdings.map(({ profile }) => profile),
    ]);
    const options = withinBudgets(asked.options, intent, profiles);
    const deed = runDeed(options, landRef);
    let refusal: PolicyRefusal | null = null;
    for (const profile of profiles) refusal ??= judgeDeed(deed, profile);
    return { holdings, options, bounds: boundsOf(profiles), refusal };
  }

  /** PG1. `counted`: the call was counted as a command before. @throws AntiphonError ANT_POLICY_REFUSED, _THROTTLED */
  async admitRun(asked: Asked, counted = false): Promise<Judged> {
    const judged = await this.judge(asked);
    if (judged.refusal !== null) throw refused(judged.refusal);
    if (counted) return judged;
    const { principal } = asked;
    const throttle = this.#take(
      principal,
      judged.holdings.map(({ profile }) => profile),
      null,
    );
    if (throttle !== null) throw this.#tooMany(throttle);
    return judged;
  }

  /** PG2. A call at a door. @throws AntiphonError ANT_POLICY_THROTTLED */
  async admitCall(principal: string): Promise<void> {
    const { globalLimits } = await this.policies();
    const throttle = this.#take(principal, [], globalLimits);
    if (throttle !== null) throw this.#tooMany(throttle);
  }

  /** PG2. A session's command, which is told of a limit in an event. */
  takeCommand(
    principal: string,
    profiles: readonly PolicyProfile[],
    globalLimits: RateLimits,
  ): Throttle | null {
    return this.#take(principal, profiles, globalLimits);
  }

  /** Counts the call where all limits have room for it; else it is the first that has none. */
  #take(
    principal: string,
    profiles: readonly PolicyProfile[],
    globalLimits: RateLimits | null,
  ): Throttle | null {
    const now = this.#parts.now();
    const limited = [
      ...profiles.map(({ name, limits: own = {} }) => ({ where: "limits", whose: `profile ${name}`, own })),
      ...(globalLimits === null
        ? []
        : [{ where: "globalLimits", whose: "the deployment", own: globalLimits }]),
    ];
    const taken: CallWindow[] = [];
    for (const { where, whose, own } of limited) {
      for (const rule of ["burst", "callsPerMinute"] as const) {
        const allowed = own[rule];
        if (allowed === undefined) continue;
        const window = this.#window(JSON.stringify([principal, where, whose]))[rule];
        const retryAt = window.freeAt(now, allowed);
        if (retryAt > now) {
          const reason = `${allowed} calls are allowed to ${principal} (${whose})`;
          return { kind: "throttled", policyRule: `${where}.${rule}`, reason, retryAt };
        }
        taken.push(window);
      }
    }
    for (const window of taken) window.add(now);
    return null;
  }

  #window(key: string): Record<WindowName, CallWindow> {
    const known = this.#windows.get(key);
    const window = known ?? {
      burst: new CallWindow(WINDOWS.burst),
      callsPerMinute: new CallWindow(WINDOWS.callsPerMinute),
    };
    this.#windows.delete(key);
    this.#windows.set(key, window);
    const oldest = this.#windows.keys().next();
    if (this.#windows.size > limits.rateWindows && oldest.done !== true) this.#windows.delete(oldest.value);
    return window;
  }

  #tooMany({ policyRule: rule, reason, retryAt }: Throttle): AntiphonError {
    const retryAfterS = Math.max(1, Math.ceil((retryAt - this.#parts.now()) / 1000));
    return new AntiphonError("ANT_POLICY_THROTTLED", reason, { data: { rule, retryAfterS } });
  }
}

/** PG1: names profile, rule and value. */
export function refused({ profile, rule, value, reason }: PolicyRefusal): AntiphonError {
  return new AntiphonError("ANT_POLICY_REFUSED", reason, { data: { profile, rule, value } });
}

function distinct(profiles: readonly PolicyProfile[]): PolicyProfile[] {
  const seen = new Set<string>();
  return profiles.filter((profile) => {
    const text = JSON.stringify(profile);
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}
