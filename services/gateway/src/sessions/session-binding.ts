// What a session of a repository may reach: that repository, under its policy, and nothing else.
import { AntiphonError } from "@antiphon/contracts";
import type { PolicyProfile } from "@antiphon/contracts";
import type { PolicyRefusal } from "../policy/policy.ts";
import { refused } from "../policy/policy-guard.ts";
import type { RepositoryPlace } from "../intents/repository-place.ts";

export interface SessionBinding {
  readonly sessionId: string;
  /** Who opened it, as authenticated. */
  readonly owner: string;
  /** Top of the repository's work tree. */
  readonly repo: string;
  readonly policy: PolicyProfile;
}

/** Stands for the rule that binds a session to its repository; no profile can lift it. */
export const SESSION_REPO = "session.repo";

/** Null: it is the session's own. What is not there and what is another one get one answer. */
export function strays(
  { repo, policy }: Pick<SessionBinding, "repo" | "policy">,
  found: RepositoryPlace | null,
  asked: string,
): PolicyRefusal | null {
  if (found?.top === repo) return null;
  const reason = `${asked} is not the repository of this session (profile ${policy.name}, rule ${SESSION_REPO})`;
  return { profile: policy.name, rule: SESSION_REPO, value: asked, reason };
}

/** @throws AntiphonError ANT_POLICY_REFUSED */
export function requireOwnRepository(
  session: SessionBinding,
  found: RepositoryPlace | null,
  asked: string,
): void {
  const refusal = strays(session, found, asked);
  if (refusal !== null) throw refused(refusal);
}

/** Whose intents and runs a session's are: apart from those of the one who opened it. */
export function speakerOf(session: Pick<SessionBinding, "sessionId">): string {
  return `session:${session.sessionId}`;
}

/** @throws AntiphonError ANT_INTENT_NOT_FOUND for an intent of somebody else */
export function requireOwnIntent(session: SessionBinding, intentId: string, principal: string): void {
  if (principal !== speakerOf(session))
    throw new AntiphonError("ANT_INTENT_NOT_FOUND", `there is no intent ${intentId}`);
}
