import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { CommandExit, SandboxDeath } from "../ports.ts";
import { COMPLETED, endingAfter, endingOfDeath, endingOfExit, endingOfFailure } from "./ending.ts";
import { OutputBound } from "../conversation/output-bound.ts";

const nothing = new OutputBound(8).finish();
const exit = (changes: Partial<CommandExit>): CommandExit => ({
  exitCode: 1,
  signal: 0,
  timedOut: false,
  oomKills: 0,
  pidsRefused: 0,
  freeBytes: 1e6,
  freeInodes: 100,
  durationMs: 1,
  stdout: nothing,
  stderr: nothing,
  ...changes,
});

describe("how a job ends", () => {
  const deaths: readonly (readonly [SandboxDeath, string, string])[] = [
    [{ kind: "timeout" }, "timeout", "ANT_SANDBOX_TIMEOUT"],
    [{ kind: "oom" }, "oom", "ANT_SANDBOX_OOM"],
    [{ kind: "canceled", reason: "x" }, "canceled", "ANT_SANDBOX_CANCELED"],
    [{ kind: "output" }, "error", "ANT_SANDBOX_OUTPUT"],
    [{ kind: "protocol", message: "x" }, "error", "ANT_SANDBOX_FAILED"],
    [{ kind: "gone", message: "x" }, "error", "ANT_SANDBOX_FAILED"],
  ];
  it.each(deaths)("%j ends with a named outcome and code", (death, outcome, code) => {
    expect(endingOfDeath(death, "check-1")).toMatchObject({ outcome, code });
  });

  it.each([
    ["a plain failure", {}, null],
    ["memory", { oomKills: 1, exitCode: 137 }, "ANT_SANDBOX_OOM"],
    ["processes", { pidsRefused: 3 }, "ANT_SANDBOX_PIDS"],
    ["disk bytes", { freeBytes: 0 }, "ANT_SANDBOX_DISK"],
    ["disk inodes", { freeInodes: 0 }, "ANT_SANDBOX_DISK"],
    ["unknown free space", { freeBytes: -1, freeInodes: -1 }, null],
    ["memory, but the command succeeded", { oomKills: 1, exitCode: 0 }, null],
    ["processes, but the command succeeded", { pidsRefused: 1, exitCode: 0 }, null],
  ])("a failed command that met a limit names the limit: %s", (_name, changes, code) => {
    expect(endingOfExit(exit(changes), "s")?.code ?? null).toBe(code);
  });

  it("a full disk of the sandbox-runner is named, with the call that met it", async () => {
    const error: unknown = await writeFile("/dev/full", "x").catch((thrown: unknown) => thrown);
    expect(endingOfFailure(error, null, new AbortController().signal)).toEqual({
      outcome: "error",
      code: "ANT_SANDBOX_NO_SPACE",
      message: "the sandbox-runner's disk has no space left: ENOSPC: no space left on device, write",
    });
  });

  it("a full disk is named as the cause of files that break a rule, and no other end of a job", () => {
    const full = endingOfExit(exit({ freeBytes: 0 }), "s") ?? COMPLETED;
    const broken = { outcome: "error", code: "ANT_SANDBOX_OUTPUT", message: "too-many-bytes (big)" } as const;
    expect(endingAfter(full, broken)).toEqual({
      outcome: "error",
      code: "ANT_SANDBOX_DISK",
      message: "step s filled its disk; its changes could not be read: too-many-bytes (big)",
    });
    expect(endingAfter(COMPLETED, broken)).toBe(broken);
    const died = endingOfDeath({ kind: "timeout" }, "s");
    expect(endingAfter(full, died)).toBe(died);
  });
});
