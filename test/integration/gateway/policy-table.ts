/**
 * The table of every way in against every rule of the policy, as data. A cell is a test by the name of way and rule, or has a reason
 * why it cannot exist. policy-doors.test.ts and policy-ways.test.ts make a test of each cell.
 */
import type { COMMANDS } from "@antiphon/contracts";
import { type PolicyProfile } from "@antiphon/contracts";
import { POLICY_RULES } from "../../../services/gateway/src/policy/policy.ts";

export type Fields = Record<string, unknown>;
export interface Side {
  inputs?: Fields;
  constraints?: Fields;
}
export interface Row {
  readonly rule: string;
  readonly says: Partial<PolicyProfile>;
  readonly bad: Side;
  readonly good: Side;
  /** The value that the refusal names. */
  readonly value: string | number;
  /** The same as options of `antiphon run`. Absent: it has none. A patch is given as a file. */
  readonly cli?: readonly string[];
  /** The same as input of the tool `start_run`. */
  readonly tool?: Fields;
}

export const OPEN: PolicyProfile = {
  name: "strict",
  protectedBranches: [],
  requireTestsBeforePush: false,
  requireApprovalForPush: false,
  allowedWorkItemTransitions: ["open", "done"],
};
export const diff = (path: string, lines = 1): { path: string; diff: string } => ({
  path,
  diff: `--- a/${path}\n+++ b/${path}\n@@ -1 +1,${lines} @@\n-a\n${"+b\n".repeat(lines)}`,
});
/** A patch as a file has it. */
export const textOf = (...files: { diff: string }[]): string => files.map((file) => file.diff).join("");
const patched = (...files: { path: string; diff: string }[]): Side => ({
  inputs: { agent: { kind: "scripted", patch: { files } } },
});
const land = (land_on: string): Side => ({ inputs: { land_on } });

