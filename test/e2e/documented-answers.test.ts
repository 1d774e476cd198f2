/** The OpenAPI document says what the whole of Antiphon answers: the JSON of every route, after a run that has landed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../services/gateway/src/http/route-table.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

/** Held against the document by the tests of the gateway, where dead letters, archives and approvals are made. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "get /dead-letters/{id}": "gateway-events",
  "post /dead-letters/{id}/requeue": "gateway-events",
  "post /runs/{id}/restore": "gateway-archive",
  "post /runs/{id}/events": "gateway-events",
  "post /runs/{id}/pause": "control",
  "post /runs/{id}/resume": "control",
  "post /runs/{id}/replay": "replay: its answer is read by the command line",
  "post /hooks/{id}/decisions": "hooks",
  "post /sessions/{id}/approvals": "session-approvals",
  "post /recordings": "gateway-events",
  "post /models/test": "models: it asks a host outside",
};

let stack: Stack;
let project: Project;
beforeAll(async () => {
  project = makeProject(BROKEN_CALCULATOR);
  stack = await startStack();
});
afterAll(async () => {
  await stack.stop();
  project.remove();
});

test("every route answers JSON as the OpenAPI document says, with no field left over", async () => {
  const { document: run } = await stack.json<{ runId: string; intentId: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--", "sh", "-c", FIX],
  ]);
  const asked = new Set<string>();
  const call = async (method: "get" | "post", path: string, values: string[] = [], body?: unknown) => {
    asked.add(`${method} ${path}`);
    const left = [...values];
    const url = path.replaceAll(/\{\w+\}/g, () => left.shift() ?? "") + left.join("");
    return stack.http(method.toUpperCase(), url, body, { accept: "application/json" });
  };
  const { runId } = run;
  const { body: list } = await call("get", "/runs");
  const [{ intentId = "" } = {}] = list["runs"] as { intentId?: string }[];
  const { body: stored } = await call("get", "/intents/{id}", [intentId]);
  await call("get", "/runs/{id}", [runId]);
  await call("get", "/runs/{id}/events", [runId]);
  await call("get", "/runs/{id}/journal", [runId]);
  const { body: evidence } = await call("get", "/runs/{id}/evidence", [runId]);
  for (const { taskId, epoch, kind } of evidence["bundles"] as {
    taskId: string;
    epoch: number;
    kind: string;
  }[])
    await call("get", "/runs/{id}/evidence/{task}/{epoch}", [runId, taskId, String(epoch), `?kind=${kind}`]);
  for (const path of ["/journal", "/dead-letters", "/keys", "/models", "/images", "/queues", "/agents"])
    await call("get", path);
  for (const path of ["/healthz", "/readyz"]) await call("get", path);
  await call("get", "/agents/{name}", ["claude"]);
  await call("get", "/openapi.json");
  await call("get", "/services", ["?expect=6"]);
  await call("get", "/policy", [`?repo=${project.path}`]);
  await call("post", "/policy/check", [], stored["intent"]);
  await call("post", "/policy/simulate", [], { runs: [runId] });
  await call("post", "/images", [], { op: "list" });
  await call("post", "/runs/{id}/rebuild", [runId]);
  await call("post", "/intents", [], { ...(stored["intent"] as object), goal: "Do it again" });
  const failing = { ...(stored["intent"] as { inputs: object }), goal: "Fail" };
  const inputs = { ...failing.inputs, agent: { kind: "scripted", commands: ["false"] } };
  const { body: second } = await call("post", "/intents", [], { ...failing, inputs });
  const { body: begun } = await call("post", "/intents/{id}/run", [String(second["intentId"])]);
  await stack.antiphon(["wait", String(begun["runId"])]);
  await call("post", "/runs/{id}/retry", [String(begun["runId"])]);
  const checks = { repo: project.path, checks: [CHECK] };
  expect((await call("post", "/checks", [], checks)).body).toHaveProperty("checkId");
  const repo = { name: "app", path: project.path };
  const { body: session } = await call("post", "/sessions", [], { repo });
  const sessionId = String(session["sessionId"]);
  const command = { command: "GetDiff", commandId: "C-1", correlation: { sessionId }, payload: { repo } };
  expect((await call("get", "/sessions")).body["sessions"]).toMatchObject([{ sessionId }]);
  await call("post", "/sessions/{id}/commands", [sessionId], command);
  for (const path of ["/sessions/{id}", "/sessions/{id}/events", "/sessions/{id}/approvals"])
    await call("get", path, [sessionId]);

  const answering = ROUTES.filter(({ answer }) => answer !== "text/plain" && answer !== "text/event-stream");
  const untried = answering
    .map(({ method, path }) => `${method} ${path}`)
    .filter((name) => !asked.has(name) && !(name in ELSEWHERE));
  expect(untried).toEqual([]);
});
