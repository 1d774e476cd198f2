/**
 * Real agents meet a model server that fails: what passes is tried again by the agent, and the work lands; what stays ends the
 * run with a code, a remedy and the reason of the failed call. What was paid for is kept either way.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ERRORS, type ErrorCode } from "@antiphon/contracts";
import type { Trouble } from "../support/model-trouble.ts";
import { atNight } from "../support/night.ts";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import { INSTALL_MS, type Ended } from "./support/agents-with-models.ts";
import { CHECK, type Project } from "./support/project.ts";

interface Summary extends Ended<ErrorCode> {
  readonly model: { calls: number; tokens: number };
}
interface Call {
  rule: string;
  decision: string;
  model?: { charged_tokens: number; failed?: string; recording: string | null };
}

let agents: AgentStack;

beforeAll(async () => {
  agents = await startAgentStack({ mostOutput: 4_000 });
}, INSTALL_MS);
afterAll(() => agents.stop());
beforeEach(() => agents.stub.fail([]));

async function ran(agent: string, usd = "2"): Promise<{ document: Summary; project: Project }> {
  const project = agents.project();
  const words = ["--check", CHECK, "--attempts", "1", "--model-usd", usd, "--time-budget", "200"];
  return { document: await agents.fixed<Summary>(project, agent, ...words), project };
}

const kept = async (runId: string, path: string): Promise<string> =>
  (await agents.stack.antiphon(["evidence", "get", runId, "T-001", "1", path])).stdout;

/** The calls of the log; the run's own sum and the recordings say the same. */
async function callsOf({ runId }: Summary): Promise<readonly NonNullable<Call["model"]>[]> {
  const lines = (await kept(runId, "egress/requests.jsonl")).trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as Call);
  const calls = all.flatMap(({ model }) => (model === undefined ? [] : [model]));
  const tokens = calls.reduce((sum, call) => sum + call.charged_tokens, 0);
  const shown = await agents.stack.json<Summary>(["get", runId]);
  expect(shown.document.model).toMatchObject({ calls: calls.length, tokens });
  for (const n of new Set([1, calls.length])) {
    const { charged } = JSON.parse(await kept(runId, `egress/model-${String(n).padStart(4, "0")}.json`)) as {
      charged: object;
    };
    expect(charged).toMatchObject({ tokens: calls[n - 1]?.charged_tokens });
  }
  return calls;
}

const AGENTS = [
  "model",
  ...atNight("pi", "claude", "codex", "opencode", "gemini", "aider", "mini-swe-agent", "opencode-server"),
];

/** What passes, and the text by which the log names it. */
const PASSING: readonly (readonly [string, Trouble, RegExp])[] = [
  ["429", 429, /answered 429/],
  ["500", 500, /answered 500/],
  ["a stream that is cut", "reset", /ECONNRESET|aborted|closed|terminated/i],
];

/** They end with a stream that is cut. */
const GIVES_UP: readonly string[] = ["gemini"];

describe.each(AGENTS)("%s", (agent) => {
  test.each(PASSING.filter(([, trouble]) => trouble !== "reset" || !GIVES_UP.includes(agent)))(
    "tries again after %s, and the work lands",
    async (_what, trouble, told) => {
      agents.stub.fail([trouble]);
      const { document, project } = await ran(agent);
      expect(document).toMatchObject({ status: "succeeded", code: null });
      expect(project.landed(document.runId)).toHaveLength(1);
      const [first, ...others] = await callsOf(document);
      expect(first?.failed).toMatch(told);
      expect(first?.charged_tokens === 0).toBe(typeof trouble === "number");
      expect(others.some(({ failed }) => failed === undefined)).toBe(true);
    },
    INSTALL_MS,
  );

  test.each<readonly [string, Trouble, string, RegExp]>([
    ["an answer that is none", "garbage", "2", /not one of its API|no answer/],
    ["a model that refuses", "refusal", "2", /refus/],
    [
      "an answer that never ends",
      "endless",
      "0.2",
      // aider works so long over each piece that the gateway gives its answer up first.
      /budget was used up|ANT_EGRESS_BUDGET|is longer than|answer of more than|does not take its answer/,
    ],
    ["a model that fails after its head", "failing", "2", /overloaded/],
    ...(GIVES_UP.includes(agent) ? [["a cut stream", "reset", "2", /aborted/] as const] : []),
  ])(
    "ends honestly with %s",
    async (_what, trouble, usd, told) => {
      agents.stub.fail([trouble], true);
      const { document } = await ran(agent, usd);
      expect(document.status).toBe("failed");
      const { code } = document;
      expect(Object.keys(ERRORS)).toContain(code);
      const shown = (await agents.stack.antiphon(["get", document.runId])).stdout;
      expect(shown).toContain(ERRORS[code!].remedy);
      expect(document.message).toMatch(told);
      const calls = await callsOf(document);
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.every(({ recording }) => recording !== null)).toBe(true);
      expect((await agents.stack.antiphon(["logs", "--transcript", document.runId])).stdout).not.toBe("");
    },
    INSTALL_MS,
  );
});
