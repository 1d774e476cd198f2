// Binds a session to its repository and policy: it may reach nothing else.
import { AntiphonError } from "@antiphon/contracts";
import type { PolicyProfile } from "@antiphon/contracts";
import type { PolicyRefusal } from "../policy/policy.ts";
import { refused } from "../policy/policy-guard.ts";
import type { RepositoryPlace } from "../intents/repository-place.ts";

export interface SessionBinding {
  readonly sessionId: string;
  /** The authenticated principal that opened it. */
  readonly owner: string;
  /** Top of the repository's work tree. */
  readonly repo: string;
  readonly policy: PolicyProfile;
}

/** The name of the rule that binds a session to its repository; no profile can lift it. */
export const SESSION_REPO = "session.repo";

/** Null: it is the session's own repository. A missing repository and another one get the same answer. */
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

/** The owner of a session's intents and runs, separate from the principal that opened it. */
export function speakerOf(session: Pick<SessionBinding, "sessionId">): string {
  return `session:${session.sessionId}`;
}

/** @throws AntiphonError ANT_INTENT_NOT_FOUND for an intent of another owner */
export function requireOwnIntent(session: SessionBinding, intentId: string, principal: string): void {
  if (principal !== speakerOf(session))
    throw new AntiphonError("ANT_INTENT_NOT_FOUND", `there is no intent ${intentId}`);
}
