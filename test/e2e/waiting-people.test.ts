/**
 * Processes are killed while people are asked, and while they answer. What waits goes on waiting, each word of a person is
 * recorded once however often it is sent, and a change lands once or not at all.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { StoredRecord } from "@antiphon/contracts";
import { isAlive, knownProcess } from "../support/known-process.ts";
import { eventually } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const [SHARED, ANN, BEN, CLEO] = [
  "deployment-s3cret",
  "ann-s-own-s3cret",
  "ben-s-own-s3cret",
  "cleo-s-own-s3cret",
] as const;
const ENV = { ANTIPHON_TOKEN: SHARED, ANTIPHON_TOKENS: `ann:${ANN},ben:${BEN},cleo:${CLEO}` };
const PATIENCE_MS = 60_000;

const stateDir = mkdtempSync(join(tmpdir(), "antiphon-waiting-"));
let stack: Stack;
const projects: Project[] = [];

beforeAll(async () => {
  stack = await startQuickStack({ env: ENV, stateDir });
});
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});
afterAll(async () => {
  await stack.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** People speak with the token of a session of theirs. Null: the gateway was down, or the connection broke. */
async function once(person: string, method: string, path: string, body?: object): Promise<Answer | null> {
  if (method === "GET") return sent(person, method, path);
  const opened = await sent(person, "POST", "/sessions");
  if (path === "/sessions" || opened?.status !== 201) return opened;
  return sent(String(opened.body["token"]), method, path, body);
}

