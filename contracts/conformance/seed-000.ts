/** Seed 000: Director <-> Associate Contracts (v0). */
import assert from "node:assert/strict";
import { CONSUMER_TYPES, jsonSchemaOf, validate } from "@antiphon/contracts";
import { factsOf, runView } from "@antiphon/run";
import {
  accepts,
  golden,
  hasDefault,
  hasEnum,
  hasField,
  hasFields,
  nodeAt,
  refuses,
  seedJson,
} from "./proof.ts";
import { statements } from "./statement.ts";

const task = () => golden("DirectorTask.v0", "seed example");
const result = () => golden("AssociateResult.v0", "seed example");
const required = (name: "DirectorTask" | "AssociateResult", field: string) => ({
  says: `${name}.${field} is required`,
  proof: () => hasField(name, field, "required"),
});

const KINDS = ["edit_repo", "run", "git", "inspect"];
const VERBS = ["git_checkpoint", "git_reset", "git_checkout", "git_status"];

export const seed000 = statements("000", {
  DirectorTask: [
    {
      says: "DirectorTask has exactly the fields listed",
      proof: () =>
        hasFields("DirectorTask", [
          "task_id",
          "kind",
          "instruction",
          "acceptance_criteria",
          "base_ref?",
          "git_action?",
          "allowed_tools",
          "egress_profile?",
          "verify_profile?",
          "commands?",
          "time_budget_s?",
          "return",
        ]),
    },
    ...["task_id", "kind", "instruction", "acceptance_criteria", "allowed_tools", "return"].map((field) =>
      required("DirectorTask", field),
    ),
    {
      says: "DirectorTask.kind is edit_repo | run | git | inspect",
      proof: () => hasEnum("DirectorTask", "kind", KINDS),
    },
    {
      says: "DirectorTask.base_ref is optional",
      proof: () => hasField("DirectorTask", "base_ref", "optional"),
    },
    {
      says: "DirectorTask.git_action is optional",
      proof: () => hasField("DirectorTask", "git_action", "optional"),
    },
    {
      says: "DirectorTask.commands is optional",
      proof: () => hasField("DirectorTask", "commands", "optional"),
    },
    {
      says: "DirectorTask.time_budget_s defaults to 300",
      proof: () => hasDefault("DirectorTask", "time_budget_s", 300),
    },
    {
      says: "DirectorTask.return asks for diff, diff_format, logs, files_changed, artifacts",
      proof: () =>
        hasFields("DirectorTask", ["diff", "diff_format", "logs", "files_changed", "artifacts"], "return"),
    },
    {
      says: "the diff format is unified",
      proof: () => hasEnum("DirectorTask", "return.diff_format", ["unified"]),
    },
    ...KINDS.map((kind) => ({
      says: `task kind ${kind} is accepted`,
      proof: () =>
        accepts("DirectorTask", { ...task(), kind, ...(kind === "git" ? { git_action: "git_status" } : {}) }),
    })),
    ...VERBS.map((git_action) => ({
      says: `kind git may request ${git_action}`,
      proof: () => accepts("DirectorTask", { ...task(), kind: "git", git_action }),
    })),
    {
      says: "run and inspect tasks modify no files",
      file: "services/associate/src/evidence/report.test.ts",
      title: "a task of kind %s that changes files is failed",
    },
    {
      says: "the DirectorTask example validates as written",
      proof: () => accepts("DirectorTask", seedJson("000-director-task.json")),
    },
  ],
  AssociateResult: [
    {
      says: "AssociateResult has exactly the fields listed",
      proof: () =>
        hasFields("AssociateResult", [
          "task_id",
          "status",
          "summary",
          "diff",
          "files_changed",
          "commands_run",
          "verify",
          "questions",
          "suggested_next",
        ]),
    },
    {
      says: "AssociateResult.task_id echoes the DirectorTask",
      file: "services/associate/src/evidence/report.test.ts",
      title: "work and checks that pass are reported ok, with paths into the evidence",
    },
    {
      says: "AssociateResult.status is ok | needs_input | failed",
      proof: () => hasEnum("AssociateResult", "status", ["ok", "needs_input", "failed"]),
    },
    {
      says: "AssociateResult.diff is a unified diff or null",
      proof: () => {
        accepts("AssociateResult", { ...result(), diff: null });
        refuses("AssociateResult", { ...result(), diff: "text" }, "/diff");
      },
    },
    {
      says: "files_changed is a list of file paths",
      proof: () => refuses("AssociateResult", { ...result(), files_changed: [1] }, "/files_changed/0"),
    },
    {
      says: "commands_run has command, exit_code, stdout_path, stderr_path",
      proof: () =>
        hasFields(
          "AssociateResult",
          ["command", "exit_code", "stdout_path", "stderr_path"],
          "commands_run[]",
        ),
    },
    {
      says: "verify has mode, status, commands, logs_path",
      proof: () => hasFields("AssociateResult", ["mode", "status", "commands", "logs_path"], "verify"),
    },
    {
      says: "questions is a list of texts",
      proof: () => refuses("AssociateResult", { ...result(), questions: "Which?" }, "/questions"),
    },
    {
      says: "suggested_next is optional: null or text",
      proof: () => {
        accepts("AssociateResult", { ...result(), suggested_next: null });
        accepts("AssociateResult", { ...result(), suggested_next: "Add a test." });
      },
    },
    {
      says: "status is failed if verification fails",
      proof: () => {
        const verify = { ...(result().verify as object), status: "fail" };
        const rule = "associate-result/failed-when-verification-failed";
        refuses("AssociateResult", { ...result(), verify }, "/status", rule);
        accepts("AssociateResult", { ...result(), verify, status: "failed" });
      },
    },
    {
      says: "needs_input only when user input is required: it comes with questions, and questions only with it",
      proof: () => {
        const bare = { ...result(), status: "needs_input" };
        refuses("AssociateResult", bare, "/questions", "associate-result/needs-input-asks");
        accepts("AssociateResult", { ...bare, questions: ["Which format?"] });
        const asking = { ...result(), questions: ["Which format?"] };
        refuses("AssociateResult", asking, "/questions", "associate-result/questions-only-with-needs-input");
      },
    },
    {
      says: "never respond directly to end users; only structured results",
      proof: () => {
        const rule = "associate-result/no-direct-answer";
        refuses("AssociateResult", { ...result(), reply: "Hello" }, "/reply", rule);
        const tolerant = validate(
          "AssociateResult",
          { ...result(), message_to_user: "Hello" },
          { reader: "tolerant" },
        );
        assert.equal(tolerant.ok, false);
        refuses("AssociateResult", "Hello, user", "");
      },
    },
    {
      says: "the AssociateResult example validates as written",
      proof: () => accepts("AssociateResult", seedJson("000-associate-result.json")),
    },
  ],
  "Smart defaults": [
    {
      says: "verification mode defaults to smoke",
      proof: () => hasDefault("VerifyProfile", "mode", "smoke"),
    },
    {
      says: "a task without verify_profile is read as smoke without commands",
      proof: () => {
        const { verify_profile: _, ...rest } = task();
        const read = validate("DirectorTask", rest);
        assert.deepEqual(read.ok && read.value.verify_profile, { mode: "smoke", commands: [] });
      },
    },
    {
      says: "if commands are provided, run them",
      file: "services/associate/src/attempt/attempt.test.ts",
      title: "the work comes first and stops at a failure; all checks run",
    },
    {
      says: "else run the fastest obvious check if discoverable",
      file: "test/integration/git/git-inspect.test.ts",
      title: "names the check and what it depends on from the commit, not from the work tree",
    },
    {
      says: "without a check the Associate reports unknown, not pass",
      file: "services/associate/src/evidence/report.test.ts",
      title: "without a check the verification is unknown, not passed",
    },
    {
      says: "if nothing is discoverable, verify.status is unknown",
      proof: () => {
        assert.deepEqual(nodeAt("AssociateResult", "verify.status").node.enum, ["pass", "fail", "unknown"]);
        const verify = { mode: "smoke", status: "unknown", commands: [], logs_path: null };
        accepts("AssociateResult", { ...result(), verify });
      },
    },
    { says: "egress mode defaults to git+pkg", proof: () => hasDefault("EgressProfile", "mode", "git+pkg") },
    {
      says: "the egress allowlist is empty unless explicitly set",
      proof: () => hasDefault("EgressProfile", "allowlist", []),
    },
    {
      says: "a task without egress_profile is read as git+pkg with an empty allowlist",
      proof: () => {
        const { egress_profile: _, ...rest } = task();
        const read = validate("DirectorTask", rest);
        assert.deepEqual(read.ok && read.value.egress_profile, { mode: "git+pkg", allowlist: [] });
      },
    },
    {
      says: "git actions only via kind = git",
      proof: () => {
        const rule = "director-task/git-action-only-with-git";
        refuses("DirectorTask", { ...task(), git_action: "git_reset" }, "/git_action", rule);
        refuses("DirectorTask", { ...task(), kind: "git" }, "/git_action", rule);
      },
    },
  ],
  "Prompt routing": [
    {
      says: "prompts go to the Director's side: an intent record wakes the Router, no Associate",
      proof: () => {
        assert.ok(CONSUMER_TYPES.router.includes("intent"));
        assert.ok(!CONSUMER_TYPES.associate.includes("intent"));
      },
    },
    {
      says: "the Associate does not interpret prompts: dispatched tasks are all it reads",
      // A requeue names a dispatched task once more.
      proof: () => assert.deepEqual(CONSUMER_TYPES.associate, ["dispatch", "requeue"]),
    },
    {
      says: "the Director may request context via inspect tasks",
      proof: () => accepts("DirectorTask", { ...task(), kind: "inspect" }),
    },
    {
      says: "Director responses are delivered back for display: the closing record gives the run's final view",
      proof: () => {
        const closed = golden("journal.closed.v1");
        assert.equal(runView(factsOf([closed as never])).status, (closed.body as { status: string }).status);
      },
    },
  ],
  "Tokens and redirects": [
    {
      says: "no auth token has a place in what an Associate is handed",
      proof: () => {
        const schema = JSON.stringify(jsonSchemaOf("journal.dispatch")).toLowerCase();
        // A number of tokens holds no secret, and neither does the place of one in a transcript.
        const words = schema.replaceAll(
          /"[a-z_]*tokens":\{("type":"integer"|"type":"array",.{0,140}"the path of a number)/g,
          '"count":{',
        );
        assert.doesNotMatch(words, /"[a-z_]*(token|secret|password|credential)[a-z_]*":/);
      },
    },
    {
      says: "prompt forwarding uses a control-plane issued, short-lived session token",
      file: "test/integration/gateway/gateway-http.test.ts",
      title: "are taken with a control-plane issued, short-lived session token only",
    },
    {
      says: "the Associate UI does not store the token; it is injected at session start",
      file: "test/e2e/session-token.test.ts",
      title: "the session token is injected at session start, forwards the prompt, and is stored nowhere",
    },
    {
      says: "Director responses are signed by the Director and verified by the Associate UI",
      file: "cli/src/runs/decisions.test.ts",
      title: "are signed by the Director and verified before they are shown",
    },
  ],
});