export const RUN_RULES: readonly Row[] = [
  {
    rule: "commandBlacklist",
    says: { commandBlacklist: ["Push"] },
    bad: land("topic"),
    good: {},
    value: "Push",
    cli: ["--land", "topic"],
    tool: { land: "topic" },
  },
  {
    rule: "commandWhitelist",
    says: { commandWhitelist: ["RunTests"] },
    bad: {},
    good: { inputs: { workflow: "REVIEW" } },
    value: "ApplyPatch",
    cli: [],
    tool: {},
  },
  {
    rule: "protectedBranches",
    says: { protectedBranches: ["main"] },
    bad: land("main"),
    good: land("topic"),
    value: "main",
    cli: ["--land", "main"],
    tool: { land: "main" },
  },
  {
    rule: "requireTestsBeforePush",
    says: { requireTestsBeforePush: true },
    bad: { constraints: { allow_unverified: true } },
    good: land("topic"),
    value: "allow_unverified",
    cli: ["--allow-unverified"],
    tool: { "allow-unverified": true },
  },
  {
    rule: "requireApprovalForPush",
    says: { requireApprovalForPush: true },
    bad: land("topic"),
    good: { ...land("topic"), constraints: { approvals: { needed: 1 } } },
    value: "topic",
    cli: ["--land", "topic"],
    tool: { land: "topic" },
  },
  {
    rule: "maxFilesPerCommit",
    says: { maxFilesPerCommit: 1 },
    bad: patched(diff("a.txt"), diff("b.txt")),
    good: patched(diff("a.txt")),
    value: 2,
    cli: ["--patch", textOf(diff("a.txt"), diff("b.txt"))],
    tool: { patch: textOf(diff("a.txt"), diff("b.txt")) },
  },
  {
    rule: "maxLinesPerCommit",
    says: { maxLinesPerCommit: 2 },
    bad: patched(diff("a.txt", 2)),
    good: patched(diff("a.txt")),
    value: 3,
    cli: ["--patch", textOf(diff("a.txt", 2))],
    tool: { patch: textOf(diff("a.txt", 2)) },
  },
  {
    rule: "protectedPaths",
    says: { protectedPaths: ["deploy/**"] },
    bad: patched(diff("Deploy/prod.yaml")),
    good: patched(diff("a.txt")),
    value: "Deploy/prod.yaml",
    cli: ["--patch", textOf(diff("Deploy/prod.yaml"))],
    tool: { patch: textOf(diff("Deploy/prod.yaml")) },
  },
  {
    rule: "allowedGrants",
    says: { allowedGrants: ["test/**"] },
    bad: { inputs: { grants: ["**"] } },
    good: { inputs: { grants: ["test/**", "test/a.test.js"] } },
    value: "**",
    cli: ["--grant", "**"],
    tool: { grant: ["**"] },
  },
  {
    rule: "allowedAgents",
    says: { allowedAgents: ["scripted"] },
    bad: {
      inputs: {
        tasks: [{ id: 1, description: "t", dependencies: [], agent: { kind: "command", argv: ["true"] } }],
      },
    },
    good: {},
    value: "command",
    cli: ["--program", "true"],
    tool: { program: ["true"] },
  },
  {
    rule: "allowedEgress",
    says: { allowedEgress: ["none"] },
    bad: { constraints: { egress: { mode: "git+pkg" } } },
    good: { constraints: { egress: { mode: "none" } } },
    value: "git+pkg",
    cli: ["--egress", "git+pkg"],
    tool: { egress: "git+pkg" },
  },
  {
    rule: "allowedHosts",
    says: { allowedHosts: ["*.example.org"] },
    bad: { constraints: { egress: { mode: "allowlist", allowlist: ["example.org.evil.net"] } } },
    good: { constraints: { egress: { mode: "allowlist", allowlist: ["docs.EXAMPLE.org"] } } },
    value: "example.org.evil.net",
    cli: ["--allow-host", "example.org.evil.net"],
    tool: { "allow-host": ["example.org.evil.net"] },
  },
  {
    rule: "allowModels",
    says: { allowModels: false },
    bad: { constraints: { model_budget: { tokens: 10 } } },
    good: {},
    value: "model_budget",
    cli: ["--model-tokens", "10"],
    tool: { "model-tokens": 10 },
  },
  {
    rule: "maxModelTokens",
    says: { maxModelTokens: 100 },
    bad: { constraints: { model_budget: { tokens: 101 } } },
    good: { constraints: { model_budget: { tokens: 100 } } },
    value: 101,
    cli: ["--model-tokens", "101"],
    tool: { "model-tokens": 101 },
  },
  {
    rule: "maxModelUsdMicro",
    says: { maxModelUsdMicro: 1_000_000 },
    bad: { constraints: { model_budget: { usd_micro: 1_000_001 } } },
    good: { constraints: { model_budget: { usd_micro: 1_000_000 } } },
    value: 1_000_001,
    cli: ["--model-usd", "1.000001"],
    tool: { "model-usd": 1.000001 },
  },
  {
    rule: "maxAttempts",
    says: { maxAttempts: 2 },
    bad: { constraints: { max_attempts: 3 } },
    good: {},
    value: 3,
    cli: ["--attempts", "3"],
    tool: { attempts: 3 },
  },
  {
    rule: "maxTimeBudgetS",
    says: { maxTimeBudgetS: 60 },
    bad: { constraints: { time_budget_s: 61 } },
    good: { constraints: { time_budget_s: 60 } },
    value: 61,
    cli: ["--time-budget", "61"],
    tool: { "time-budget": 61 },
  },
  {
    rule: "maxRunTimeBudgetS",
    says: { maxRunTimeBudgetS: 600 },
    bad: { constraints: { run_time_budget_s: 601 } },
    good: {},
    value: 601,
  },
];

const WINDOWS = [
  "limits.burst",
  "limits.callsPerMinute",
  "globalLimits.burst",
  "globalLimits.callsPerMinute",
];
const CAPS = ["limits.perCommandCaps", "globalLimits.perCommandCaps"];
export const RULES: readonly string[] = [...POLICY_RULES, ...WINDOWS, ...CAPS];

type Reasons = Readonly<Record<string, string>>;
const because = (reason: string, ...rules: readonly string[]): Reasons =>
  Object.fromEntries(rules.map((rule) => [rule, reason]));

const NO_TICKET = because("a run moves no ticket", "allowedWorkItemTransitions");
const NO_CAPS = because("it counts the commands of a session", ...CAPS);
const OF_RUN = { ...NO_TICKET, ...NO_CAPS };
/** Budgets, which a retry states none of. Those of its run are narrowed. */
export const BUDGET_RULES = [
  "maxModelTokens",
  "maxModelUsdMicro",
  "maxAttempts",
  "maxTimeBudgetS",
  "maxRunTimeBudgetS",
];
const OF_RETRY = {
  ...OF_RUN,
  ...because("what is taken over is narrowed, and tested as that", ...BUDGET_RULES),
};
const DECISION: Reasons = {
  ...OF_RUN,
  ...because("the approval that is given is what the rule asks for", "requireApprovalForPush"),
  ...because("a decision starts no work", ...WINDOWS),
};
const NO_FIELD = "the command has no such field";