async function sent(token: string, method: string, path: string, body?: object): Promise<Answer | null> {
  try {
    const answer = await fetch(`${stack.ready.gateway}${path}`, {
      method,
      headers: {
        ...{ authorization: `Bearer ${token}`, accept: "application/json" },
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  } catch {
    return null;
  }
}

/** Sends it again until it is answered, as a person or a program does. */
const asked = (token: string, method: string, path: string, body?: object): Promise<Answer> =>
  eventually(
    `${method} ${path} answered`,
    async () => {
      const answer = await once(token, method, path, body);
      return answer === null || answer.status >= 500 ? null : answer;
    },
    PATIENCE_MS,
  );

const say = (token: string, runId: string, body: object): Promise<Answer> =>
  asked(token, "POST", `/runs/${runId}/events`, body);

async function statusOf(runId: string): Promise<string> {
  return String((await asked(SHARED, "GET", `/runs/${runId}`)).body["status"]);
}

const untilStatus = (runId: string, wanted: string): Promise<string> =>
  eventually(
    `${runId} is ${wanted}`,
    async () => ((await statusOf(runId)) === wanted ? wanted : null),
    PATIENCE_MS,
  );

async function recordsOf(runId: string): Promise<StoredRecord[]> {
  return (await asked(SHARED, "GET", `/runs/${runId}/events`)).body["records"] as StoredRecord[];
}

const typed = (records: readonly StoredRecord[], type: string): StoredRecord[] =>
  records.filter((record) => record.type === type);

interface Begun {
  readonly runId: string;
  readonly project: Project;
}

async function begin(agent: object, constraints: object = {}): Promise<Begun> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  const inputs = { repo: project.path, agent, checks: [CHECK] };
  const { body } = await asked(ANN, "POST", "/intents", { goal: "Fix the broken add", inputs, constraints });
  const started = await asked(ANN, "POST", `/intents/${String(body["intentId"])}/run`);
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  return { runId: String(started.body["runId"]), project };
}

/** A run whose change waits for another person. */
async function untilApproval(): Promise<Begun> {
  const begun = await begin({ kind: "scripted", commands: [FIX] }, { approvals: { needed: 1 } });
  await untilStatus(begun.runId, "waiting_input");
  return begun;
}

/** A run whose agent waits for an answer. */
async function untilQuestion(): Promise<Begun> {
  const begun = await begin({ kind: "scripted", ask: "May I?", commands: [FIX] });
  await untilStatus(begun.runId, "waiting_input");
  return begun;
}

const SERVICES = ["nats-server", "gateway", "router", "director", "associate-1", "sandbox-runner"] as const;

/** Kills it at once; the promise is kept when the process is gone. */
function kill(name: string): Promise<void> {
  const victim = knownProcess(stack.pid(name));
  expect(isAlive(victim), `${name} runs, so the kill meets a process`).toBe(true);
  process.kill(victim.pid, "SIGKILL");
  return eventually(`${name} (${victim.pid}) died`, () => (isAlive(victim) ? null : true), PATIENCE_MS).then(
    () => undefined,
  );
}

/** The session is open before, so that the kill meets the word itself. */
async function tokenOf(person: string): Promise<string> {
  return String((await asked(person, "POST", "/sessions")).body["token"]);
}

const APPROVE = { event: "approval", choice: "approve" };
const REJECT = { event: "approval", choice: "reject", reason: "not this one" };

async function landsOnce({ runId, project }: Begun): Promise<StoredRecord[]> {
  await untilStatus(runId, "succeeded");
  expect(project.landed(runId)).toHaveLength(1);
  const records = await recordsOf(runId);
  expect(typed(records, "landing")).toHaveLength(1);
  return records;
}

describe("what waits for a person goes on waiting", () => {
  test("when every process is killed at once, and when the whole deployment is stopped and started", async () => {
    const [approval, question] = [await untilApproval(), await untilQuestion()];
    const before = [await recordsOf(approval.runId), await recordsOf(question.runId)];
    await Promise.all(SERVICES.map(kill));
    expect([await statusOf(approval.runId), await statusOf(question.runId)]).toEqual([
      "waiting_input",
      "waiting_input",
    ]);
    await stack.stop();
    stack = await startQuickStack({ env: ENV, stateDir });
    for (const { runId, project } of [approval, question]) {
      expect(await statusOf(runId)).toBe("waiting_input");
      expect(project.landed(runId)).toEqual([]);
    }
    expect([await recordsOf(approval.runId), await recordsOf(question.runId)]).toEqual(before);
    expect((await say(BEN, approval.runId, APPROVE)).status).toBe(202);
    expect((await say(BEN, question.runId, { event: "answer", answers: ["yes"] })).status).toBe(202);
    expect(typed(await landsOnce(approval), "approval")).toHaveLength(1);
    expect(typed(await landsOnce(question), "input")).toHaveLength(1);
  });
});

describe.each(["nats-server", "gateway", "director"] as const)("while %s is killed", (victim) => {
  test("an approval that is sent until it is answered counts once, and its change lands once", async () => {
    const begun = await untilApproval();
    const first = sent(await tokenOf(BEN), "POST", `/runs/${begun.runId}/events`, APPROVE);
    await Promise.all([kill(victim), first]);
    const { status, body } = await say(BEN, begun.runId, APPROVE);
    // The run may be over by then: the first one arrived, and only its answer was lost.
    expect([202, 409], JSON.stringify(body)).toContain(status);
    expect(typed(await landsOnce(begun), "approval")).toHaveLength(1);
  });

  test("a rejection lands nothing, whatever arrives after it", async () => {
    const begun = await untilApproval();
    const first = sent(await tokenOf(CLEO), "POST", `/runs/${begun.runId}/events`, REJECT);
    await Promise.all([kill(victim), first]);
    await say(CLEO, begun.runId, REJECT);
    await say(BEN, begun.runId, APPROVE);
    await untilStatus(begun.runId, "failed");
    expect(begun.project.landed(begun.runId)).toEqual([]);
    expect(typed(await recordsOf(begun.runId), "landing")).toEqual([]);
  });

  test("two people answer one question: one answer counts, and the run goes on with it", async () => {
    const begun = await untilQuestion();
    const answer = (text: string) => ({ event: "answer", answers: [text] });
    const path = `/runs/${begun.runId}/events`;
    const [ben, cleo] = [await tokenOf(BEN), await tokenOf(CLEO)];
    const both = [sent(ben, "POST", path, answer("yes")), sent(cleo, "POST", path, answer("no"))];
    await Promise.all([kill(victim), ...both]);
    await Promise.all([say(BEN, begun.runId, answer("yes")), say(CLEO, begun.runId, answer("no"))]);
    expect(typed(await landsOnce(begun), "input")).toHaveLength(1);
  });
});
