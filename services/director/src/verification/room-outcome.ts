/** The outcome of a clean room, by that of its sandbox. */
import {
  AntiphonError,
  isErrorCode,
  type CheckOutcome,
  type SandboxOutcome,
  type SandboxStepOutcome,
} from "@antiphon/contracts";
import { failureOf } from "../environments/preparation.ts";
import type { RoomOutcome } from "../ports.ts";

const TAIL_CHARS = 2048;

/**
 * A sandbox that ran tells about the change. One that broke, or that was stopped by this Director or by its runner,
 * tells nothing about it: that throws, and the verification is tried again.
 */
export function outcomeOf(
  outcome: SandboxOutcome,
  checks: readonly string[],
  signal: AbortSignal,
): RoomOutcome {
  switch (outcome.outcome) {
    case "completed":
    case "timeout":
    case "oom":
      return {
        trials: [outcome.steps, ...(outcome.trials ?? [])].map((steps) =>
          checks.map((command, i) => checkOutcome(command, outcome, steps[i])),
        ),
        written: outcome.written ?? null,
        image: outcome.meta.image,
        ...(outcome.services === undefined ? {} : { services: outcome.services }),
        ...(outcome.environment === undefined ? {} : { environment: outcome.environment }),
      };
    case "canceled":
      if (signal.aborted) throw new AntiphonError("ANT_SANDBOX_CANCELED", outcome.message);
      throw new AntiphonError("ANT_SANDBOX_FAILED", `the runner gave up: ${outcome.message}`); // director/D4
    case "refused":
    case "error":
      if (outcome.code === "ANT_ENVIRONMENT_FAILED" || outcome.code === "ANT_BLOB_MISSING")
        throw failureOf(outcome, signal);
      throw new AntiphonError(isErrorCode(outcome.code) ? outcome.code : "ANT_INTERNAL", outcome.message);
  }
}

function checkOutcome(
  command: string,
  outcome: SandboxOutcome,
  step: SandboxStepOutcome | undefined,
): CheckOutcome {
  if (step === undefined) {
    const tail = `not run: ${outcome.message}`;
    return {
      command,
      exitCode: null,
      timedOut: outcome.outcome === "timeout",
      durationMs: 0,
      stdout: null,
      stderr: null,
      tail,
    };
  }
  const { stdout, stderr, exitCode, timedOut, durationMs } = step;
  const tail = [stdout.tail, stderr.tail]
    .filter((text) => text !== "")
    .join("\n")
    .slice(-TAIL_CHARS);
  return { command, exitCode, timedOut, durationMs, stdout: stdout.blob, stderr: stderr.blob, tail };
}
