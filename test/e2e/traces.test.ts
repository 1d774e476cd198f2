/** Traces in a real OTLP/HTTP receiver: one run, whose Director is killed on the way, is one connected trace. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { eventually, ROOT, run } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Received {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

interface Document {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue: string } }[] };
    scopeSpans: { spans: Omit<Received, "service">[] }[];
  }[];
}

const received: Received[] = [];
let receiver: Server;
let stack: Stack;
let project: Project;
let runId: string;
let traceId: string;

const CALLER = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString()) as Document;
      for (const { resource, scopeSpans } of resourceSpans) {
        const name = resource.attributes.find(({ key }) => key === "service.name");
        const service = name?.value.stringValue ?? "";
        for (const { spans } of scopeSpans) received.push(...spans.map((span) => ({ service, ...span })));
      }
      response.writeHead(request.url === "/v1/traces" ? 200 : 404).end("{}");
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  stack = await startQuickStack({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } });
  project = makeProject(BROKEN_CALCULATOR);
  const { document } = await stack.json<{ runId: string }>([
    ...["run", "Fix add", "--repo", project.path, "--detach", "--check", CHECK],
    ...["--command", `sleep 3; ${FIX}`],
  ]);
  runId = document.runId;
  await eventually("the attempt is running", async () => {
    const { document: view } = await stack.json<{ tasks: { phase: string }[] }>(["get", runId]);
    return view.tasks[0]?.phase === "claimed" ? true : null;
  });
  // Spans leave each second, and a process that is killed takes those of its last one with it.
  await eventually("the Director tells its first span", () =>
    received.some(({ name }) => name === "inspect") ? true : null,
  );
  process.kill(stack.pid("director"), "SIGKILL");
  expect((await stack.antiphon(["wait", runId])).code).toBe(0);
  const view = await stack.http("GET", `/runs/${runId}`);
  traceId = String((view.body["view"] as { traceId?: string } | undefined)?.traceId ?? view.body["traceId"]);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
  receiver.close();
});

const ofRun = (): Received[] => received.filter((span) => span.traceId === traceId);

describe("traces", () => {
  test("a run whose Director was killed is one tree, from the intent to the landing, across all services", async () => {
    await eventually("the run is told", () => (ofRun().some(({ name }) => name === "run") ? true : null));
    const named = (name: string) => ofRun().find((span) => span.name === name);
    await eventually("the Associate tells its attempt", () => named("associate dispatch") ?? null);
    await eventually("the clean room is told", () => named("director verify") ?? null);
    const spans = ofRun();
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const roots = new Set(
      spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name),
    );
    expect([...roots]).toEqual(["run"]);
    for (const { name, parentSpanId } of spans) if (name !== "run") expect(ids, name).toContain(parentSpanId);
    expect([...new Set(spans.map(({ service }) => service))].sort()).toEqual(
      ["associate", "director", "gateway", "router", "sandbox-runner"].map((name) => `antiphon-${name}`),
    );
    const names = new Set(spans.map(({ name }) => name));
    for (const name of [
      ...["gateway start run", "inspect", "router intent", "routing", "T-001 attempt 1", "queue", "work"],
      ...["verification", "landing", "director land", "sandbox-run", "sandbox take", "sandbox fill"],
    ])
      expect([...names]).toContain(name);
  });

  test("the trace id is in the view, in the header of every record and in the logs", async () => {
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    const nats = ["--server", stack.ready.nats];
    for (const place of [`intent.${runId}.-.0`, `claim.${runId}.t-001.1`, `closed.${runId}.-.0`]) {
      const args = [...nats, "stream", "get", "ANT_JOURNAL_0", "--last-for", `antiphon.v1.run.0.${place}`];
      const { stdout } = await run(`${ROOT}.antiphon/tools/nats`, args);
      expect(stdout, place).toMatch(new RegExp(`traceparent: 00-${traceId}-[0-9a-f]{16}-01`));
    }
    for (const service of ["gateway", "router", "director", "associate-1", "sandbox-runner"]) {
      const log = readFileSync(join(stack.stateDir, "logs", `${service}.log`), "utf8");
      expect(log, service).toContain(`"trace":"${traceId}"`);
    }
  });

  test("a caller's trace goes on: the run belongs to the span in its traceparent", async () => {
    const inputs = { repo: project.path, agent: { kind: "scripted", commands: [FIX] }, checks: [CHECK] };
    const constraints = {};
    const made = await stack.http("POST", "/intents", { goal: "Fix add again", inputs, constraints });
    expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
    const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
    const path = `/intents/${String(made.body["intentId"])}/run`;
    const started = await stack.http("POST", path, undefined, { traceparent });
    expect(started.status).toBe(202);
    const own = await eventually(
      "the run is told",
      () => received.find(({ traceId: of, name }) => of === CALLER.traceId && name === "run") ?? null,
    );
    expect(own.parentSpanId).toBe(CALLER.spanId);
  });
});
