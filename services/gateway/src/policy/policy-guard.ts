// Applies the deployment's policy to every request that leads to a run: selects the profiles, judges the request, and
// limits the rate of calls.
//
// A forbidden request is refused before anything is stored, with profile, rule and value. Calls count per authenticated
// principal, over all routes and sessions together. Memory is bounded: the windows of the least recent callers are
// dropped.
import { LRUCache } from "lru-cache";
import { AntiphonError, limits } from "@antiphon/contracts";
import type {
  InheritedBudget,
  Intent,
  PolicyBounds,
  PolicyConfig,
  PolicyProfile,
  RateLimits,
  RunOptions,
} from "@antiphon/contracts";
import { CallWindow } from "../http/call-window.ts";
import type { PolicyVerdict } from "../sessions/command-policy.ts";
import { withinEgress } from "../intents/seed-network.ts";
import { profilesFor } from "./policy-choice.ts";
import type { Holding } from "./policy-choice.ts";
import { judgesOf, type Judges } from "./judges.ts";
import { policyDigest } from "./policy-digest.ts";
import { judgeDeed } from "./policy.ts";
import type { KnownChange, PolicyRefusal } from "./policy.ts";
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
  /** The branch that `land_on` resolves to in the repository; null: none, or the repository was not inspected. */
  readonly landRef: string | null;
  /** The authenticated principal. */
  readonly principal: string;
  /** What the run changed, if it is on record. */
  readonly changes?: readonly KnownChange[];
  /** Budgets that a retry takes over, which are narrowed where a stated one is refused. Default: none. */
  readonly inherited?: readonly InheritedBudget[];
  /** A session's profile, which applies besides those of the repository. */
  readonly sessionPolicy?: PolicyProfile;
}

export interface Judged {
  readonly holdings: readonly Holding[];
  /** The options, with budgets that the caller left open set to the profiles' bounds. */
  readonly options: RunOptions;
  readonly bounds: PolicyBounds;
  readonly judges: Judges;
  readonly refusal: PolicyRefusal | null;
}

type Throttle = Extract<PolicyVerdict, { kind: "throttled" }>;

const WINDOWS = { burst: 1_000, callsPerMinute: 60_000 } as const;
type WindowName = keyof typeof WINDOWS;

export class PolicyGuard {
  readonly #parts: PolicyParts;
  /** Keyed by principal and the owner of the limit; the most recently used is last. */
  readonly #windows = new LRUCache<string, Record<WindowName, CallWindow>>({ max: limits.rateWindows });

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  policies(): Promise<PolicyConfig> {
    return this.#parts.policies();
  }

  /** Judges a request without counting a call. `config`: by another policy than the stored one. */
  async judge(asked: Asked, config?: PolicyConfig): Promise<Judged> {
    const { intent, places, principal, landRef, sessionPolicy, inherited } = asked;
    const holdings = profilesFor(config ?? (await this.policies()), places, principal);
    const profiles = distinct([
      ...(sessionPolicy === undefined ? [] : [sessionPolicy]),
      ...holdings.map(({ profile }) => profile),
    ]);
    const within = withinBudgets(asked.options, intent, profiles, inherited);
    const options = withinEgress(within, intent, profiles);
    const named = runDeed(options, landRef);
    const deed = { ...named, changes: [...named.changes, ...(asked.changes ?? [])] };
    let refusal: PolicyRefusal | null = null;
    for (const profile of profiles) refusal ??= judgeDeed(deed, profile);
    const bounds = { ...boundsOf(profiles), digest: policyDigest(holdings) };
    return { holdings, options, bounds, judges: judgesOf(profiles), refusal };
  }

  /** `counted`: the call was already counted as a command. @throws AntiphonError ANT_POLICY_REFUSED, _THROTTLED */
  async admitRun(asked: Asked, counted = false): Promise<Judged> {
    const judged = await this.judge(asked);
    if (judged.refusal !== null) throw refused(judged.refusal); // gateway/G1
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

  /** Counts a request. @throws AntiphonError ANT_POLICY_THROTTLED */
  async admitCall(principal: string): Promise<void> {
    const { globalLimits } = await this.policies();
    const throttle = this.#take(principal, [], globalLimits);
    if (throttle !== null) throw this.#tooMany(throttle);
  }

  /** Counts a session's command, which learns of a limit through an event instead of an error. */
  takeCommand(
    principal: string,
    profiles: readonly PolicyProfile[],
    globalLimits: RateLimits,
  ): Throttle | null {
    return this.#take(principal, profiles, globalLimits);
  }

  /** Counts the call if every limit allows it; otherwise returns the first limit that does not. */
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
    this.#windows.set(key, window);
    return window;
  }

  #tooMany({ policyRule: rule, reason, retryAt }: Throttle): AntiphonError {
    const retryAfterS = Math.max(1, Math.ceil((retryAt - this.#parts.now()) / 1000));
    return new AntiphonError("ANT_POLICY_THROTTLED", reason, { data: { rule, retryAfterS } });
  }
}

/** The error names profile, rule and value. */
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
