/** Finds what is at fault for an attempt that failed, and says so. */
import { changesFiles, missedNetwork, missingProgram } from "@antiphon/contracts";
import type { ErrorCode } from "@antiphon/contracts";
import type { CommandFact } from "../attempt/attempt.ts";
import type { AttemptFacts } from "./attempt-facts.ts";
import { failureQuote } from "./failure-quote.ts";

interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
}

const QUOTE_CHARS = 600;

/** The first fault, in the order of events. */
export function faultOf(facts: AttemptFacts): Fault | null {
  const { ending, change, kind } = facts;
  if (ending.kind === "stopped") {
    const kept = change === null ? "" : `; its change so far is kept: ${listOf(change.files)}`;
    const isWaiting = ending.code === "ANT_TASK_TIME_BUDGET"; // Many agents ask again until their time is over.
    const code = (isWaiting ? hopeless(facts) : null) ?? ending.code;
    return { code, message: `${isWaiting ? refusedFirst(facts) : ""}${ending.message}${kept}` };
  }
  const work = facts.work.find((step) => step.exitCode !== 0);
  if (work !== undefined && kind === "git") return { code: "ANT_TASK_GIT_FAILED", message: endedBadly(work) };
  const agentFailed = hopeless(facts) ?? "ANT_AGENT_FAILED";
  if (work !== undefined) return unlessBudget(facts, agentFailed, refusedFirst(facts), endedBadly(work));
  if (facts.budgetSpent && kind === "edit_repo" && change === null)
    return outOfBudget("the agent changed nothing");
  if ((facts.refused !== null || facts.modelFailed !== null) && isIdle(facts))
    return { code: agentFailed, message: `${refusedFirst(facts)}the agent left nothing` };
  if (!changesFiles(facts) && change !== null) {
    const message = `${withArticle(facts.git_action ?? kind)} task must not change files, and changed ${listOf(change.files)}`;
    return { code: "ANT_TASK_MODIFIED_FILES", message };
  }
  const check = failedCheck(facts);
  if (check === undefined || facts.setupFiles.length > 0) return null;
  const code = isMissingProgram(check) ? "ANT_VERIFY_NO_PROGRAM" : "ANT_VERIFY_SELF_FAILED";
  return unlessBudget(facts, code, `${refusedFirst(facts)}${idleFirst(facts)}`, endedBadly(check));
}

export const failedCheck = ({ checks }: AttemptFacts): CommandFact | undefined =>
  checks.find((step) => step.exitCode !== 0);

/** The agent could not go on, so its failure says nothing about the task. Work that is good in spite of it is proposed. */
function unlessBudget({ budgetSpent }: AttemptFacts, code: ErrorCode, first: string, outcome: string): Fault {
  return budgetSpent ? outOfBudget(outcome) : { code, message: `${first}${outcome}` };
}

function outOfBudget(outcome: string): Fault {
  return { code: "ANT_EGRESS_BUDGET", message: `the run's model budget was used up; ${outcome}` };
}

/** Of the names of kinds and git actions, those that begin with a vowel also sound so. */
const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;

/** An agent that was to leave files and left none. Of an agent that was to leave none, the output may be the whole result. */
function isIdle({ kind, change, left, wants }: AttemptFacts): boolean {
  return kind === "edit_repo" ? change === null : kind === "inspect" && wants.files > 0 && left === 0;
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

export function short(command: string): string {
  const line = command.replace(/\s+/g, " ").trim();
  return line.length > 120 ? `${line.slice(0, 117)}...` : line;
}

export function listOf(files: readonly string[]): string {
  const named = files.slice(0, 3).join(", ");
  return files.length > 3 ? `${named} and ${files.length - 3} more` : named;
}
