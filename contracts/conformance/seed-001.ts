/** Seed 001: Ralph-in-Ralph Protocol (v1). */
import assert from "node:assert/strict";
import { layout, SKILLS, validateSkillResult } from "@antiphon/contracts";
import { accepts, golden, hasEnum, hasField, knowsFields, readText, refuses } from "./proof.ts";
import { statements } from "./statement.ts";

const contract = () => golden("TaskContract.v1");
const manifest = () => golden("EvidenceManifest.v1", "full");

export const seed001 = statements("001", {
  "Core invariant": [
    {
      says: "all state is durable: every journal stream is kept on disk and drops nothing by itself",
      file: "contracts/src/topology/topology.test.ts",
      title: "the journal is on disk and never drops an old record by itself",
    },
    {
      says: "no agent relies on chat history: a dispatch carries goal, task, feedback and answers",
      proof: () =>
        knowsFields("journal.dispatch", ["body.intent.goal", "body.task", "body.feedback", "body.answers"]),
    },
  ],
  "Task contract": [
    {
      says: "its path is tasks/T-{id}.yaml",
      proof: () => assert.equal(layout.taskContract("T-001"), "tasks/T-001.yaml"),
    },
    {
      says: "its schema is tasks/schema.json",
      proof: () => assert.match(readText("schemas/tasks/schema.json"), /TaskContract\.v1/),
    },
    { says: "objective: natural language", proof: () => hasField("TaskContract", "objective", "required") },
    {
      says: "scope: allowed and disallowed files and tools",
      proof: () =>
        knowsFields("TaskContract", [
          "scope.allowed_files",
          "scope.disallowed_files",
          "scope.allowed_tools",
          "scope.disallowed_tools",
        ]),
    },
    {
      says: "verification: explicit commands, under the loop's name verification_commands",
      proof: () => hasField("TaskContract", "verification_commands", "required"),
    },
    {
      says: "acceptance criteria: a checklist",
      proof: () => hasField("TaskContract", "acceptance_criteria", "required"),
    },
    {
      says: "state is open | proposed | done | failed",
      proof: () => hasEnum("TaskContract", "status", ["open", "proposed", "done", "failed"]),
    },
    {
      says: "a task contract written as YAML validates",
      file: "contracts/src/documents/document.test.ts",
      title: "a task contract in YAML is recognised by its file name",
    },
  ],
  "Evidence bundle": [
    {
      says: "its path is evidence/T-{id}/run-{run_id}/",
      proof: () => assert.equal(layout.evidence("T-001", "001"), "evidence/T-001/run-001"),
    },
    {
      says: "its schema is evidence/manifest.schema.json",
      proof: () => assert.match(readText("schemas/evidence/manifest.schema.json"), /EvidenceManifest\.v1/),
    },
    {
      says: "manifest.json: metadata, decision, summary",
      proof: () => {
        assert.equal(layout.manifest("T-001", "001"), "evidence/T-001/run-001/manifest.json");
        knowsFields("EvidenceManifest", ["run_id", "task_id", "epoch", "decision", "summary"]);
      },
    },
    {
      says: "logs: checks/ with stdout and stderr of the verification commands",
      proof: () =>
        knowsFields("EvidenceManifest", ["checks", "checks[].stdout_path", "checks[].stderr_path"]),
    },
    {
      says: "provenance/: environment, tool versions, git commit hashes",
      proof: () => knowsFields("Provenance", ["environment", "tools", "git"]),
    },
    {
      says: "diff.patch is optional",
      proof: () => accepts("EvidenceManifest", { ...manifest(), files: [] }),
    },
    {
      says: "a bundle names no file outside itself",
      proof: () => {
        const [file] = manifest().files as { path: string }[];
        refuses("EvidenceManifest", { ...manifest(), files: [{ ...file, path: "../x" }] }, "/files/0/path");
      },
    },
  ],
  "Skill result": [
    {
      says: "its path is skills/results/{run_id}/",
      proof: () => assert.equal(layout.skillResults("001"), "skills/results/001"),
    },
    {
      says: "its manifest is input/output pairs",
      proof: () => knowsFields("SkillResult", ["pairs[].input", "pairs[].output"]),
    },
    {
      says: "pairs adhere to skills/{skill_name}/io_schema.json",
      proof: () => {
        assert.equal(layout.ioSchema("reviewer"), "skills/reviewer/io_schema.json");
        const pair = { input: { task_id: "T-001", diff: "" }, output: { decision: "accept", findings: [] } };
        const result = { skill: "reviewer", run_id: "001", pairs: [pair] };
        assert.equal(validateSkillResult(result, SKILLS.reviewer).ok, true);
        const wrong = validateSkillResult(
          { ...result, pairs: [pair, { ...pair, output: { decision: "maybe" } }] },
          SKILLS.reviewer,
        );
        assert.equal(!wrong.ok && wrong.errors[0]?.path.startsWith("/pairs/1/output"), true);
      },
    },
  ],
  "The loop": [
    { says: "a new task contract is open", proof: () => assert.equal(contract().status, "open") },
    {
      says: "context, work, self-verify, evidence: an attempt does all four",
      file: "test/integration/associate/associate.test.ts",
      title: "is claimed, done in a sandbox, verified, and reported with its evidence",
    },
    {
      says: "self-verify runs the verification commands of the task",
      file: "services/associate/src/attempt/attempt.test.ts",
      title: "the work comes first and stops at a failure; all checks run",
    },
    {
      says: "the bundle holds the logs of the checks",
      file: "test/integration/associate/associate.test.ts",
      title: "a failed check makes the result failed, with the check's output as evidence",
    },
    {
      says: "the Director verifies with checks of its own",
      file: "test/e2e/honest-failures.test.ts",
      title:
        "a liar whose patch breaks the check is rejected by the clean room, told why, retried, and ends failed",
    },
    {
      says: "a successful attempt proposes: the task shows proposed",
      file: "run/src/view/run-view.test.ts",
      title: "an ok report proposes the task",
    },
    {
      says: "a failed attempt leaves the task open",
      file: "run/src/view/run-view.test.ts",
      title: "a failed report leaves the task open",
    },
    {
      says: "retries exhausted: the task is failed",
      file: "run/src/view/run-view.test.ts",
      title: "a run that failed leaves no task under way",
    },
    {
      says: "accept: the change is merged and the task is done",
      file: "run/src/view/run-view.test.ts",
      title: "a landing makes the task done",
    },
    {
      says: "reject: feedback is added and the status is reset to open",
      file: "run/src/view/run-view.test.ts",
      title: "a rejected proposal shows open again, with the verdict's code",
    },
    {
      says: "feedback has a place in the task contract",
      proof: () => knowsFields("TaskContract", ["feedback[].epoch", "feedback[].code", "feedback[].message"]),
    },
  ],
});
