// Evaluates a policy profile for a deed, which is the effect of a request. Pure.
//
// A session's command and a run's options are both described as a `Deed` first (command-deed.ts, run-deed.ts), so the
// same rules apply to both. The first rule that forbids a deed is named, with the profile and the value that broke it. A
// value that the deed leaves open counts as unbounded, so leaving it open does not evade a bound.
import type { CommandName, PolicyProfile } from "@antiphon/contracts";
import { closingMatcher, pathMatcher } from "@antiphon/git/patch/glob";
import { isListedBranch } from "./branch-name.ts";

/** Files and lines of one commit, as far as they are known in advance. */
export interface KnownChange {
  readonly files: number;
  readonly lines: number;
  readonly paths: readonly string[];
}

export interface Deed {
  /** The deed expressed in commands of Contracts v1.3. */
  readonly commands: readonly CommandName[];
  /** The branches it moves besides the run's own, under all their names. */
  readonly branches: readonly string[];
  /** The option or the missing step that leaves its change untested; null: it is tested first. */
  readonly unproven: string | null;
  /** A person approves before a branch moves. */
  readonly approved: boolean;
  readonly changes: readonly KnownChange[];
  readonly grants: readonly string[];
  readonly agents: readonly string[];
  readonly egress: string;
  readonly hosts: readonly string[];
  /** Null: it calls no model. Infinity: without a bound. */
  readonly models: { readonly tokens: number; readonly usdMicro: number } | null;
  readonly attempts: number;
  readonly timeBudgetS: number;
  readonly runTimeBudgetS: number;
  /** The state a ticket is moved to. */
  readonly ticketState: string | null;
}

/** An empty deed, from which the descriptions of real ones start. */
export const IDLE: Deed = {
  commands: [],
  branches: [],
  unproven: null,
  approved: false,
  changes: [],
  grants: [],
  agents: [],
  egress: "none",
  hosts: [],
  models: null,
  attempts: 0,
  timeBudgetS: 0,
  runTimeBudgetS: 0,
  ticketState: null,
};

export interface PolicyRefusal {
  readonly profile: string;
  /** The field of the profile that forbids it. */
  readonly rule: string;
  /** The value that broke it. */
  readonly value: string | number;
  readonly reason: string;
}

type Finding = readonly [value: string | number, reason: string];
type Check = (deed: Deed, profile: PolicyProfile) => Finding | null;

