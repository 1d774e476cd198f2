/** Records of an imaginary run, numbered and digested like the journal's, for tests of the pure core. */
import {
  digestOf,
  encode,
  subjects,
  type AssociateResult,
  type BlobRef,
  type CheckOutcome,
  type DispatchBody,
  type JournalBodies,
  type JournalType,
  type PlannedTask,
  type ReportedResult,
  type RunOptions,
  type StoredRecord,
  type VerdictBody,
} from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import type { Static } from "typebox";

const EPOCH_MS = Date.UTC(2026, 0, 1);
export const BASE = "b".repeat(40);
const EVIDENCE = { key: "run.T-001.1", digest: digestOf(new Uint8Array()) };

export class RecordLog {
  readonly runId: string;
  readonly records: StoredRecord[] = [];

  constructor(runId = "run_test0000000000000000") {
    this.runId = runId;
  }

  add<T extends JournalType>(type: T, taskId: string | null, epoch: number, body: JournalBodies[T]): this {
    const seq = this.records.length + 1;
    const record = { v: 1 as const, type, runId: this.runId, taskId, epoch, cause: null, body };
    const subject = subjects.journal(record);
    const stored = {
      ...record,
      seq,
      subject,
      digest: digestOf(encode(record)),
      at: new Date(EPOCH_MS + seq),
    };
    this.records.push(stored as StoredRecord);
    return this;
  }

  opened(
    tasks: PlannedTask[],
    options: Partial<RunOptions> = {},
    workflow: "BUILD" | "DEBUG" = "BUILD",
    principal = "local",
  ): this {
    const repo = { name: "app", path: "/repo" };
    this.add("intent", null, 0, {
      intentId: "it_0",
      intent: { goal: "do it", inputs: {}, constraints: {} },
      options: runOptions({ ...options, repo }),
      base: { repo, ref: "refs/heads/main", commit: BASE },
      principal,
    });
    return this.add("routed", null, 0, {
      workflow,
      reason: "test",
      confidence: 1,
      contract: {
        status: "IN_PROGRESS",
        workflow,
        intent: "do it",
        tasks: tasks.map(({ task }, i) => ({
          id: i + 1,
          description: task.instruction,
          status: "PENDING",
          dependencies: [],
        })),
        memory_notes: "",
        next_action: "Start with Task 1",
      },
      tasks,
    });
  }

  dispatched(taskId: string, epoch = 1, more: Partial<DispatchBody> = {}): this {
    return this.add("dispatch", taskId, epoch, {
      task: planned(taskId).task,
      agent: { kind: "scripted" },
      intent: { goal: "do it" },
      workflow: "BUILD",
      base: { commit: BASE, tree: BASE, object: `tree-${BASE}.tar`, bytes: 0, files: 0 },
      feedback: [],
      answers: [],
      image: null,
      scope: [],
      grants: [],
      ...more,
    });
  }

  claimed(taskId: string, epoch = 1, associate = "as_1"): this {
    return this.add("claim", taskId, epoch, { associate, incarnation: associate });
  }

  reported(
    taskId: string,
    epoch: number,
    status: AssociateResult["status"],
    code: string | null = null,
    patch: BlobRef | null = null,
  ): this {
    const body: Static<typeof ReportedResult> = {
      kind: "reported",
      associate: "as_1",
      result: {
        task_id: taskId,
        status,
        summary: `it is ${status}`,
        diff: null,
        files_changed: [],
        commands_run: [],
        verify: {
          mode: "smoke",
          status: status === "failed" ? "fail" : "pass",
          commands: [],
          logs_path: null,
        },
        questions: status === "needs_input" ? ["which one?"] : [],
        suggested_next: null,
      },
      code,
      evidence: EVIDENCE,
      patch,
    };
    return this.add("result", taskId, epoch, body);
  }

  lapsed(taskId: string, epoch: number): this {
    return this.add("result", taskId, epoch, { kind: "lapsed", observer: "as_2", holder: "as_1" });
  }

  withoutSandbox(taskId: string, epoch: number): this {
    const code = "ANT_DOCKER_UNREACHABLE";
    const body = { kind: "abandoned" as const, associate: "as_1", code, message: "no engine" };
    return this.add("result", taskId, epoch, { ...body, outage: true });
  }

  judged(taskId: string | null, epoch: number, verdict: Partial<VerdictBody>): this {
    return this.add("verdict", taskId, epoch, { ...pass, ...verdict });
  }

  landed(taskId: string | null, epoch: number, commit: string, ref = "refs/heads/antiphon/run"): this {
    return this.add("landing", taskId, epoch, { kind: "landed", ref, commit, previous: null });
  }

  canceled(): this {
    return this.add("cancel", null, 0, { by: "local", reason: "" });
  }
}

export function planned(taskId: string, deps: string[] = []): PlannedTask {
  return {
    task: {
      task_id: taskId,
      kind: "edit_repo",
      instruction: `do ${taskId}`,
      acceptance_criteria: [],
      allowed_tools: [],
      egress_profile: { mode: "none", allowlist: [] },
      verify_profile: { mode: "smoke", commands: ["npm test"] },
      commands: [],
      time_budget_s: 300,
      return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
    },
    deps,
    agent: { kind: "scripted" },
  };
}

export function check(exitCode: number | null, timedOut = false): CheckOutcome {
  return { command: "npm test", exitCode, timedOut, durationMs: 1, stdout: null, stderr: null, tail: "" };
}

export const commitOf = (n: number): string => n.toString(16).padStart(40, "c");

const pass: VerdictBody = {
  verdict: "PASS",
  code: null,
  message: "npm test passes in the clean room",
  checks: [check(0)],
  baseChecks: [],
  head: BASE,
  commit: commitOf(1),
  tree: BASE,
  evidence: null,
};
