/** The parts of a report about commands: the runs, and the Associate's self-verification. */
import type { AssociateResult, CommandRun } from "@antiphon/contracts";
import type { CommandFact } from "../attempt/attempt.ts";
import type { AttemptFacts } from "./attempt-facts.ts";

export function verifyOf(facts: AttemptFacts): AssociateResult["verify"] {
  const { mode } = facts.verify;
  if (!facts.selfVerified && facts.ending.kind === "ran") {
    return { mode, status: "pass", commands: [...facts.verify.commands], logs_path: null };
  }
  const commands = facts.checks.map((check) => check.command);
  if (facts.checks.length === 0) return { mode, status: "unknown", commands, logs_path: null };
  const failed = facts.checks.findIndex((check) => check.exitCode !== 0);
  const complete = facts.checks.length === facts.verify.commands.length;
  const status = failed >= 0 ? "fail" : complete ? "pass" : "unknown";
  const shown = Math.max(0, failed);
  return { mode, status, commands, logs_path: logOf(facts.checks[shown], "checks", shown) };
}

function logOf(fact: CommandFact | undefined, folder: string, index: number): string | null {
  if (fact === undefined) return null;
  return logPath(fact, folder, index, "stdout") ?? logPath(fact, folder, index, "stderr");
}

/** The path of a command's output in the bundle; null when the command wrote nothing to it. */
export function logPath(
  fact: CommandFact,
  folder: string,
  index: number,
  stream: "stdout" | "stderr",
): string | null {
  return fact[stream].bytes > 0 ? `${folder}/${index + 1}.${stream}.txt` : null;
}

export function runsOf(facts: readonly CommandFact[], folder: string): CommandRun[] {
  return facts.map((fact, i) => ({
    command: fact.command,
    exit_code: fact.exitCode,
    stdout_path: logPath(fact, folder, i, "stdout"),
    stderr_path: logPath(fact, folder, i, "stderr"),
  }));
}
