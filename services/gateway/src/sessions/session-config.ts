// The configuration of a session that is opened: its repository, its workspace and the policy that binds it.
import {
  AntiphonError,
  validate,
  type SessionConfig,
  type PolicyConfig,
  type PolicyProfile,
} from "@antiphon/contracts";
import { malformed } from "../http/malformed.ts";
import { locate, placeOf, placesOf, type RepositoryPlace } from "../intents/repository-place.ts";
import { profilesFor } from "../policy/policy-choice.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";

interface Parts {
  readonly guard: PolicyGuard;
  readonly backend: Pick<Backend, "inspect">;
}

/** @throws AntiphonError ANT_POLICY_UNKNOWN if the deployment has no profile of that name; ANT_REPO_* */
export async function sessionConfig(
  { guard, backend }: Parts,
  { sessionId, body, principal }: { sessionId: string; body: unknown; principal: string },
): Promise<SessionConfig> {
  const outcome = validate("SessionRequest", body);
  if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
  const { policy: name, repo, workspace, workItem, agentProfile = "default" } = outcome.value;
  const policies = await guard.policies();
  const named = name === undefined ? null : namedProfile(policies, name);
  const place = placeOf(await backend.inspect({ repo, allow_dirty: true, image_named: true }));
  if (workspace !== undefined) await requireWorkspace(backend, workspace.path, place);
  const [held] = profilesFor(policies, placesOf(place), principal);
  const policy = named ?? held?.profile ?? namedProfile(policies, policies.defaultProfile);
  const ticket = workItem === undefined ? {} : { workItem };
  return {
    ...{ sessionId, policy, repo: { name: repo.name, path: place.top } },
    workspace: workspace ?? { path: place.top },
    ...ticket,
    agentProfile,
  };
}

/** A workspace must be a work tree of the session's repository. */
async function requireWorkspace(
  backend: Parts["backend"],
  path: string,
  { top, home }: RepositoryPlace,
): Promise<void> {
  const found = await locate(backend, { name: "workspace", path });
  if (found !== null && (found.top === top || found.home === home)) return;
  const message = `/workspace/path: ${path} is not a work tree of the session's repository`;
  throw new AntiphonError("ANT_CONTRACT_INVALID", message, { data: { path: "/workspace/path" } });
}

/** gateway/G6: only a profile of the deployment; hasOwn excludes names such as `__proto__`. */
function namedProfile({ profiles }: PolicyConfig, name: string): PolicyProfile {
  const policy = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (policy !== undefined) return policy;
  const known = Object.keys(profiles).join(", ");
  throw new AntiphonError(
    "ANT_POLICY_UNKNOWN",
    `there is no profile ${JSON.stringify(name)}; known: ${known}`,
  );
}
