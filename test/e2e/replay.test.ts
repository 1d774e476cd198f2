/** A run that calls a model, carried out once more from its record: real sandboxes, and a model server that is gone. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ReplayReport } from "@antiphon/contracts";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { patient } from "../support/patience.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });
const HOST = "models.replay.example";
/** One Associate carries out two at a time. */
const AT_ONCE = 5;

/** A small agent: asks the model, runs the command that it wants, and tells it the output until it wants none. */
const AGENT = `
import json, os, subprocess, urllib.request
messages = [{"role": "user", "content": json.loads(os.environ["ANTIPHON_TASK"])["task"]["instruction"] + os.environ.get("ALSO", "")}]
tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
while True:
    body = json.dumps({"model": "m", "messages": messages, "tools": tools}).encode()
    ask = urllib.request.Request("https://${HOST}/v1/chat/completions", data=body, headers={"content-type": "application/json"})
    message = json.load(urllib.request.urlopen(ask, timeout=60))["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"): break
    command = json.loads(message["tool_calls"][0]["function"]["arguments"])["command"]
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    messages.append({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": done.stdout + done.stderr})
`;

let stack: Stack;
let stub: ModelStub;
let directory: string;
let project: Project;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-replay-"));
  stub = await startModelStub(
    `${FIX}; cat /proc/sys/kernel/random/uuid > .trace; [ -f .noisy ] || rm .trace`,
  );
  const models = [
    {
      host: HOST,
      shape: "openai",
      base_url: `http://127.0.0.1:${stub.port}/v1`,
      prices: { "*": { input: 3_000_000, output: 15_000_000, max_output: 32_000 } },
    },
  ];
  const file = join(directory, "egress.json");
  writeFileSync(file, JSON.stringify({ models }), { mode: 0o600 });
  stack = await startQuickStack({ associates: 1, env: { ANTIPHON_EGRESS_CONFIG: file } });
  project = makeProject(BROKEN_CALCULATOR);
}, patient(400_000));
afterAll(async () => {
  project.remove();
  await stack.stop();
  await stub.close();
  rmSync(directory, { recursive: true, force: true });
});

async function run(repo: Project, ...more: string[]): Promise<string> {
  const { document } = await stack.json<{ runId: string; status: string; code: string | null }>([
    ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK, "--egress", "allowlist"],
    ...["--model-usd", "5", ...more, "--", "python3", "-c", AGENT],
  ]);
  expect(document).toMatchObject({ status: "succeeded", code: null });
  return document.runId;
}

interface Replayed {
  same: boolean;
  reports: ReplayReport[];
}

test("a run is carried out once more with its recorded answers: the same diff, no call to the model, no token", async () => {
  const runId = await run(project);
  const [heard, branches] = [stub.heard.length, project.git("for-each-ref")];
  expect(heard).toBe(2);
  const { code, document } = await stack.json<Replayed>(["replay", runId]);
  expect(document.reports).toMatchObject([
    {
      run: runId,
      task: "T-001",
      epoch: 1,
      same: true,
      calls: 2,
      served: 2,
      model_tokens: 0,
      divergence: null,
    },
  ]);
  expect([code, document.same]).toEqual([0, true]);
  expect([stub.heard.length, project.git("for-each-ref")]).toEqual([heard, branches]);
  expect((await stack.antiphon(["replay", runId, "--attempt", "T-001:1"])).stdout).toContain("0 tokens");
  expect((await stack.antiphon(["replay", runId, "--attempt", "T-001:7"])).code).toBe(2);
});

test("more replays at once than the Associates have room for wait for it", async () => {
  const runId = await run(project);
  const many = await Promise.all(
    Array.from({ length: AT_ONCE }, () => stack.antiphon(["replay", runId], { timeoutMs: 300_000 })),
  );
  expect(many.filter(({ code }) => code !== 0)).toEqual([]);
});

test("a replay that ends elsewhere names the first step that differs", async () => {
  const noisy = makeProject({ ...BROKEN_CALCULATOR, ".noisy": "" });
  const runId = await run(noisy);
  const { code, document } = await stack.json<Replayed>(["replay", runId]);
  noisy.remove();
  expect(document.reports).toMatchObject([
    { same: false, served: 2, divergence: { step: "diff", what: "the change of .trace differs" } },
  ]);
  expect(code).toBe(1);
});

