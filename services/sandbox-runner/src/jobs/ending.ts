/**
 * How a job ends: the one table from an event in a sandbox, or an error around it, to the reported outcome. Every limit
 * has its row, so none ends as a hang or as a bare exit code.
 */
import { AntiphonError, type ErrorCode, type SandboxOutcome } from "@antiphon/contracts";
import { SandboxDied, type CommandExit, type SandboxDeath } from "../ports.ts";
import { isNoSpace } from "../workspace/no-space.ts";
import { Refusal } from "../workspace/refusal.ts";

export interface Ending {
  readonly outcome: SandboxOutcome["outcome"];
  readonly code: ErrorCode | null;
  readonly message: string;
}

export const COMPLETED: Ending = { outcome: "completed", code: null, message: "every step ran" };

/** A failed command that leaves less free space than this has filled its disk. */
const DISK_FULL_BYTES = 64 * 1024;

export function endingOfDeath(death: SandboxDeath, step: string | null): Ending {
  const where = step === null ? "" : ` in step ${step}`;
  switch (death.kind) {
    case "timeout":
      return { outcome: "timeout", code: "ANT_SANDBOX_TIMEOUT", message: `killed at the time limit${where}` };
    case "oom":
      return { outcome: "oom", code: "ANT_SANDBOX_OOM", message: `memory ran out${where}` };
    case "canceled":
      return { outcome: "canceled", code: "ANT_SANDBOX_CANCELED", message: death.reason };
    case "output":
      return { outcome: "error", code: "ANT_SANDBOX_OUTPUT", message: `too much output${where}` };
    case "protocol":
    case "gone":
      return { outcome: "error", code: "ANT_SANDBOX_FAILED", message: `${death.message}${where}` };
  }
}

/**
 * The ending that a command's exit causes; null to go on. A limit counts only when the command failed: a program that
 * met a limit and succeeded anyway has worked.
 */
export function endingOfExit(exit: CommandExit, step: string): Ending | null {
  if (exit.exitCode === 0) return null;
  if (exit.oomKills > 0) {
    return { outcome: "oom", code: "ANT_SANDBOX_OOM", message: `memory ran out in step ${step}` };
  }
  if (exit.pidsRefused > 0) {
    return { outcome: "completed", code: "ANT_SANDBOX_PIDS", message: `step ${step} met the process limit` };
  }
  const isDiskFull = (exit.freeBytes >= 0 && exit.freeBytes < DISK_FULL_BYTES) || exit.freeInodes === 0;
  if (isDiskFull) {
    return { outcome: "completed", code: "ANT_SANDBOX_DISK", message: `step ${step} filled its disk` };
  }
  return null;
}

/** Errors that only the requester can correct. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  "ANT_ENVIRONMENT_FAILED",
  "ANT_SANDBOX_REFUSED",
  "ANT_SANDBOX_PATH",
  "ANT_SANDBOX_IMAGE_INVALID",
  "ANT_SANDBOX_IMAGE_MISSING",
  "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
  "ANT_SANDBOX_IMAGE_UNUSABLE",
  "ANT_SERVICE_FAILED",
]);

/** The ending of a job whose stage threw. `step`: the command that ran, if one did. */
export function endingOfFailure(error: unknown, step: string | null, signal: AbortSignal): Ending {
  if (signal.aborted) {
    const reason = typeof signal.reason === "string" ? signal.reason : "canceled";
    return endingOfDeath({ kind: "canceled", reason }, step);
  }
  if (error instanceof SandboxDied) {
    const ending = endingOfDeath(error.death, step);
    // A timeout before the first command is not the task's: its commands have used no time yet.
    return step === null && ending.outcome === "timeout"
      ? {
          outcome: "error",
          code: "ANT_SANDBOX_FAILED",
          message: "the sandbox did not take its files in time",
        }
      : ending;
  }
  if (error instanceof Refusal)
    return { outcome: "error", code: "ANT_SANDBOX_OUTPUT", message: error.message };
  const { code, detail } = isNoSpace(error)
    ? fullHere(error)
    : AntiphonError.from(error, "ANT_SANDBOX_FAILED");
  return { outcome: REFUSALS.has(code) ? "refused" : "error", code, message: detail };
}

/** A full disk of this machine, where trees and environments are kept. The error of the call names the file. */
function fullHere(error: unknown): AntiphonError {
  if (error instanceof AntiphonError) return error;
  const { message } = error as Error;
  return new AntiphonError("ANT_SANDBOX_NO_SPACE", `the sandbox-runner's disk has no space left: ${message}`);
}

/** A disk that was full, or another limit that a command met before, is the cause of files that break a rule. */
export function endingAfter(before: Ending, ending: Ending): Ending {
  if (before.code === null || ending.code !== "ANT_SANDBOX_OUTPUT") return ending;
  const message = `${before.message}; its changes could not be read: ${ending.message}`;
  return { ...ending, code: before.code, message };
}
