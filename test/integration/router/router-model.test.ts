import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { IntentBody, RoutedBody } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import { createLogger, openJournal, readRuntimeConfig, startService } from "@antiphon/runtime";
import type { Journal, RunningService } from "@antiphon/runtime";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { eventually, startNats } from "../../support/nats.ts";
import type { NatsServer } from "../../support/nats.ts";

interface Asked {
  readonly path: string;
  readonly key: string | undefined;
  readonly body: { model: string; messages: { role: string; content: string }[] };
}

const UNSURE = "x y";
const KEY = "sk-of-the-deployment";

let nats: NatsServer;
let router: RunningService;
let journal: Journal;
let model: Server;
let asked: Asked[];
/** The status and text of the next answers; null: none at all. */
let answer: { status: number; text: string } | null;

const says = (content: string) => ({
  status: 200,
  text: JSON.stringify({ choices: [{ message: { content } }] }),
});

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

beforeAll(async () => {
  nats = await startNats();
  model = createServer((request, response) => {
    void textOf(request).then((text) => {
      const body = JSON.parse(text) as Asked["body"];
      asked.push({ path: request.url ?? "", key: request.headers.authorization, body });
      if (answer === null) return response.destroy();
      return response.writeHead(answer.status, { location: "/elsewhere" }).end(answer.text);
    });
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1/`;
  router = await startService(
    {
      name: "router",
      start: (context) => {
        const consumption = startRouter({ ...context, model: { url, name: "small", key: KEY } }, 8);
        return Promise.resolve({ drain: () => consumption.drain() });
      },
    },
    readRuntimeConfig({ ANTIPHON_NATS_URL: nats.url, ANTIPHON_UNSAFE_TRUST: "1" }),
    createLogger("router", { level: "silent" }),
  );
  journal = openJournal(await nats.connect());
});
afterAll(async () => {
  await router.stop();
  model.closeAllConnections();
  model.close();
  await nats.close();
});
beforeEach(() => {
  asked = [];
  answer = says("PLAN");
});

let runs = 0;

const find = (runId: string) => journal.find("routed", runId, null, 0);

async function routed(goal: string, workflow?: "REVIEW"): Promise<RoutedBody> {
  const runId = `run_m${(runs += 1)}`;
  const repo = { name: "app", path: "/srv/app" };
  const agent = { kind: "scripted" as const, commands: ["true"] };
  const body: IntentBody = {
    intentId: "it_1",
    intent: { goal, inputs: {}, constraints: {} },
    options: runOptions({ repo, agent, ...(workflow && { workflow }) }),
    base: { repo, ref: "refs/heads/main", commit: "a".repeat(40) },
    principal: "test",
  };
  await journal.append({ type: "intent", runId, taskId: null, epoch: 0, cause: null, body });
  await eventually(`${runId} is routed`, async () => (await find(runId)) !== null);
  const record = await find(runId);
  if (record?.type !== "routed") throw new Error("unreachable");
  return record.body;
}

describe("a Router that has a model", () => {
  test("asks it about a goal that it is unsure of, and follows it", async () => {
    const body = await routed(UNSURE);
    expect(body).toMatchObject({ workflow: "PLAN", tier: "model", unsure: true, confidence: 0.5 });
    expect(body.reason).toMatch(/^small reads it so; the classifier: BUILD/);
    expect(body.contract.memory_notes).toContain("by the model tier");
    expect(asked).toMatchObject([
      { path: "/v1/chat/completions", key: `Bearer ${KEY}`, body: { model: "small" } },
    ]);
    expect(asked[0]?.body.messages.at(-1)).toEqual({ role: "user", content: UNSURE });
  });

  test("is sure of what the model reads in the same way", async () => {
    answer = says("build");
    expect(await routed(UNSURE)).toMatchObject({ workflow: "BUILD", tier: "model", unsure: false });
  });

  test("asks nothing if it is sure, or if the caller or the goal has named the workflow", async () => {
    expect(await routed("Fix the crash: TypeError in the parser since yesterday")).toMatchObject({
      workflow: "DEBUG",
    });
    expect(await routed("/review x y")).toMatchObject({ tier: "explicit" });
    expect(await routed(UNSURE, "REVIEW")).toMatchObject({ tier: "caller" });
    expect(asked).toEqual([]);
  });

  test.each<[string, typeof answer]>([
    ["an error", { status: 500, text: "" }],
    ["a word that is none of the four", says("MERGE")],
    ["a page in place of an answer", { status: 200, text: "<html>" }],
    ["an answer without end", { status: 200, text: "x".repeat(100_000) }],
    ["a redirection, which would take the key elsewhere", { status: 307, text: "" }],
    ["nothing", null],
  ])("decides by itself if the model gives %s", async (_, given) => {
    answer = given;
    expect(await routed(UNSURE)).toMatchObject({ workflow: "BUILD", tier: "classifier", unsure: true });
    expect(asked).toHaveLength(1);
    answer = says("PLAN"); // A model that fails again and again is not asked for a while.
    expect(await routed(UNSURE)).toMatchObject({ tier: "model" });
  });
});
