// Shows the policy of a repository, and checks an intent against it. Writes nothing and counts no call.
import { AntiphonError, isMaterial, looksLikeUrl, validate } from "@antiphon/contracts";
import type { PolicyProfile, RateLimits } from "@antiphon/contracts";
import { malformed } from "../http/malformed.ts";
import { profilesFor } from "./policy-choice.ts";
import type { Holding } from "./policy-choice.ts";
import type { PolicyRefusal } from "./policy.ts";
import { runOptionsOf } from "../intents/run-options.ts";
import { briefSources } from "../intents/connector-reading.ts";
import type { Asked, PolicyGuard } from "./policy-guard.ts";
import type { Backend } from "../ports.ts";
import { placeOf, placesOf } from "../intents/repository-place.ts";

export interface HeldProfile {
  readonly name: string;
  readonly place: string;
  /** Index of the rule that selects it; null: it is the default profile. */
  readonly rule: number | null;
}

export interface PolicyExplanation {
  readonly repo: string;
  readonly principal: string;
  readonly holds: readonly HeldProfile[];
  readonly profiles: readonly PolicyProfile[];
  readonly globalLimits: RateLimits;
}

export interface PolicyAnswer {
  readonly allowed: boolean;
  readonly holds: readonly HeldProfile[];
  readonly refusal: PolicyRefusal | null;
}

export class PolicyController {
  readonly #backend: Backend;
  readonly #guard: PolicyGuard;

  constructor(backend: Backend, guard: PolicyGuard) {
    this.#backend = backend;
    this.#guard = guard;
  }

  async explain(path: string, principal: string): Promise<PolicyExplanation> {
    if (!path.startsWith("/") && !looksLikeUrl(path))
      throw new AntiphonError("ANT_CONTRACT_INVALID", "repo: must be an absolute path or a URL", {
        data: { path: "repo" },
      });
    const policies = await this.#guard.policies();
    const repo = { name: path, path };
    const place = placeOf(await this.#backend.inspect({ repo, allow_dirty: true, image_named: true }));
    const holdings = profilesFor(policies, placesOf(place), principal);
    return {
      repo: place.top,
      principal,
      holds: holdings.map(shown),
      profiles: holdings.map(({ profile }) => profile),
      globalLimits: policies.globalLimits,
    };
  }

  /** Judges the intent as starting its run would now. */
  async check(body: unknown, principal: string): Promise<PolicyAnswer> {
    const outcome = validate("Intent", body ?? null);
    if (!outcome.ok) throw malformed("ANT_INTENT_INVALID", outcome.errors);
    const intent = outcome.value;
    const options = runOptionsOf(intent);
    const { repo, base_ref, land_on } = options;
    if (isMaterial(repo)) {
      const { places } = await briefSources(this.#backend, intent);
      return this.#answer({ intent, options, places, landRef: null, principal });
    }
    const found = await this.#backend.inspect({
      ...{ repo, allow_dirty: true, image_named: true },
      ...(base_ref === undefined ? {} : { base_ref }),
      ...(land_on === undefined ? {} : { land_on }),
    });
    const places = placesOf(placeOf(found));
    return this.#answer({ intent, options, places, landRef: found.land_ref ?? null, principal });
  }

  async #answer(asked: Asked): Promise<PolicyAnswer> {
    const { holdings, refusal } = await this.#guard.judge(asked);
    return { allowed: refusal === null, holds: holdings.map(shown), refusal };
  }
}

function shown({ key, place, rule }: Holding): HeldProfile {
  return { name: key, place, rule };
}