/** In the order of evaluation; each check has the name of its field. */
const CHECKS: Readonly<Record<string, Check>> = {
  commandBlacklist: ({ commands }, { commandBlacklist = [] }) =>
    first(commands, (name) => commandBlacklist.includes(name), "is on the blacklist"),
  commandWhitelist: ({ commands }, { commandWhitelist }) =>
    first(commands, (name) => commandWhitelist?.includes(name) === false, "is not on the whitelist"),
  protectedBranches: ({ branches }, { protectedBranches }) =>
    first(branches, (name) => isListedBranch(name, protectedBranches), "is protected"),
  requireTestsBeforePush: ({ unproven }, profile) =>
    unproven === null || !profile.requireTestsBeforePush
      ? null
      : [unproven, `a change must be tested before it lands: ${unproven}`],
  requireApprovalForPush: ({ branches: [branch], approved }, profile) =>
    branch === undefined || approved || !profile.requireApprovalForPush
      ? null
      : [branch, `${branch} needs an approval before it moves; --require-approval asks for one`],
  allowedWorkItemTransitions: ({ ticketState }, profile) =>
    ticketState === null || profile.allowedWorkItemTransitions.includes(ticketState)
      ? null
      : [ticketState, `a ticket may not be moved to ${JSON.stringify(ticketState)}`],
  maxFilesPerCommit: ({ changes }, { maxFilesPerCommit }) =>
    over(Math.max(0, ...changes.map(({ files }) => files)), maxFilesPerCommit, "files"),
  maxLinesPerCommit: ({ changes }, { maxLinesPerCommit }) =>
    over(Math.max(0, ...changes.map(({ lines }) => lines)), maxLinesPerCommit, "lines"),
  protectedPaths: (deed, { protectedPaths = [] }) => {
    const guarded = closingMatcher(protectedPaths.map(folded));
    const named = [...deed.changes.flatMap(({ paths }) => paths), ...deed.grants];
    return first(named, (path) => guarded.matches(folded(path)), "may not be touched");
  },
  allowedGrants: ({ grants }, { allowedGrants }) =>
    allowedGrants === undefined
      ? null
      : first(grants, (grant) => !isGrantable(grant, allowedGrants), "may not be granted"),
  allowedAgents: ({ agents }, { allowedAgents }) =>
    first(agents, (kind) => allowedAgents?.includes(kind) === false, "is not an allowed agent"),
  allowedEgress: ({ egress }, { allowedEgress }) =>
    allowedEgress === undefined || allowedEgress.some((mode) => mode === egress)
      ? null
      : [egress, `egress ${egress} is not allowed`],
  allowedHosts: ({ hosts }, { allowedHosts }) =>
    allowedHosts === undefined
      ? null
      : first(hosts, (host) => !isAllowedHost(host, allowedHosts), "is not an allowed host"),
  allowModels: ({ models }, { allowModels }) =>
    models === null || allowModels !== false ? null : ["model_budget", "models may not be called"],
  maxModelTokens: ({ models }, { maxModelTokens }) => over(models?.tokens ?? 0, maxModelTokens, "tokens"),
  maxModelUsdMicro: ({ models }, { maxModelUsdMicro }) =>
    over(models?.usdMicro ?? 0, maxModelUsdMicro, "millionths of a US dollar"),
  maxAttempts: ({ attempts }, { maxAttempts }) => over(attempts, maxAttempts, "attempts"),
  maxTimeBudgetS: ({ timeBudgetS }, { maxTimeBudgetS }) =>
    over(timeBudgetS, maxTimeBudgetS, "seconds per attempt"),
  maxRunTimeBudgetS: ({ runTimeBudgetS }, { maxRunTimeBudgetS }) =>
    over(runTimeBudgetS, maxRunTimeBudgetS, "seconds per run"),
};

/** The rules in the order of evaluation. */
export const POLICY_RULES: readonly string[] = Object.keys(CHECKS);

export function judgeDeed(deed: Deed, profile: PolicyProfile): PolicyRefusal | null {
  for (const [rule, check] of Object.entries(CHECKS)) {
    const found = check(deed, profile);
    if (found === null) continue;
    const [value, why] = found;
    return { profile: profile.name, rule, value, reason: `${why} (profile ${profile.name}, rule ${rule})` };
  }
  return null;
}

function first(values: readonly string[], breaks: (value: string) => boolean, why: string): Finding | null {
  const value = values.find(breaks);
  return value === undefined ? null : [value, `${value} ${why}`];
}

/** A value without a bound of its own is Infinity. */
function over(asked: number, most: number | undefined, unit: string): Finding | null {
  if (most === undefined || asked <= most) return null;
  const value = Number.isFinite(asked) ? asked : "no bound";
  return [value, `${value} ${unit}, at most ${most} are allowed`];
}

/** Folds case as the Director does, because some file systems ignore it. */
function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** A pattern must be listed literally, because one cannot decide in general whether a pattern lies within another. */
function isGrantable(grant: string, allowed: readonly string[]): boolean {
  if (allowed.includes(grant)) return true;
  return !/[*?{}\\]/.test(grant) && !grant.endsWith("/") && pathMatcher(allowed).matches(grant);
}

function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  const name = host.toLowerCase();
  return allowed.some((one) => {
    const wanted = one.toLowerCase();
    return wanted.startsWith("*.") ? name.endsWith(wanted.slice(1)) : name === wanted;
  });
}
