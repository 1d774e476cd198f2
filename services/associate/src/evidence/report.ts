/**
 * Makes the report (AssociateResult, seed 000) from the facts of an attempt.
 *
 * The status is `failed` when a command, a check or the change itself is at fault, and `needs_input` exactly when there are
 * questions. `verify.status` is `unknown` when no check ran, unless the agent vouches for itself; the clean room does not
 * rely on either.
 */
import { changesFiles, missedNetwork, missingProgram, remedyFor } from "@antiphon/contracts";
import type { AssociateResult, ErrorCode, EvidenceManifest } from "@antiphon/contracts";
import type { CommandFact } from "../attempt/attempt.ts";
import type { AttemptFacts } from "./attempt-facts.ts";
import { failureQuote } from "./failure-quote.ts";
import { runsOf, verifyOf } from "./verification.ts";

export interface Report {
  readonly result: AssociateResult;
  /** Why the status is failed; null otherwise. */
  readonly code: ErrorCode | null;
  readonly decision: Extract<EvidenceManifest["decision"], "propose" | "needs_input" | "fail">;
}

type Fault = { readonly code: ErrorCode; readonly message: string };

const QUOTE_CHARS = 600;

export function reportOf(facts: AttemptFacts): Report {
  const shared = {
    task_id: facts.taskId,
    diff:
      facts.wants.diff && facts.change !== null
        ? ({ format: "unified", content: facts.change.patch } as const)
        : null,
    files_changed: facts.wants.filesChanged ? [...(facts.change?.files ?? [])] : [],
    commands_run: [...runsOf(facts.work, "work"), ...runsOf(facts.checks, "checks")],
    verify: verifyOf(facts),
  };
  if (facts.ending.kind === "asks") {
    const questions = [...facts.ending.questions];
    const summary = `Waits for an answer: ${questions.join(" / ")}`;
    return {
      result: {
        ...shared,
        status: "needs_input",
        summary,
        questions,
        suggested_next: "Answer the question, and the task goes on.",
      },
      code: null,
      decision: "needs_input",
    };
  }
  const fault = faultOf(facts);
  if (fault !== null) {
    const { code, message } = fault;
    return {
      result: {
        ...shared,
        status: "failed",
        summary: message,
        questions: [],
        suggested_next: `${code}: ${remedyFor(code, facts.runId)}`,
      },
      code,
      decision: "fail",
    };
  }
  return {
    result: { ...shared, status: "ok", summary: successOf(facts), questions: [], suggested_next: null },
    code: null,
    decision: "propose",
  };
}

/** The first fault, in the order of events. */
function faultOf(facts: AttemptFacts): Fault | null {
  const { ending } = facts;
  if (ending.kind === "stopped") {
    const kept = facts.change === null ? "" : `; its change so far is kept: ${listOf(facts.change.files)}`;
    const isWaiting = ending.code === "ANT_TASK_TIME_BUDGET"; // Many agents ask again until their time is over.
    const code = (isWaiting ? hopeless(facts) : null) ?? ending.code;
    return { code, message: `${isWaiting ? refusedFirst(facts) : ""}${ending.message}${kept}` };
  }
  const work = facts.work.find((step) => step.exitCode !== 0);
  if (work !== undefined && facts.kind === "git")
    return { code: "ANT_TASK_GIT_FAILED", message: endedBadly(work) };
  if (work !== undefined) {
    return facts.budgetSpent
      ? outOfBudget(endedBadly(work))
      : {
          code: hopeless(facts) ?? "ANT_AGENT_FAILED",
          message: `${refusedFirst(facts)}${endedBadly(work)}`,
        };
  }
  if (facts.budgetSpent && facts.kind === "edit_repo" && facts.change === null)
    return outOfBudget("the agent changed nothing");
  if ((facts.refused !== null || facts.modelFailed !== null) && isIdle(facts))
    return {
      code: hopeless(facts) ?? "ANT_AGENT_FAILED",
      message: `${refusedFirst(facts)}the agent left nothing`,
    };
  if (!changesFiles(facts) && facts.change !== null) {
    const message = `${withArticle(facts.git_action ?? facts.kind)} task must not change files, and changed ${listOf(facts.change.files)}`;
    return { code: "ANT_TASK_MODIFIED_FILES", message };
  }
  const check = failedCheck(facts);
  if (check !== undefined && facts.setupFiles.length === 0) {
    return facts.budgetSpent
      ? outOfBudget(endedBadly(check))
      : {
          code: isMissingProgram(check) ? "ANT_VERIFY_NO_PROGRAM" : "ANT_VERIFY_SELF_FAILED",
          message: `${refusedFirst(facts)}${idleFirst(facts)}${endedBadly(check)}`,
        };
  }
  return null;
}

