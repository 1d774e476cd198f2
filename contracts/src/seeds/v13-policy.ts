/**
 * Contracts v1.3 (seed 004): policy profiles, sessions, configuration. Fields marked "Ours" are optional additions; a
 * document without them has the same meaning as in v1.3.
 */
import { Type, type Static } from "typebox";
import { Gate, RiskClass } from "../runs/approvals.ts";
import { GateAgent } from "../runs/skill-gates.ts";
import { RepoRef } from "../shapes/refs.ts";
import { closed, oneOf } from "../shapes/shape.ts";
import { PlanNodeId, SessionId, WorkItemRef, WorkspaceRef } from "./v13-refs.ts";

const names = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });
const globs = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 256, description });
const most = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

export const RateLimits = closed({
  callsPerMinute: Type.Optional(Type.Integer({ minimum: 0, description: "Calls per minute." })),
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
    allowedWorkItemTransitions: names("States that a ticket may be moved to."),
    limits: Type.Optional(RateLimits),
    maxLinesPerCommit: most("Ours: lines added and removed by one commit."),
    protectedPaths: Type.Optional(globs("Ours: paths that no change may touch, even with a grant.")),
    requireProof: Type.Optional(
      oneOf(["nothing", "regression", "fail-to-pass"], {
        description:
          "Ours: what the checks must prove about a change, so that it lands without people's approval. Absent: they must use its sources. `nothing`: not even that.",
      }),
    ),
    minTrials: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        description: "Ours: least number of trials of a run's checks. Absent: the run decides.",
      }),
    ),
    autoLand: Type.Optional({
      ...RiskClass,
      description:
        "Ours: the changes that land without people; every other one waits for a person's approval. Absent: all.",
    }),
    gates: Type.Optional(
      Type.Array(Gate, {
        maxItems: 64,
        description: "Ours: decisions of people that certain changes need before they land.",
      }),
    ),
    judge: Type.Optional({
      ...GateAgent,
      description: "Ours: who judges where a gate with a skill names nobody. Absent: see `ownJudges`.",
    }),
    ownJudges: Type.Optional(
      Type.Boolean({
        description:
          "Ours: a run may be judged by the agent that it brings itself, also by its author. Default: false; then only a pack of the deployment may judge where nobody is named.",
      }),
    ),
    allowedGrants: Type.Optional(
      globs("Ours: protected paths that a run may be granted. Absent: any; empty: none."),
    ),
    allowedAgents: Type.Optional(names("Ours: kinds of agent that a run may use. Absent: all.")),
    allowedEgress: Type.Optional(
      Type.Array(oneOf(["none", "git+pkg", "allowlist"]), {
        description: "Ours: network profiles that a run may ask for. Absent: all.",
      }),
    ),
    allowedHosts: Type.Optional(
      globs("Ours: hosts that a run may name; `*.example.org` is every host below it. Absent: any."),
    ),
    allowModels: Type.Optional(
      Type.Boolean({ description: "Ours: false forbids model calls. Absent: they are allowed." }),
    ),
    maxModelTokens: most(
      "Ours: maximum tokens of a run's model calls. A run that calls models must name its own budget.",
    ),
    maxModelUsdMicro: most("Ours: maximum cost of a run's model calls, in millionths of a US dollar."),
    maxAttempts: most("Ours: maximum attempts of a task."),
    maxTimeBudgetS: most("Ours: maximum seconds of an attempt."),
    maxRunTimeBudgetS: most("Ours: maximum wall-clock seconds of a run."),
  },
  { description: "Permissions of a session, a run or an agent, enforced before dispatch (seed 004)." },
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
        pattern: "^(/|[A-Za-z]+://)",
        description: "Glob of an absolute path or of a URL; it also matches everything below.",
      }),
    ),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "Glob of the repository's directory name." }),
    ),
    principal: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "Authenticated caller." }),
    ),
    profile: Type.String({ minLength: 1, description: "Name of one of the profiles." }),
  },
  { description: "Ours: selects a profile if all its conditions match. The first matching rule applies." },
);
export type PolicyRule = Static<typeof PolicyRule>;

export const PolicyConfig = closed({
  profiles: Type.Record(Type.String(), PolicyProfile),
  defaultProfile: Type.String({ minLength: 1, description: "Name of one of the profiles." }),
  globalLimits: RateLimits,
  rules: Type.Optional(
    Type.Array(PolicyRule, {
      maxItems: 256,
      description: "Ours: rules that select a profile. If none matches, `defaultProfile` applies.",
    }),
  ),
});
export type PolicyConfig = Static<typeof PolicyConfig>;
