import type { SandboxOutcome } from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { output } from "../testing/dispatch.fixture.ts";
import { endingOf } from "./ending.ts";
import { isOwnFault, retryDelayMs } from "./fault.ts";

const meta = { bootMs: 1, provider: "docker" as const, node: "n", image: "i", containerId: "c" };
const STEPS = [
  { id: "work-1", command: "make" },
  { id: "check-1", command: "npm test" },
];

function outcome(over: Partial<SandboxOutcome>): SandboxOutcome {
  return { outcome: "completed", code: null, message: "m", steps: [], changes: null, meta, ...over };
}

const step = (id: string, timedOut: boolean) => ({
  id,
  exitCode: timedOut ? null : 0,
  timedOut,
  durationMs: 1,
  stdout: output(""),
  stderr: output(""),
});

describe("endingOf", () => {
  test("a completed job is judged by its steps", () => {
    expect(endingOf(outcome({}), STEPS, 1000)).toEqual({ kind: "ran" });
  });

  test("a timeout means that the task's budget is spent, and names the command that was killed", () => {
    const killed = outcome({
      outcome: "timeout",
      code: "ANT_SANDBOX_TIMEOUT",
      steps: [step("work-1", false), step("check-1", true)],
    });
    expect(endingOf(killed, STEPS, 60_000)).toEqual({
      kind: "stopped",
      code: "ANT_TASK_TIME_BUDGET",
      message: "killed at the end of its time budget of 60 s while running npm test",
    });
  });

  test("without a command that timed out, the killed one is the first without an outcome", () => {
    const killed = outcome({ outcome: "timeout", steps: [step("work-1", false)] });
    expect(endingOf(killed, STEPS, 1000)).toMatchObject({
      message: expect.stringContaining("npm test") as string,
    });
  });

  test("the runner's code is kept, and an unknown code is replaced", () => {
    expect(endingOf(outcome({ outcome: "oom", code: "ANT_SANDBOX_OOM" }), STEPS, 1)).toMatchObject({
      code: "ANT_SANDBOX_OOM",
    });
    expect(endingOf(outcome({ outcome: "refused", code: "ANT_NEWER_THAN_US" }), STEPS, 1)).toMatchObject({
      code: "ANT_SANDBOX_REFUSED",
    });
  });
});

describe("isOwnFault", () => {
  test.each([
    "ANT_PATCH_DOES_NOT_APPLY",
    "ANT_SANDBOX_OUTPUT",
    "ANT_RECORDING_NOT_FOUND",
    "ANT_SANDBOX_IMAGE_MISSING",
  ])("A5 %s is reported", (code) => expect(isOwnFault(code)).toBe(true));

  test.each([
    "ANT_SANDBOX_RUNNER_LOST",
    "ANT_DOCKER_UNREACHABLE",
    "ANT_BLOB_CORRUPT",
    "ANT_NATS_UNREACHABLE",
    "ANT_INTERNAL",
    "x",
  ])("A5 %s is the infrastructure's", (code) => expect(isOwnFault(code)).toBe(false));

  test("the delay grows with each try, up to 5 s", () => {
    expect([0, 1, 2, 10, 99].map(retryDelayMs)).toEqual([250, 500, 1000, 5000, 5000]);
  });
});
