// Builds an Intent.v0 from the options of `antiphon run`. Pure: the caller reads the files.
import type { AgentSpec, Intent, TaskSpec } from "@antiphon/contracts";
import { usage } from "../failure.ts";

export interface RunFlags {
  readonly repo?: string;
  readonly agent?: string;
  readonly command?: string[];
  readonly patch?: string;
  readonly program?: string[];
  readonly seed?: string;
  readonly recording?: string;
  readonly check?: string[];
  readonly base?: string;
  readonly land?: string;
  readonly workflow?: string;
  readonly tasks?: string;
  readonly attempts?: string;
  readonly timeBudget?: string;
  readonly grant?: string[];
  readonly scope?: string[];
  readonly allowUnverified?: boolean;
  readonly allowUnproven?: boolean;
  readonly requireProof?: string;
  readonly trials?: string;
  readonly allowDirty?: boolean;
  readonly image?: string;
  readonly history?: string;
  readonly verifyGit?: boolean;
  /** False: --no-setup. */
  readonly setup?: string[] | false;
  readonly egress?: string;
  readonly allowHost?: string[];
  readonly modelTokens?: string;
  readonly modelUsd?: string;
  /** True: the option was given without a number. */
  readonly requireApproval?: string | true;
}

/** The parsed content of the named files. */
export interface RunFiles {
  readonly patch: Patch | null;
  readonly tasks: TaskSpec[] | null;
  readonly recordingSeed: string | null;
}

type Patch = Extract<AgentSpec, { kind: "scripted" }>["patch"];

export function intentOf(goal: string, repoPath: string, flags: RunFlags, files: RunFiles): Intent {
  const repo = { name: repoPath.split("/").filter(Boolean).at(-1) ?? repoPath, path: repoPath };
  return {
    goal,
    inputs: defined({
      repo,
      agent: agentOf(flags, files),
      checks: flags.check,
      base_ref: flags.base,
      land_on: flags.land,
      workflow: flags.workflow?.toUpperCase(),
      tasks: files.tasks ?? undefined,
      scope: flags.scope,
      grants: flags.grant,
      image: flags.image,
      history: wholeNumber("--history", flags.history),
      verify_git: flags.verifyGit,
      setup: flags.setup === false ? [] : flags.setup,
    }),
    constraints: defined({
      max_attempts: wholeNumber("--attempts", flags.attempts),
      time_budget_s: wholeNumber("--time-budget", flags.timeBudget),
      allow_unverified: flags.allowUnverified,
      allow_unproven: flags.allowUnproven,
      require_proof: flags.requireProof,
      trials: wholeNumber("--trials", flags.trials),
      allow_dirty: flags.allowDirty,
      egress: egressOf(flags),
      model_budget: budgetOf(flags),
      approvals: approvalsOf(flags),
    }),
  };
}

/** --allow-host alone implies the allowlist mode; without either option there is no network. */
function egressOf({ egress, allowHost }: RunFlags): object | undefined {
  if (egress === undefined && allowHost === undefined) return undefined;
  return { mode: egress ?? "allowlist", allowlist: allowHost ?? [] };
}

function budgetOf({ modelTokens, modelUsd }: RunFlags): object | undefined {
  if (modelTokens === undefined && modelUsd === undefined) return undefined;
  if (modelUsd !== undefined && !/^\d{1,4}(\.\d{1,6})?$/.test(modelUsd))
    throw usage(`--model-usd takes an amount, not ${JSON.stringify(modelUsd)}`);
  return defined({
    tokens: wholeNumber("--model-tokens", modelTokens),
    usd_micro: modelUsd === undefined ? undefined : Math.round(Number(modelUsd) * 1_000_000),
  });
}

function approvalsOf({ requireApproval }: RunFlags): object | undefined {
  if (requireApproval === undefined) return undefined;
  return { needed: requireApproval === true ? 1 : wholeNumber("--require-approval", requireApproval) };
}

/** The named agent, or the one that the other options imply. */
export function agentOf(flags: RunFlags, files: RunFiles): AgentSpec | { kind: string } {
  const kind = flags.agent ?? impliedAgent(flags);
  if (kind === null) {
    // Tasks from a file name their own agents; the run's agent is then only the fallback.
    const ofTask = files.tasks?.find((task) => task.agent !== undefined)?.agent;
    if (ofTask !== undefined) return ofTask;
    throw usage(
      "no agent was chosen",
      "give --command <cmd>, --patch <file>, --program <argv...> or --seed <s>",
    );
  }
  if (kind === "scripted") {
    if (flags.command === undefined && files.patch === null) {
      throw usage(
        "--agent scripted needs a command or a patch",
        "give --command <cmd> (repeatable), or --patch <file>",
      );
    }
    return defined({ kind, commands: flags.command, patch: files.patch ?? undefined }) as AgentSpec;
  }
  if (kind === "command") {
    if (flags.program === undefined || flags.program.length === 0) {
      throw usage("--agent command needs a program", "give --program <argv...>, or write it after a bare --");
    }
    return { kind, argv: flags.program };
  }
  if (kind === "replay") {
    const seed = flags.seed ?? files.recordingSeed;
    if (seed === null)
      throw usage(
        "--agent replay needs a seed",
        "give --seed <s>, or a --recording <file> that contains one",
      );
    return { kind, seed };
  }
  return { kind }; // The gateway refuses an unknown agent and lists the known ones.
}

function impliedAgent(flags: RunFlags): string | null {
  const implied = new Set<string>();
  if (flags.command !== undefined || flags.patch !== undefined) implied.add("scripted");
  if (flags.program !== undefined) implied.add("command");
  if (flags.seed !== undefined || flags.recording !== undefined) implied.add("replay");
  if (implied.size > 1)
    throw usage(
      `the options belong to different agents: ${[...implied].join(", ")}`,
      "choose one with --agent",
    );
  const [only] = implied;
  return only ?? null;
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text))
    throw usage(`${flag} takes a whole number, not ${JSON.stringify(text)}`, "antiphon run --help shows how");
  return Number(text);
}

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
