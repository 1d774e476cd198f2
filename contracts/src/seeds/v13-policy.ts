/** Contracts v1.3 (seed 004): policy profiles, sessions, configuration. */
import { Type, type Static } from "typebox";
import { RepoRef } from "../refs.ts";
import { closed } from "../shape.ts";
import { PlanNodeId, SessionId, WorkItemRef, WorkspaceRef } from "./v13-refs.ts";

const names = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });

export const RateLimits = closed({
  callsPerMinute: Type.Optional(Type.Integer({ minimum: 0, description: "Calls a minute." })),
  burst: Type.Optional(Type.Integer({ minimum: 0, description: "Calls at once." })),
  perCommandCaps: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: "Calls by command name." }),
  ),
});
export type RateLimits = Static<typeof RateLimits>;

export const PolicyProfile = closed(
  {
    name: Type.String({ minLength: 1 }),
    commandWhitelist: Type.Optional(names("Only these commands.")),
    commandBlacklist: Type.Optional(names("None of these commands.")),
    protectedBranches: names("Branches that must not be pushed to."),
    maxFilesPerCommit: Type.Optional(Type.Integer({ minimum: 1 })),
    requireTestsBeforePush: Type.Boolean(),
    requireApprovalForPush: Type.Boolean(),
    allowedWorkItemTransitions: names("States a ticket may be moved to."),
    limits: Type.Optional(RateLimits),
  },
  { description: "What a session or agent may do; enforced before dispatch (seed 004)." },
);
export type PolicyProfile = Static<typeof PolicyProfile>;

export const SessionConfig = closed({
  sessionId: SessionId,
  parentSessionId: Type.Optional(SessionId),
  planNodeId: Type.Optional(PlanNodeId),
  policy: PolicyProfile,
  repo: RepoRef,
  workspace: WorkspaceRef,
  workItem: Type.Optional(WorkItemRef),
  agentProfile: Type.String({ minLength: 1 }),
});
export type SessionConfig = Static<typeof SessionConfig>;

export const AdaptersConfig = closed({
  workItemsAdapter: Type.String({ minLength: 1 }),
  vcsAdapter: Type.String({ minLength: 1 }),
  terminalAdapter: Type.String({ minLength: 1 }),
  buildAdapter: Type.Optional(Type.String({ minLength: 1, description: "Opt-in." })),
});
export type AdaptersConfig = Static<typeof AdaptersConfig>;

export const PolicyConfig = closed({
  profiles: Type.Record(Type.String(), PolicyProfile),
  defaultProfile: Type.String({ minLength: 1, description: "Name of one of the profiles." }),
  globalLimits: RateLimits,
});
export type PolicyConfig = Static<typeof PolicyConfig>;
