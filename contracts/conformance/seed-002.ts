/** Seed 002: RFC 000 Contracts (Minimal + Strict). */
import assert from "node:assert/strict";
import {
  AntiphonError,
  PROVIDER_NAMES,
  replayKey,
  upcast,
  type OCClient,
  type SandboxClient,
} from "@antiphon/contracts";
import { accepts, golden, hasEnum, hasField, hasFields, isSeedSchema, refuses, seedJson } from "./proof.ts";
import { statements } from "./statement.ts";

const STATUSES = ["queued", "running", "waiting_input", "succeeded", "failed", "canceled"];

export const seed002 = statements("002", {
  "Intent.v0": [
    {
      says: "the emitted Intent.v0 is the RFC's schema, keyword for keyword",
      proof: () => isSeedSchema("Intent", "002-intent.schema.json"),
    },
    {
      says: "goal is not empty",
      proof: () => refuses("Intent", { goal: "", inputs: {}, constraints: {} }, "/goal"),
    },
    {
      says: "goal, inputs and constraints are required",
      proof: () => refuses("Intent", { goal: "x", inputs: {} }, "/constraints"),
    },
    {
      says: "unknown keys are refused",
      proof: () => refuses("Intent", { goal: "x", inputs: {}, constraints: {}, more: 1 }, "/more"),
    },
  ],
  "Plan.v0": [
    {
      says: "the emitted Plan.v0 is the RFC's schema, keyword for keyword",
      proof: () => isSeedSchema("Plan", "002-plan.schema.json"),
    },
    {
      says: "node kind is compute | decision | io | approval",
      proof: () => hasEnum("Plan", "nodes[].kind", ["compute", "decision", "io", "approval"]),
    },
    {
      says: "deps are ids of nodes of the plan, without a cycle",
      proof: () => {
        const node = (id: string, deps: string[]) => ({ id, kind: "io", deps });
        refuses("Plan", { nodes: [node("a", ["b"])] }, "/nodes/0/deps/0", "plan/dependencies-exist");
        refuses("Plan", { nodes: [node("a", ["b"]), node("b", ["a"])] }, "/nodes", "plan/acyclic");
        refuses("Plan", { nodes: [node("a", []), node("a", [])] }, "/nodes/1/id", "plan/ids-unique");
      },
    },
  ],
  "Patch.v0": [
    {
      says: "the emitted Patch.v0 is the RFC's schema, keyword for keyword",
      proof: () => isSeedSchema("Patch", "002-patch.schema.json"),
    },
    {
      says: "paths stay inside the tree",
      proof: () =>
        refuses("Patch", { files: [{ path: "../x", diff: "" }] }, "/files/0/path", "patch/paths-safe"),
    },
  ],
  "RunViewModel.v0": [
    {
      says: "the emitted RunViewModel.v0 is the RFC's schema, keyword for keyword",
      proof: () => isSeedSchema("RunViewModel", "002-run-view-model.schema.json"),
    },
    ...STATUSES.map((status) => ({
      says: `status ${status} is accepted`,
      proof: () => accepts("RunViewModel", { runId: "run_1", status, steps: [], artifacts: [] }),
    })),
    {
      says: "no other status is",
      proof: () =>
        refuses("RunViewModel", { runId: "r", status: "done", steps: [], artifacts: [] }, "/status"),
    },
  ],
  "OpenCode adapter": [
    {
      says: "OCCompileInput is intent, schemaVersion, seed",
      proof: () => hasFields("OCCompileInput", ["intent", "schemaVersion", "seed"]),
    },
    {
      says: "OCCompileOutput is plan, patch, tests, transcript",
      proof: () => hasFields("OCCompileOutput", ["plan", "patch", "tests", "transcript"]),
    },
    {
      says: "OCClient has health, compile, diff",
      proof: () => {
        const client: OCClient = {
          health: () => Promise.resolve({ ok: true }),
          compile: () => Promise.resolve({ plan: {}, patch: {}, tests: [], transcript: [] }),
          diff: () => Promise.resolve(null),
        };
        assert.deepEqual(Object.keys(client), ["health", "compile", "diff"]);
      },
    },
    {
      says: "the replay key is a deterministic hash of (intent, schemaVersion, seed)",
      proof: () => {
        const key = replayKey({ intent: { a: 1, b: 2 }, schemaVersion: 0, seed: "s" });
        assert.equal(replayKey({ seed: "s", schemaVersion: 0, intent: { b: 2, a: 1 } }), key);
        assert.notEqual(replayKey({ intent: { a: 1, b: 2 }, schemaVersion: 1, seed: "s" }), key);
        assert.match(key, /^[0-9a-f]{64}$/);
      },
    },
    {
      says: "request and response payloads are persisted before success is answered",
      file: "test/integration/gateway/gateway-events.test.ts",
      title: "are kept under their replay key, where a replay looks for them",
    },
  ],
  "Sandbox adapter": [
    {
      says: "SandboxJob is imageOrTemplate, cmd, files, env, timeoutMs",
      proof: () => hasFields("SandboxJob", ["imageOrTemplate", "cmd", "files", "env", "timeoutMs"]),
    },
    {
      says: "SandboxResult is exitCode, stdout, stderr, files, meta",
      proof: () => hasFields("SandboxResult", ["exitCode", "stdout", "stderr", "files", "meta"]),
    },
    {
      says: "meta.provider is microsandbox | e2b in v0",
      proof: () => hasEnum("SandboxResult", "meta.provider", ["microsandbox", "e2b"]),
    },
    {
      says: "v0 stays readable beside the other providers",
      proof: () => {
        hasEnum("SandboxResultV1", "meta.provider", PROVIDER_NAMES);
        const { id, value } = upcast("SandboxResult.v0", golden("SandboxResult.v0", "full"));
        assert.equal(id, "SandboxResult.v1");
        accepts("SandboxResultV1", value);
      },
    },
    {
      says: "SandboxClient has run",
      proof: () => {
        const client: SandboxClient = { run: () => Promise.reject(new AntiphonError("ANT_SANDBOX_REFUSED")) };
        assert.deepEqual(Object.keys(client), ["run"]);
      },
    },
    {
      says: "a v0 job runs as the RFC says: files, arguments, environment, input, output, exit code",
      file: "test/integration/sandbox-runner/sandbox-seed.test.ts",
      title: "works unchanged: files, arguments, environment, input, output, exit codes",
    },
    {
      says: "no host exec fallback in production: without an engine the runner is not ready and says so",
      file: "test/integration/sandbox-runner/sandbox-runner-process.test.ts",
      title: "is not ready without Docker, and reports the remedy",
    },
    {
      says: "no host exec fallback: no provider of that name can be expressed",
      proof: () => {
        const result = golden("SandboxResult.v1");
        refuses("SandboxResultV1", { ...result, meta: { bootMs: 1, provider: "host" } }, "/meta/provider");
      },
    },
    {
      says: "the files map is canonically sorted before persistence",
      file: "contracts/src/wire/codec.test.ts",
      title: "a files map has the same bytes whatever the order it was filled in",
    },
  ],
  API: [
    {
      says: "POST /intents stores an intent",
      file: "test/integration/gateway/gateway-http.test.ts",
      title: "store an intent: 201, then 200 with the same id for the same body",
    },
    {
      says: "POST /intents/:id/run needs no body",
      file: "test/integration/gateway/gateway-http.test.ts",
      title: "run an intent with no body at all; without a repository that is a 422",
    },
    {
      says: "POST /runs/:id/events resumes a waiting run",
      file: "test/e2e/questions.test.ts",
      title: "a question puts the run in waiting_input, exit code 3, and an answer over HTTP resumes it",
    },
    {
      says: "the create-intent example is an Intent",
      proof: () => accepts("Intent", seedJson("002-create-intent.json")),
    },
    {
      says: "the resume example is a run event",
      proof: () => accepts("RunEvent", seedJson("002-resume-run.json")),
    },
    {
      says: "an event needs its name; the choice is optional",
      proof: () => {
        hasField("RunEvent", "event", "required");
        hasField("RunEvent", "choice", "optional");
      },
    },
  ],
});
