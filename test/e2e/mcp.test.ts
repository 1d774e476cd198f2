/** `antiphon mcp` with the protocol's own client: a run from its start to its landed commit, and everything a person says. */
import { existsSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { ANTIPHON } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Answer {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

let stack: Stack;
let client: Client;
let decider: Client;
const projects: Project[] = [];
const transports: StdioClientTransport[] = [];

async function connected(...options: string[]): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ANTIPHON, "mcp", ...options],
    env: { ...(process.env as Record<string, string>), ANTIPHON_GATEWAY_URL: stack.ready.gateway },
    stderr: "inherit",
  });
  const one = new Client({ name: "test", version: "1" });
  await one.connect(transport);
  transports.push(transport);
  return one;
}

beforeAll(async () => {
  stack = await startQuickStack();
  client = await connected();
  decider = await connected("--allow-decisions");
});
afterAll(async () => {
  const pids = transports.map(({ pid }) => pid);
  await client.close();
  await decider.close();
  // Each server ends with its client.
  expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  for (const project of projects) project.remove();
  await stack.stop();
});

async function call(
  name: string,
  given: Record<string, unknown>,
  { by = client, onProgress }: { by?: Client; onProgress?: (said: string) => void } = {},
): Promise<Answer> {
  const hear = onProgress === undefined ? {} : { onprogress: ({ message = "" }) => onProgress(message) };
  return (await by.callTool({ name, arguments: given }, undefined, { timeout: 100_000, ...hear })) as Answer;
}

async function said(
  name: string,
  given: Record<string, unknown>,
  by = client,
): Promise<Record<string, unknown>> {
  const { isError, content, structuredContent } = await call(name, given, { by });
  expect(isError, content[0]?.text).not.toBe(true);
  return structuredContent ?? { text: content[0]?.text };
}

async function started(more: Record<string, unknown>): Promise<{ run: string; project: Project }> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  const given = { goal: "Fix the broken add", repo: project.path, check: [CHECK], ...more };
  return { run: String((await said("start_run", given))["runId"]), project };
}

test("the tools say what they do, and which of them a client has to ask a person about", async () => {
  const { tools } = await decider.listTools();
  const kinds = Object.fromEntries(
    tools.map(({ name, annotations }) => [
      name,
      annotations?.readOnlyHint === true
        ? "reads"
        : annotations?.destructiveHint === true
          ? "decides"
          : "acts",
    ]),
  );
  expect(kinds).toEqual({
    start_run: "acts",
    wait_for_run: "reads",
    get_run: "reads",
    list_runs: "reads",
    get_diff: "reads",
    get_logs: "reads",
    get_evidence: "reads",
    answer_question: "acts",
    decide_change: "decides",
    cancel_run: "decides",
  });
  for (const { description, inputSchema } of tools) {
    expect(description).toMatch(/\w+\./);
    expect(inputSchema.type).toBe("object");
  }
  const names = tools.map(({ name }) => name).filter((name) => name !== "decide_change");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
});

test("a run is started, watched to its landed commit, and read", async () => {
  const { run, project } = await started({ command: [FIX] });
  const heard: string[] = [];
  const end = await call("wait_for_run", { run }, { onProgress: (line) => heard.push(line) });
  expect(end.structuredContent).toMatchObject({ runId: run, status: "succeeded" });
  expect(project.landed(run)).toEqual([end.structuredContent?.["commit"]]);
  // The client's library drops progress that comes together with the answer, so the last lines may be missing.
  expect(heard.join("\n")).toContain("T-001: attempt 1");
  expect(await said("get_run", { run })).toMatchObject({
    status: "succeeded",
    signed: expect.stringContaining("verified") as unknown,
  });
  expect(await said("list_runs", { status: "succeeded", repo: project.path })).toMatchObject({
    runs: [{ runId: run }],
  });
  expect((await said("get_diff", { run }))["text"]).toMatch(/^diff --git .*\n[\s\S]*^\+/m);
  expect((await said("get_logs", { run }))["text"]).toContain("clean room");
  const { bundles } = (await said("get_evidence", { run, task: "T-001" })) as { bundles: { kind: string }[] };
  expect(bundles.map(({ kind }) => kind).sort()).toEqual(["attempt", "verdict"]);
  const file = await said("get_evidence", { run, task: "T-001", epoch: 1, file: "diff.patch" });
  expect(file["text"]).toContain("@@");
});

