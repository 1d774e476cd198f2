/** Dispatches and command outcomes for the tests of this service. */
import type { DispatchBody, OutputRef } from "@antiphon/contracts";
import type { CommandFact } from "../attempt/attempt.ts";
import type { AttemptFacts } from "../evidence/attempt-facts.ts";

export function dispatchOf(over: Partial<DispatchBody> = {}): DispatchBody {
  return {
    task: {
      task_id: "T-001",
      kind: "edit_repo",
      instruction: "Say hello",
      acceptance_criteria: ["sh check.sh passes"],
      base_ref: "refs/heads/main",
      allowed_tools: ["bash"],
      egress_profile: { mode: "none", allowlist: [] },
      verify_profile: { mode: "smoke", commands: ["sh check.sh"] },
      commands: [],
      time_budget_s: 60,
      return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
    },
    agent: { kind: "scripted", commands: ["echo hello > hello.txt"] },
    intent: { goal: "Say hello" },
    workflow: "BUILD",
    base: {
      commit: "a".repeat(40),
      tree: "b".repeat(40),
      object: `tree-${"b".repeat(40)}.tar`,
      bytes: 1024,
      files: 2,
    },
    feedback: [],
    answers: [],
    image: null,
    scope: [],
    grants: [],
    ...over,
  };
}

export function output(text: string): OutputRef {
  const bytes = Buffer.byteLength(text);
  return { blob: null, bytes, kept: bytes, truncated: false, tail: text };
}

export function ran(command: string, exitCode: number | null, over: Partial<CommandFact> = {}): CommandFact {
  return {
    command,
    exitCode,
    timedOut: false,
    durationMs: 5,
    stdout: output(""),
    stderr: output(""),
    ...over,
  };
}

export function factsWith(over: Partial<AttemptFacts> = {}): AttemptFacts {
  return {
    runId: "run_0001",
    taskId: "T-001",
    kind: "edit_repo",
    ending: { kind: "ran" },
    work: [ran("echo hello > hello.txt", 0)],
    checks: [ran("sh check.sh", 0, { stdout: output("ok\n") })],
    verify: { mode: "smoke", commands: ["sh check.sh"] },
    selfVerified: true,
    setupFiles: [],
    budgetSpent: false,
    refused: null,
    modelFailed: null,
    left: 0,
    message: null,
    change: { patch: "diff --git a/hello.txt b/hello.txt\n", files: ["hello.txt"] },
    note: "ran 1 command",
    wants: { diff: true, filesChanged: true, files: 0 },
    ...over,
  };
}