test("a run with --no-record leaves no recording, and its replay says so", async () => {
  const runId = await run(project, "--no-record");
  const { code, stderr } = await stack.antiphon(["replay", runId]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("ANT_REPLAY_NO_RECORD");
  expect(stderr).toContain("made 2 model calls, of which 0 are recorded");
  const evidence = await stack.antiphon(["evidence", "get", runId]);
  expect(evidence.stdout).not.toContain("egress/model-");
});

interface Forked {
  runId: string;
  forkOf: string;
  status: string;
  code: string | null;
}

test("a fork begins an attempt again with so many recorded answers, and then the model answers", async () => {
  const runId = await run(project);
  const heard = stub.heard.length;
  const all = await stack.json<Forked>(["fork", runId, "--at", "T-001:1/2"]);
  expect(all.document).toMatchObject({ forkOf: runId, status: "succeeded" });
  expect(stub.heard.length).toBe(heard);
  const first = await stack.json<Forked>(["fork", runId, "--at", "T-001:1/1"]);
  expect(first.document).toMatchObject({ status: "succeeded" });
  expect(stub.heard.length).toBe(heard + 1);
  expect(project.landed(first.document.runId)).toHaveLength(1);
  const again = await stack.json<Replayed>(["replay", first.document.runId]);
  expect(again.document).toMatchObject({ same: true, reports: [{ calls: 2, served: 2 }] });
  const many = await stack.antiphon(["fork", runId, "--at", "T-001:1/9"]);
  expect([many.code, many.stdout]).toEqual([2, ""]);
  expect(many.stderr).toContain("error ANT_REPLAY_NO_RECORD: attempt 1 of T-001");
  expect(many.stderr).toMatch(/remedy: Begin at one of these: T-001:1, T-001:1\/1 to T-001:1\/2\. /);
  expect(stub.heard.length).toBe(heard + 1);
});

test("a fork with another model calls it where the run was, not where the pack would", async () => {
  const pack = join(directory, "asks-once");
  mkdirSync(pack, { recursive: true });
  const ask = `curl -sS -f -o /dev/null https://\${model_host}/v1/chat/completions -H content-type:application/json`;
  const body = `{"model":"\${model}","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`;
  const argv = ["sh", "-c", `${ask} -d '${body}' && ${FIX}`];
  const model = { shape: "openai", host: "api.openai.com", name: "gpt-6.1-sol" };
  writeFileSync(
    join(pack, "agent.yaml"),
    JSON.stringify({ name: "asks-once", argv, prompt: "stdin", model }),
  );
  const flags = ["--model", "m1", "--model-host", HOST, "--model-usd", "5", "--check", CHECK];
  const first = await stack.json<Forked & { runId: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--agent", pack, ...flags],
  ]);
  expect(first.document).toMatchObject({ status: "succeeded" });
  const { document } = await stack.json<Forked>([
    ...["fork", first.document.runId, "--at", "T-001:1", "--agent", pack, "--model", "m2"],
  ]);
  expect(document).toMatchObject({ status: "succeeded" });
  expect(JSON.parse(stub.heard.at(-1)?.body ?? "")).toMatchObject({ model: "m2" });
});

test("a fork of a failed attempt goes on with what a person says and another agent", async () => {
  const broken = ["--command", "echo '// no' >> add.js", "--check", CHECK, "--attempts", "1"];
  const failed = await stack.json<Forked>(["run", "Fix the broken add", "--repo", project.path, ...broken]);
  expect(failed.document.status).toBe("failed");
  const pack = join(directory, "reads");
  mkdirSync(pack, { recursive: true });
  const argv = ["sh", "-c", `grep -q 'Keep it short' && ${FIX}`];
  writeFileSync(join(pack, "agent.yaml"), JSON.stringify({ name: "reads", argv, prompt: "stdin" }));
  const flags = ["--at", "T-001:1", "--feedback", "Keep it short", "--agent", pack];
  const { code, document } = await stack.json<Forked>(["fork", failed.document.runId, ...flags]);
  expect([code, document]).toMatchObject([0, { status: "succeeded" }]);
  expect(project.landed(document.runId)).toHaveLength(1);
});

test("a fork of a run of another repository, and at an event that is not there, is refused", async () => {
  const runId = await run(project);
  const away = await stack.antiphon(["fork", runId, "--at", "T-001:5"]);
  expect([away.code, away.stderr]).toEqual([2, expect.stringContaining("the attempts: T-001:1")]);
  const other = makeProject(BROKEN_CALCULATOR);
  const fork = { run: runId, task: "T-001", epoch: 1, calls: 1, feedback: [] };
  const inputs = { repo: other.path, agent: { kind: "scripted", commands: ["true"] }, fork };
  const intent = await stack.http("POST", "/intents", { goal: "Steal", inputs, constraints: {} });
  const started = await stack.http("POST", `/intents/${String(intent.body["intentId"])}/run`);
  other.remove();
  expect([started.status, started.body["code"]]).toEqual([404, "ANT_RUN_NOT_FOUND"]);
});