test("a change that waits is rejected by a client that may decide, and nothing lands", async () => {
  const { run, project } = await started({ command: [FIX], "require-approval": 1, attempts: 2 });
  const waits = await said("wait_for_run", { run });
  expect(waits).toMatchObject({ status: "waiting_input", tasks: [{ approval: { state: "pending" } }] });
  const undecided = { run, decision: "approve" };
  expect(await call("decide_change", undecided)).toMatchObject({ isError: true }); // It is not offered.
  expect(await call("answer_question", { run, answers: ["approve"] })).toMatchObject({ isError: true });
  const unreasoned = await call("decide_change", { run, decision: "changes" }, { by: decider });
  expect(unreasoned).toMatchObject({ isError: true });
  expect(unreasoned.content[0]?.text).toMatch(/^ANT_USAGE: changes needs a reason\nremedy: /);
  await said("decide_change", { run, decision: "reject", reason: "not this file" }, decider);
  expect(await said("wait_for_run", { run })).toMatchObject({ status: "failed" });
  expect(project.landed(run)).toEqual([]);
});

test("an argument that there is not is refused by each tool, and starts nothing", async () => {
  const before = await said("list_runs", {});
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  const given = { goal: "Fix the broken add", repo: project.path, check: [CHECK], command: [FIX] };
  const refused = await call("start_run", { ...given, require_approval: 1 });
  expect(refused).toMatchObject({ isError: true });
  expect(refused.content[0]?.text).toContain(
    'there is no argument "require_approval"; did you mean "require-approval"?',
  );
  expect(await said("list_runs", {})).toEqual(before);
  for (const { name, inputSchema } of (await decider.listTools()).tools) {
    expect(inputSchema, name).toMatchObject({ additionalProperties: false });
  }
});

test("a question is answered, and a run that asks is canceled", async () => {
  const asking = async (): Promise<{ run: string; project: Project }> => {
    const project = makeProject(BROKEN_CALCULATOR);
    projects.push(project);
    const agent = { kind: "scripted", ask: "Which operator?", commands: [FIX] };
    const inputs = { repo: project.path, agent, checks: [CHECK] };
    const intent = { goal: "Fix the broken add", inputs, constraints: {} };
    const { body } = await stack.http("POST", "/intents", intent);
    const begun = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
    expect(begun.status, JSON.stringify(begun.body)).toBe(202);
    return { run: String(begun.body["runId"]), project };
  };
  const [answered, canceled] = [await asking(), await asking()];
  const waits = await said("wait_for_run", { run: answered.run });
  expect(waits).toMatchObject({ status: "waiting_input", tasks: [{ questions: ["Which operator?"] }] });
  await said("answer_question", { run: answered.run, answers: ["plus"] });
  expect(await said("wait_for_run", { run: answered.run })).toMatchObject({ status: "succeeded" });
  expect(answered.project.landed(answered.run)).toHaveLength(1);
  const stopped = await said("cancel_run", { run: canceled.run, reason: "asked the wrong thing" });
  expect(stopped).toMatchObject({ status: "canceled" });
  expect(canceled.project.landed(canceled.run)).toEqual([]);
});

test("waiting ends when its time is over, and the run goes on", async () => {
  const { run } = await started({ command: [`sleep 15; ${FIX}`] });
  expect(await said("wait_for_run", { run, seconds: 1 })).toMatchObject({ status: "running" });
  expect(await said("wait_for_run", { run })).toMatchObject({ status: "succeeded" });
});

test("a failure has its code and remedy, and the server goes on", async () => {
  const unknown = await call("get_run", { run: "run_00000000000000000000" });
  expect(unknown.isError).toBe(true);
  expect(unknown.content[0]?.text).toMatch(/^ANT_RUN_NOT_FOUND: [\s\S]*\nremedy: /);
  const nowhere = await call("start_run", { goal: "x", repo: "/nowhere", command: ["true"] });
  expect(nowhere.content[0]?.text).toMatch(/^ANT_REPO_NOT_FOUND: /);
  const wrong = await call("start_run", { goal: "x", attempts: "many" });
  expect(wrong.isError).toBe(true);
  expect(await said("list_runs", { limit: 1 })).toHaveProperty("runs");
});
