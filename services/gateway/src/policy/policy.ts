// What a policy profile says of a deed: the one evaluation for every way in. Pure.
//
// A session's command and a run's options are both described as a `Deed` first (command-deed.ts, run-deed.ts), so a
// rule that holds at one door holds at the others.
//
// Invariants:
//   PO1 A deed that any rule of the profile forbids is not done; the first rule that does is named, with the profile
//       and the value that broke it.
//   PO3 A bound on something that the deed leaves open is not passed by leaving it open.
import type { CommandName, PolicyProfile } from "@antiphon/contracts";
import { pathMatcher } from "@antiphon/git/patch/glob";
import { isListedBranch } from "./branch-name.ts";

/** Files and lines of one commit, as far as they are known before it is made. */
export interface KnownChange {
  readonly files: number;
  readonly lines: number;
  readonly paths: readonly string[];
}

export interface Deed {
  /** What it amounts to in commands of Contracts v1.3. */
  readonly commands: readonly CommandName[];
  /** Branches of others that it moves, by every name they are known by. */
  readonly branches: readonly string[];
  /** Why what it moves might be unproven: the option or the missing step; null: it is proven first. */
  readonly unproven: string | null;
  /** Somebody approves before a branch moves. */
  readonly approved: boolean;
  readonly changes: readonly KnownChange[];
  readonly grants: readonly string[];
  readonly agents: readonly string[];
  readonly egress: string;
  readonly hosts: readonly string[];
  /** Null: it calls no model. Infinity: a bound it does not give. */
  readonly models: { readonly tokens: number; readonly usdMicro: number } | null;
  readonly attempts: number;
  readonly timeBudgetS: number;
  readonly runTimeBudgetS: number;
  /** The state a ticket is moved to. */
  readonly ticketState: string | null;
}

/** A deed that asks for nothing: what a description of a real one starts from. */
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
  /** What broke it. */
  readonly value: string | number;
  readonly reason: string;
}

type Finding = readonly [value: string | number, reason: string];
type Check = (deed: Deed, profile: PolicyProfile) => Finding | null;

/** In the order in which they are asked; each is named like its field. */
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
      : [unproven, `what lands is tested first, not so with: ${unproven}`],
  requireApprovalForPush: ({ branches: [branch], approved }, profile) =>
    branch === undefined || approved || !profile.requireApprovalForPush
      ? null
      : [branch, `${branch} moves with an approval only, and there is none`],
  allowedWorkItemTransitions: ({ ticketState }, profile) =>
    ticketState === null || profile.allowedWorkItemTransitions.includes(ticketState)
      ? null
      : [ticketState, `a ticket may not be moved to ${JSON.stringify(ticketState)}`],
  maxFilesPerCommit: ({ changes }, { maxFilesPerCommit }) =>
    over(Math.max(0, ...changes.map(({ files }) => files)), maxFilesPerCommit, "files"),
  maxLinesPerCommit: ({ changes }, { maxLinesPerCommit }) =>
    over(Math.max(0, ...changes.map(({ lines }) => lines)), maxLinesPerCommit, "lines"),
  protectedPaths: (deed, { protectedPaths = [] }) => {
    const guarded = pathMatcher(protectedPaths.map(folded));
    const named = [...deed.changes.flatMap(({ paths }) => paths), ...deed.grants];
    return first(named, (path) => guarded.matches(folded(path)), "may not be touched");
  },
  allowedGrants: ({ grants }, { allowedGrants }) =>
    allowedGrants === undefined
      ? null
      : first(grants, (grant) => !isGrantable(grant, allowedGrants), "may not be granted"),
  allowedAgents: ({ agents }, { allowedAgents }) =>
    first(agents, (kind) => allowedAgents?.includes(kind) === false, "is no agent that is allowed"),
  allowedEgress: ({ egress }, { allowedEgress }) =>
    allowedEgress === undefined || allowedEgress.some((mode) => mode === egress)
      ? null
      : [egress, `egress ${egress} is not allowed`],
  allowedHosts: ({ hosts }, { allowedHosts }) =>
    allowedHosts === undefined
      ? null
      : first(hosts, (host) => !isAllowedHost(host, allowedHosts), "is no host that is allowed"),
  allowModels: ({ models }, { allowModels }) =>
    models === null || allowModels !== false ? null : ["model_budget", "models may not be called"],
  maxModelTokens: ({ models }, { maxModelTokens }) => over(models?.tokens ?? 0, maxModelTokens, "tokens"),
  maxModelUsdMicro: ({ models }, { maxModelUsdMicro }) =>
    over(models?.usdMicro ?? 0, maxModelUsdMicro, "millionths of a US dollar"),
  maxAttempts: ({ attempts }, { maxAttempts }) => over(attempts, maxAttempts, "attempts"),
  maxTimeBudgetS: ({ timeBudgetS }, { maxTimeBudgetS }) =>
    over(timeBudgetS, maxTimeBudgetS, "seconds an attempt"),
  maxRunTimeBudgetS: ({ runTimeBudgetS }, { maxRunTimeBudgetS }) =>
    over(runTimeBudgetS, maxRunTimeBudgetS, "seconds a run"),
};

/** The rules in the order in which they are asked. */
export const POLICY_RULES: readonly string[] = Object.keys(CHECKS);

/** PO1 */
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

/** PO3: what has no bound of its own is Infinity. */
function over(asked: number, most: number | undefined, unit: string): Finding | null {
  if (most === undefined || asked <= most) return null;
  const value = Number.isFinite(asked) ? asked : "no bound";
  return [value, `${value} ${unit}, at most ${most} are allowed`];
}

/** As the Director compares them: on some file systems two cases are one file. */
function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** A pattern is granted only word by word: whether one pattern lies within another cannot be told by looking. */
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