/** Of the names of kinds and git actions, those that begin with a vowel also sound so. */
const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;

/** An agent that was to leave files and left none. Of an agent that was to leave none, the output may be the whole result. */
function isIdle({ kind, change, left, wants }: AttemptFacts): boolean {
  return kind === "edit_repo" ? change === null : kind === "inspect" && wants.files > 0 && left === 0;
}

const failedCheck = ({ checks }: AttemptFacts): CommandFact | undefined =>
  checks.find((step) => step.exitCode !== 0);

/** The agent could not go on, so its failure says nothing about the task. Work that is good in spite of it is proposed. */
function outOfBudget(outcome: string): Fault {
  return { code: "ANT_EGRESS_BUDGET", message: `the run's model budget was used up; ${outcome}` };
}

/** The code of a refusal that the next attempt would meet as well; null: there was none. */
function hopeless({ refused }: AttemptFacts): ErrorCode | null {
  return refused?.isHopeless === true ? refused.code : null;
}

/** An agent often hides the reason in a log of its own. */
function refusedFirst({ refused, modelFailed }: AttemptFacts): string {
  if (refused === null) return modelFailed === null ? "" : `its model calls failed (${modelFailed}), and `;
  return `a ${refused.what} was refused (${refused.code}: ${refused.why}), and `;
}

/** The check says why the task is not done; that nothing was done is the shorter reason. */
function idleFirst({ kind, change, work }: AttemptFacts): string {
  if (kind !== "edit_repo" || change !== null || work.length === 0) return "";
  const isSilent = work.every(({ stdout, stderr }) => stdout.bytes + stderr.bytes === 0);
  return `the agent ${isSilent ? "printed nothing and " : ""}changed nothing, and `;
}

function endedBadly(fact: CommandFact): string {
  const how = fact.timedOut
    ? "was killed at its time limit"
    : fact.exitCode === null
      ? "was killed"
      : `exited ${fact.exitCode}`;
  const said = failureQuote(fact.stderr.tail.trim() || fact.stdout.tail, QUOTE_CHARS);
  return `\`${short(fact.command)}\` ${how}${said === "" ? "" : `: ${said}`}${whyOf(fact)}`;
}

/** In plain words, what the shell's own two codes mean, and that there is no network. */
function whyOf(fact: CommandFact): string {
  const said = fact.stderr.tail;
  if (isMissingProgram(fact) || (fact.exitCode === 127 && NOT_FOUND.test(said)))
    return " (the image of the sandbox has no such program)";
  if (fact.exitCode === 126 && /permission denied/i.test(said))
    return " (not executable: `git update-index --chmod=+x`)";
  const network = missedNetwork(said.trim() || fact.stdout.tail);
  return network === null ? "" : ` (${network})`;
}

const NOT_FOUND = /: (?:command )?not found$/m;

function isMissingProgram({ command, exitCode, stderr }: CommandFact): boolean {
  return missingProgram(command, exitCode, stderr.tail) !== null;
}

function successOf(facts: AttemptFacts): string {
  const changed = facts.change === null ? "no file changed" : `changed ${listOf(facts.change.files)}`;
  const checked = !facts.selfVerified
    ? "not verified here"
    : facts.checks.length === 0
      ? "no check to verify with"
      : (failedHere(facts) ?? `${facts.checks.map((check) => short(check.command)).join(", ")} passes`);
  const seen = `${facts.note}; ${changed}; ${checked}.`;
  return facts.message === null ? seen : `${facts.message}\n\n${seen}`;
}

/** The clean room prepares an environment from the changed files and decides. */
function failedHere(facts: AttemptFacts): string | null {
  const check = failedCheck(facts);
  if (check === undefined) return null;
  return `${short(check.command)} fails in the environment of the base, and the change alters ${listOf(facts.setupFiles)}`;
}

function short(command: string): string {
  const line = command.replace(/\s+/g, " ").trim();
  return line.length > 120 ? `${line.slice(0, 117)}...` : line;
}

function listOf(files: readonly string[]): string {
  const named = files.slice(0, 3).join(", ");
  return files.length > 3 ? `${named} and ${files.length - 3} more` : named;
}
