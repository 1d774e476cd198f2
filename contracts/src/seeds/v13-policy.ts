/**
 * Contracts v1.3 (seed 004): policy profiles, sessions, configuration. The fields that say "Ours" are additions: they
 * are optional, and a document without them means what it meant in v1.3.
 */
import { Type, type Static } from "typebox";
import { RepoRef } from "../shapes/refs.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { PlanNodeId, SessionId, WorkItemRef, WorkspaceRef } from "./v13-refs.ts";

const names = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });
const globs = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 256, description });
const most = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

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
    protectedBranches: names("Branches that must not be pushed to. Ours: `release/*` and `**` are patterns."),
    maxFilesPerCommit: Type.Optional(Type.Integer({ minimum: 1 })),
    requireTestsBeforePush: Type.Boolean(),
    requireApprovalForPush: Type.Boolean(),
    allowedWorkItemTransitions: names("States a ticket may be moved to."),
    limits: Type.Optional(RateLimits),
    maxLinesPerCommit: most("Ours: lines added and removed by one commit."),
    protectedPaths: Type.Optional(globs("Ours: paths no change may touch, whatever was granted.")),
    allowedGrants: Type.Optional(
      globs("Ours: protected paths a run may be granted. Absent: any; empty: none."),
    ),
    allowedAgents: Type.Optional(names("Ours: kinds of agent a run may use. Absent: all.")),
    allowedEgress: Type.Optional(
      Type.Array(oneOf(["none", "git+pkg", "allowlist"]), {
        description: "Ours: network profiles a run may ask for. Absent: all.",
      }),
    ),
    allowedHosts: Type.Optional(
      globs("Ours: hosts a run may name; `*.example.org` is every host below it. Absent: any."),
    ),
    allowModels: Type.Optional(
      Type.Boolean({ description: "Ours: false forbids a run to call models. Absent: it may." }),
    ),
    maxModelTokens: most(
      "Ours: most tokens a run's model calls may take; a run that calls models names its own.",
    ),
    maxModelUsdMicro: most("Ours: most they may cost, in millionths of a US dollar."),
    maxAttempts: most("Ours: most attempts a task may have."),
    maxTimeBudgetS: most("Ours: most seconds an attempt may take."),
    maxRunTimeBudgetS: most("Ours: most seconds of wall-clock time a run may take."),
  },
  { description: "What a session, a run or an agent may do; enforced before dispatch (seed 004)." },
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

export const PolicyRule = closed(
  {
    repo: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        pattern: "^/",
        description: "Glob of an absolute path; it names everything below it, too.",
      }),
    ),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "Glob of the repository's directory name." }),
    ),
    principal: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "Who asks, as authenticated." }),
    ),
    profile: Type.String({ minLength: 1, description: "Name of one of the profiles." }),
  },
  { description: "Ours: where all that it names holds, this profile does. The first one that holds counts." },
);
export type PolicyRule = Static<typeof PolicyRule>;

export const PolicyConfig = closed({
  profiles: Type.Record(Type.String(), PolicyProfile),
  defaultProfile: Type.String({ minLength: 1, description: "Name of one of the profiles." }),
  globalLimits: RateLimits,
  rules: Type.Optional(
    Type.Array(PolicyRule, {
      maxItems: 256,
      description: "Ours: which profile holds where. None that holds: `defaultProfile`.",
    }),
  ),
});
export type PolicyConfig = Static<typeof PolicyConfig>;
