/**
 * The plan of an attempt's sandbox job. Pure. The steps in order:
 *
 *   programs            whether the programs of the checks are there; if one is not, the job ends here
 *   work-1 .. work-n    the agent's commands; the first that fails ends the job. A program that ends with a question is started
 *                       again within its step (going-on-script.ts)
 *   (changes are collected here, so files that checks leave behind are not part of the change)
 *   question            what the agent asks a person; if it does, the job ends here
 *   compile             the answer of an agent that compiles
 *   artifact-1 .. -n    the files that the task has to leave, because git may ignore them
 *   commit-message      the message of the agent's own last commit, if the sandbox has a repository
 *   check-1 .. check-n  self-verification; every check runs, even after another one failed
 *   tools               versions of the installed tools, for the provenance; once per image
 */
import { limits } from "@antiphon/contracts";
import type { DispatchBody, SandboxStep, SandboxStepOutcome } from "@antiphon/contracts";
import type { PreparedWork } from "../ports.ts";
import { programSteps } from "./check-programs.ts";
import { waiting } from "./going-on-script.ts";
import { artifactSteps } from "../evidence/artifacts.ts";
import { compileStep } from "../evidence/compile-step.ts";
import { messageStep } from "../evidence/inside-commit.ts";
import { QUESTION_FILE, questionStep } from "../evidence/question.ts";

/** One command of an agent. */
export interface WorkStep {
  /** The command as shown to people. */
  readonly command: string;
  readonly argv: readonly string[];
  /** Besides those of every step. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the brief. */
  readonly stdin?: string;
}

export interface JobPlan {
  readonly steps: readonly SandboxStep[];
  /** The last step of the work; null: the agent runs nothing in the sandbox. */
  readonly collectAfter: string | null;
  readonly work: readonly NamedStep[];
  readonly checks: readonly NamedStep[];
}

export interface NamedStep {
  readonly id: string;
  readonly command: string;
}

export interface JobBounds {
  readonly brief: string;
  readonly budgetMs: number;
  /** True: add a step that lists the installed tools. */
  readonly probeTools: boolean;
}

/** Bytes, room for the copies of the brief in one request: each step has it in stdin and in its environment. */
const BRIEF_ROOM = 512 * 1024;
/** Bytes. Linux refuses a single environment string above 128 KiB. */
const BRIEF_MAX = 96 * 1024;
export const TOOLS_STEP = "tools";

const TOOLS_SCRIPT = [
  "uname -srm",
  ...["bash", "git", "node", "python3", "perl", "gcc", "make", "go", "cargo", "java"].map(
    (tool) => `command -v ${tool} >/dev/null 2>&1 && ${tool} --version 2>/dev/null </dev/null | head -n 1`,
  ),
  "exit 0",
].join("\n");

export function briefRoom(workSteps: number): number {
  return Math.min(BRIEF_MAX, Math.floor(BRIEF_ROOM / (2 * Math.max(1, workSteps))));
}

/** The checks of a task; none with `mode: none`. */
export function checksOf(dispatch: DispatchBody): readonly string[] {
  const { mode, commands } = dispatch.task.verify_profile;
  return mode === "none" ? [] : commands;
}

export function planJob(
  {
    runId,
    epoch,
    dispatch,
  }: { readonly runId: string; readonly epoch: number; readonly dispatch: DispatchBody },
  prepared: Pick<
    PreparedWork,
    "steps" | "selfVerify" | "isProgram" | "mayAsk" | "goesOn" | "asks" | "compiles"
  >,
  { brief, budgetMs, probeTools }: JobBounds,
): JobPlan {
  const { isProgram = false, mayAsk = isProgram, goesOn, asks } = prepared;
  const env = {
    ...dispatch.env,
    ANTIPHON_RUN: runId,
    ANTIPHON_TASK_ID: dispatch.task.task_id,
    ANTIPHON_EPOCH: String(epoch),
  };
  const work = prepared.steps.map((step, i) => ({
    id: `work-${i + 1}`,
    argv: mayAsk && goesOn !== undefined ? [...waiting(step.argv, goesOn, asks)] : [...step.argv],
    env: {
      ...step.env,
      ...env,
      ANTIPHON_TASK: brief,
      ...(mayAsk ? { ANTIPHON_QUESTION_FILE: QUESTION_FILE } : {}),
    },
    stdin: step.stdin ?? brief,
    timeoutMs: budgetMs,
    continueOnFailure: false,
    ...(mayAsk ? { asks: true } : {}),
  }));
  const commands = prepared.selfVerify ? checksOf(dispatch) : [];
  const checks = commands.map((command, i) => ({
    id: `check-${i + 1}`,
    argv: ["sh", "-c", command],
    env,
    timeoutMs: budgetMs,
    continueOnFailure: true,
  }));
  const tools = {
    id: TOOLS_STEP,
    argv: ["sh", "-c", TOOLS_SCRIPT],
    env,
    timeoutMs: budgetMs,
    continueOnFailure: true,
    quiet: true,
  };
  const before = work.length > 0 && isProgram ? programSteps(commands, env, budgetMs) : [];
  const after =
    work.length === 0
      ? []
      : [
          ...(mayAsk ? [questionStep(env, budgetMs)] : []),
          ...(prepared.compiles === undefined ? [] : [compileStep(env, budgetMs)]),
          ...artifactSteps(dispatch.task, env, budgetMs),
          ...(dispatch.history == null ? [] : [messageStep(dispatch.base.commit, env, budgetMs)]),
        ];
  const ran = [...before, ...work, ...after, ...checks];
  return {
    steps: probeTools && ran.length > 0 ? [...ran, tools] : ran,
    collectAfter: work.at(-1)?.id ?? null,
    work: prepared.steps.map(({ command }, i) => ({ id: `work-${i + 1}`, command })),
    checks: commands.map((command, i) => ({ id: `check-${i + 1}`, command })),
  };
}

/** The outcome of a command, with the command as shown to people. */
export type CommandFact = Omit<SandboxStepOutcome, "id"> & { readonly command: string };

/** The outcomes of the `named` steps, in order; steps that did not run are left out. */
export function factsOf(named: readonly NamedStep[], outcomes: readonly SandboxStepOutcome[]): CommandFact[] {
  return named.flatMap(({ id, command }) => {
    const outcome = outcomes.find((step) => step.id === id);
    if (outcome === undefined) return [];
    const { exitCode, timedOut, durationMs, stdout, stderr } = outcome;
    return [{ command, exitCode, timedOut, durationMs, stdout, stderr }];
  });
}

/** The time budget of the whole attempt, in milliseconds. */
export function budgetMsOf(dispatch: DispatchBody): number {
  return Math.min(dispatch.task.time_budget_s, limits.taskTimeBudgetMaxS) * 1000;
}
