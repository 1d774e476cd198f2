import type { BlobRef, ClaimBody, DirectorKey, NewRecord, ResultBody, RunOptions } from "../index.ts";
import { digestOf } from "../index.ts";

/** Minimal valid records for tests of code that carries bodies without reading them. */
const commit = "0123456789abcdef0123456789abcdef01234567";
const repo = { name: "app", path: "/app" };

/** The options of a run with defaults for everything. */
export function runOptions(asked: Partial<RunOptions> = {}): RunOptions {
  return {
    repo,
    agent: { kind: "scripted" },
    checks: [],
    max_attempts: 3,
    time_budget_s: 300,
    grants: [],
    scope: [],
    allow_unverified: false,
    allow_unproven: false,
    allow_dirty: false,
    ...asked,
  };
}

function record(type: string, runId: string, taskId: string | null, epoch: number, body: unknown): NewRecord {
  return { type, runId, taskId, epoch, cause: null, body } as NewRecord;
}

export function intentRecord(
  runId: string,
  goal = "do it",
  { options = {}, principal = "local" }: { options?: Partial<RunOptions>; principal?: string } = {},
): NewRecord {
  return record("intent", runId, null, 0, {
    intentId: "it_0",
    intent: { goal, inputs: {}, constraints: {} },
    options: runOptions(options),
    base: { repo, ref: "refs/heads/main", commit },
    principal,
  });
}

function directorTask(taskId: string): unknown {
  return {
    task_id: taskId,
    kind: "edit_repo",
    instruction: "Do it",
    acceptance_criteria: [],
    allowed_tools: [],
    egress_profile: { mode: "none", allowlist: [] },
    verify_profile: { mode: "smoke", commands: [] },
    commands: [],
    time_budget_s: 300,
    return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
  };
}

/** A plan of one task. */
export function routedRecord(runId: string, taskId = "T-001"): NewRecord {
  return record("routed", runId, null, 0, {
    workflow: "BUILD",
    reason: "r",
    confidence: 1,
    contract: {
      status: "IN_PROGRESS",
      workflow: "BUILD",
      intent: "do it",
      tasks: [{ id: 1, description: "Do it", status: "PENDING", dependencies: [] }],
      memory_notes: "",
      next_action: "Start with Task 1",
    },
    tasks: [{ task: directorTask(taskId), deps: [], agent: { kind: "scripted", commands: ["true"] } }],
  });
}

export function dispatchRecord(runId: string, taskId: string, epoch: number, pad = 0): NewRecord {
  return record("dispatch", runId, taskId, epoch, {
    task: directorTask(taskId),
    agent: { kind: "scripted" },
    intent: { goal: `do it${"x".repeat(pad)}` },
    workflow: "BUILD",
    base: { commit, tree: commit, object: `tree-${commit}.tar`, bytes: 0, files: 0 },
    feedback: [],
    answers: [],
    image: null,
    scope: [],
    grants: [],
  });
}

/** The report of an attempt by its holder. */
export function reportedBody(
  taskId: string,
  report: { status: "ok" | "needs_input"; key: string; patch?: BlobRef; questions?: string[] },
): ResultBody {
  return {
    kind: "reported",
    associate: "as_1",
    code: null,
    patch: report.patch ?? null,
    evidence: { key: report.key, digest: digestOf(new Uint8Array()) },
    result: {
      task_id: taskId,
      status: report.status,
      summary: "s",
      diff: null,
      files_changed: [],
      commands_run: [],
      verify: { mode: "smoke", status: "pass", commands: [], logs_path: null },
      questions: report.questions ?? [],
      suggested_next: null,
    },
  };
}

export function verdictRecord(runId: string, taskId: string, epoch: number): NewRecord {
  return record("verdict", runId, taskId, epoch, {
    verdict: "PASS",
    code: null,
    message: "passes",
    checks: [],
    baseChecks: [],
    head: commit,
    commit,
    tree: commit,
    evidence: null,
  });
}

export function landingRecord(runId: string, taskId: string, epoch: number): NewRecord {
  const ref = `refs/heads/antiphon/${runId}`;
  return record("landing", runId, taskId, epoch, { kind: "landed", ref, commit, previous: null });
}

export function closedRecord(
  runId: string,
  ending: { status: "succeeded" | "failed" | "canceled"; seal?: string } = { status: "failed" },
): NewRecord {
  return record("closed", runId, null, 0, {
    status: ending.status,
    code: ending.status === "succeeded" ? null : "ANT_RUN_CANCELED",
    message: "m",
    contract: {
      status: ending.status === "succeeded" ? "COMPLETE" : "BLOCKED",
      workflow: "BUILD",
      tasks_completed: 1,
      tasks_total: 1,
      evidence: [{ type: "verification", result: "PASS", details: "passes" }],
      next_action: "none",
    },
    commit: null,
    landedOn: null,
    seal: ending.seal ?? digestOf(new Uint8Array()),
  });
}

export function claimRecord(
  runId: string,
  taskId: string,
  epoch: number,
  associate: string,
  reporter?: DirectorKey,
): NewRecord {
  const body: ClaimBody = { associate, incarnation: "one", ...(reporter === undefined ? {} : { reporter }) };
  return record("claim", runId, taskId, epoch, body);
}

export function resultRecord(runId: string, taskId: string, epoch: number, body: ResultBody): NewRecord {
  return record("result", runId, taskId, epoch, body);
}