/** The rules that a command's own fields can break, besides those of its name and of rates. */
const OF_COMMAND: Readonly<Record<keyof typeof COMMANDS, readonly string[]>> = {
  CreateBranch: ["protectedBranches"],
  ApplyPatch: ["maxFilesPerCommit", "maxLinesPerCommit", "protectedPaths"],
  RunTests: ["maxTimeBudgetS"],
  Commit: ["maxFilesPerCommit", "protectedPaths"],
  Push: ["protectedBranches", "requireTestsBeforePush", "requireApprovalForPush"],
  GetDiff: [],
  BuildProject: ["maxTimeBudgetS"],
  TransitionTicket: ["allowedWorkItemTransitions"],
  Comment: [],
  SetAssignee: [],
  UploadArtifact: [],
  RequestApproval: [],
  QueryBacklog: [],
  QueryWorkItem: [],
};
const NAMED = ["commandBlacklist", "commandWhitelist", ...WINDOWS, ...CAPS];
const commandWays = Object.entries(OF_COMMAND).map(([command, own]): [string, Reasons] => [
  `command ${command}`,
  because(NO_FIELD, ...RULES.filter((rule) => !NAMED.includes(rule) && !own.includes(rule))),
]);

const OF_CHECK = ["commandBlacklist", "commandWhitelist", "maxFilesPerCommit", "maxLinesPerCommit"];
const CHECKED = [...OF_CHECK, "protectedPaths", "maxTimeBudgetS", ...WINDOWS];
const OF_WORDS = because("it has no such option; an open bound is set to the profile's", "maxRunTimeBudgetS");

/** Each way in, with the rules that cannot be broken by it and the reason. */
export const WAYS: Readonly<Record<string, Reasons>> = {
  "POST /intents": OF_RUN,
  "POST /intents/:id/run": OF_RUN,
  "POST /runs/:id/retry": OF_RETRY,
  "POST /dead-letters/:id/requeue": {
    ...OF_RUN,
    ...because(
      "a requeue starts no run, so it counts for the deployment only",
      "limits.burst",
      "limits.callsPerMinute",
    ),
  },
  "POST /intents by a session": OF_RUN,
  "POST /intents/:id/run by a session": OF_RUN,
  "POST /runs/:id/retry by a session": OF_RETRY,
  "POST /checks": {
    ...because("a check has no such field", ...RULES.filter((rule) => !CHECKED.includes(rule))),
    ...NO_CAPS,
  },
  "POST /runs/:id/events, approve": DECISION,
  "POST /hooks/:id/decisions, approve": DECISION,
  "antiphon run": { ...OF_RUN, ...OF_WORDS },
  "mcp start_run": { ...OF_RUN, ...OF_WORDS },
  ...Object.fromEntries(commandWays),
};

export const cellsOf = (way: string): readonly string[] =>
  RULES.filter((rule) => !Object.hasOwn(WAYS[way] ?? {}, rule));

/** The cells of a way that are broken by the content of a request. */
export function rowsOf(way: string): readonly Row[] {
  return cellsOf(way)
    .filter((rule) => !isRate(rule))
    .map((rule) => {
      const row = RUN_RULES.find((one) => one.rule === rule);
      if (row === undefined) throw new Error(`no row says how a run breaks ${rule}`);
      return row;
    });
}

export const isRate = (rule: string): boolean => WINDOWS.includes(rule) || CAPS.includes(rule);
export const ratesOf = (way: string): readonly string[] => cellsOf(way).filter(isRate);

/** A policy that lets nothing through by a rule of rates. `command`: what a cap is for. */
export function policyOf(says: Partial<PolicyProfile>, rate: string | null = null, command = "Push") {
  const [where = "", limit = ""] = rate?.split(".") ?? [];
  const least = limit === "perCommandCaps" ? { [command]: 0 } : 0;
  const limits = where === "limits" ? { limits: { [limit]: least } } : {};
  return {
    profiles: { strict: { ...OPEN, ...says, ...limits } },
    defaultProfile: "strict",
    globalLimits: where === "globalLimits" ? { [limit]: least } : {},
  };
}
