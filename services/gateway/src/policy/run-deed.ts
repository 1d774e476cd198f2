// Describes a run as a deed for the policy. Pure.
import type {
  AgentSpec,
  InheritedBudget,
  Intent,
  PolicyBounds,
  PolicyProfile,
  RunOptions,
} from "@antiphon/contracts";
import { changesFiles as editsFiles, isMaterial } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import { asksApproval } from "./approval.ts";
import { gatesOf, judgesOf } from "./judges.ts";
import { IDLE } from "./policy.ts";
import type { Deed, KnownChange } from "./policy.ts";

/** Workflows that change no files, unless a task is of kind edit_repo. */
const READING: readonly unknown[] = ["REVIEW", "PLAN"];

/** `landRef`: the branch that `land_on` resolves to, if the repository was inspected. */
export function runDeed(options: RunOptions, landRef: string | null): Deed {
  const { land_on, egress, model_budget } = options;
  const ofTasks = (options.tasks ?? []).flatMap(({ agent }) => agent ?? []);
  const judge = options.gates?.agent;
  const agents = [
    options.agent,
    ...(options.next_agents ?? []),
    ...ofTasks,
    ...(judge === undefined ? [] : [judge]),
  ];
  const branches = [land_on, landRef].filter((name): name is string => typeof name === "string");
  const edits = changesFiles(options);
  const reading = isMaterial(options.repo) ? "QueryBacklog" : "RunTests";
  const doing = edits ? "ApplyPatch" : reading;
  return {
    ...IDLE,
    commands: [doing, ...(branches.length > 0 ? (["Push"] as const) : [])],
    branches,
    unproven: edits ? unprovenBy(options) : null,
    approved: asksApproval(options),
    changes: agents.flatMap((agent) => changeOf(agent) ?? []),
    grants: options.grants,
    agents: agents.map(({ kind }) => kind),
    egress: egress?.mode ?? "none",
    hosts: egress?.allowlist ?? [],
    // An empty budget allows no calls.
    models:
      model_budget === undefined || Object.keys(model_budget).length === 0
        ? null
        : { tokens: model_budget.tokens ?? Infinity, usdMicro: model_budget.usd_micro ?? Infinity },
    attempts: options.max_attempts,
    timeBudgetS: options.time_budget_s,
    runTimeBudgetS: options.run_time_budget_s ?? Infinity,
  };
}

/** Without a named workflow the Router chooses one, so such a run may change files. */
function changesFiles({ workflow, tasks = [] }: RunOptions): boolean {
  return !READING.includes(workflow) || tasks.some(editsFiles);
}

function unprovenBy({ allow_unverified, allow_unproven }: RunOptions): string | null {
  if (allow_unverified) return "allow_unverified";
  return allow_unproven ? "allow_unproven" : null;
}

/** The change is known in advance only for a given patch, not for commands or a program. */
function changeOf(agent: AgentSpec): KnownChange | null {
  if (agent.kind !== "scripted" || agent.patch === undefined) return null;
  const { files } = agent.patch;
  return {
    files: files.length,
    lines: files.reduce((sum, { diff }) => sum + changedLines(diff), 0),
    paths: files.flatMap(({ path, diff }) => [path, ...splitDiff(diff).map((part) => part.path)]),
  };
}

/** The number of lines that the hunks of a diff add or remove. */
export function changedLines(diff: string): number {
  let inHunk = false;
  let lines = 0;
  for (const line of diff.split("\n")) {
    if (line.startsWith("@@")) inHunk = true;
    else if (line.startsWith("diff --git ")) inHunk = false;
    else if (inHunk && (line.startsWith("+") || line.startsWith("-"))) lines += 1;
  }
  return lines;
}

const BUDGETS = [
  ["max_attempts", "maxAttempts"],
  ["time_budget_s", "maxTimeBudgetS"],
  ["run_time_budget_s", "maxRunTimeBudgetS"],
] as const;

/**
 * Limits budgets the caller left open to the profiles' bounds, and those that a fork or a retry has from another run, because nobody
 * asked for them under these profiles. A given budget stays as it is and is judged. `inherited`: those of a retry.
 */
export function withinBudgets(
  options: RunOptions,
  { constraints }: Intent,
  profiles: readonly PolicyProfile[],
  inherited: readonly InheritedBudget[] = [],
): RunOptions {
  const { fork, model_budget: asked } = options;
  const takenOver = [...inherited, ...(fork?.inherited ?? [])];
  const isOpen = (option: InheritedBudget): boolean =>
    constraints[option] === undefined || takenOver.includes(option);
  let bounded = options;
  for (const [option, rule] of BUDGETS) {
    const most = least(profiles.map((profile) => profile[rule]));
    if (isOpen(option) && most !== null && (options[option] ?? Infinity) > most)
      bounded = { ...bounded, [option]: most };
  }
  if (takenOver.includes("time_budget_s")) bounded = withinTime(bounded);
  if (asked === undefined || Object.keys(asked).length === 0) return bounded;
  const within = (given: number | undefined, bounds: readonly (number | undefined)[]): number | null =>
    given === undefined || isOpen("model_budget") ? least([given, ...bounds]) : given;
  const tokens = within(
    asked.tokens,
    profiles.map(({ maxModelTokens }) => maxModelTokens),
  );
  const usd = within(
    asked.usd_micro,
    profiles.map(({ maxModelUsdMicro }) => maxModelUsdMicro),
  );
  const model_budget = {
    ...(tokens === null ? {} : { tokens }),
    ...(usd === null ? {} : { usd_micro: usd }),
  };
  return { ...bounded, model_budget };
}

/** No task has more time than its run. */
function withinTime(options: RunOptions): RunOptions {
  const { tasks, time_budget_s: most } = options;
  if (tasks?.some(({ time_budget_s: own = 0 }) => own > most) !== true) return options;
  const narrowed = tasks.map((task) =>
    (task.time_budget_s ?? 0) > most ? { ...task, time_budget_s: most } : task,
  );
  return { ...options, tasks: narrowed };
}

/** The bounds that only the change itself can break; the Director enforces them. */
export function boundsOf(profiles: readonly PolicyProfile[]): PolicyBounds {
  const files = least(profiles.map(({ maxFilesPerCommit }) => maxFilesPerCommit));
  const lines = least(profiles.map(({ maxLinesPerCommit }) => maxLinesPerCommit));
  const paths = [...new Set(profiles.flatMap(({ protectedPaths = [] }) => protectedPaths))];
  const proofs = profiles.map(({ requireProof }) => requireProof);
  // Each profile holds, so one that says nothing of it keeps the rule that another one would lift.
  const isLifted = proofs.length > 0 && proofs.every((one) => one === "nothing");
  const demanded = (["fail-to-pass", "regression"] as const).find((one) => proofs.includes(one));
  const proof = demanded ?? (isLifted ? "nothing" : undefined);
  const trials = Math.max(0, ...profiles.map(({ minTrials = 0 }) => minTrials));
  const autoLand = profiles.flatMap((profile) => profile.autoLand ?? []);
  const gates = gatesOf(profiles);
  return {
    profiles: profiles.map(({ name }) => name),
    ...(files === null ? {} : { max_files: files }),
    ...(lines === null ? {} : { max_lines: lines }),
    ...(paths.length === 0 ? {} : { protected_paths: paths }),
    ...(proof === undefined ? {} : { require_proof: proof }),
    ...(trials === 0 ? {} : { min_trials: trials }),
    ...(autoLand.length === 0 ? {} : { auto_land: autoLand }),
    ...(gates.length === 0 ? {} : { gates }),
    ...(judgesOf(profiles).own ? { own_judges: true } : {}),
  };
}

function least(bounds: readonly (number | undefined)[]): number | null {
  const given = bounds.filter((bound) => bound !== undefined);
  return given.length === 0 ? null : Math.min(...given);
}
