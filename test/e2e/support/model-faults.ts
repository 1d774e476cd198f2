/** The ends that a run of a real agent may have when its model server fails. Each keeps the work that was paid for. */
import { expect } from "vitest";
import { ERRORS, type ErrorCode } from "@antiphon/contracts";
import type { Trouble } from "../../support/model-trouble.ts";
import type { AgentStack } from "./agent-stack.ts";
import type { Ended } from "./agents-with-models.ts";
import { CHECK, type Project } from "./project.ts";

interface Summary extends Ended<ErrorCode> {
  readonly model: { calls: number; tokens: number };
}
interface Call {
  rule: string;
  decision: string;
  model?: { charged_tokens: number; failed?: string; recording: string | null };
}

/** What goes wrong, what of it the log or the message names, and the budget of the run. */
export interface Fault {
  readonly trouble: Trouble;
  readonly told: RegExp;
  readonly usd?: string;
}

/** What passes. */
export const PASSES: Readonly<Record<string, Fault>> = {
  "429": { trouble: 429, told: /answered 429/ },
  "500": { trouble: 500, told: /answered 500/ },
  "a stream that is cut": { trouble: "reset", told: /ECONNRESET|aborted|closed|terminated/i },
};

/** What stays. */
export const STAYS: Readonly<Record<string, Fault>> = {
  "an answer that is none": { trouble: "garbage", told: /not one of its API|no answer/ },
  "a model that refuses": { trouble: "refusal", told: /refus/ },
  "an answer that never ends": {
    trouble: "endless",
    usd: "0.2",
    // aider works so long over each piece that the gateway gives its answer up first, and the memory of pi is used up on a slow machine.
    told: /budget was used up|ANT_EGRESS_BUDGET|is longer than|answer of more than|does not take its answer|heap out of memory/,
  },
  "a model that fails after its head": { trouble: "failing", told: /overloaded/ },
};

/** The agent tries the call again, and its work lands. */
export async function recovers(agents: AgentStack, agent: string, { trouble, told }: Fault): Promise<void> {
  agents.stub.fail([trouble]);
  const { document, project } = await ran(agents, agent);
  expect(document).toMatchObject({ status: "succeeded", code: null });
  expect(project.landed(document.runId)).toHaveLength(1);
  const [first, ...others] = await callsOf(agents, document);
  expect(first?.failed).toMatch(told);
  expect(first?.charged_tokens === 0).toBe(typeof trouble === "number");
  expect(others.some(({ failed }) => failed === undefined)).toBe(true);
}

/** The run ends with a code, a remedy and the reason of the failed call. */
export async function endsHonestly(agents: AgentStack, agent: string, fault: Fault): Promise<void> {
  agents.stub.fail([fault.trouble], true);
  const { document } = await ran(agents, agent, fault.usd);
  expect(document.status).toBe("failed");
  const { code } = document;
  expect(Object.keys(ERRORS)).toContain(code);
  const shown = (await agents.stack.antiphon(["get", document.runId])).stdout;
  expect(shown).toContain(ERRORS[code!].remedy);
  expect(document.message).toMatch(fault.told);
  const calls = await callsOf(agents, document);
  expect(calls.length).toBeGreaterThan(0);
  expect(calls.every(({ recording }) => recording !== null)).toBe(true);
  expect((await agents.stack.antiphon(["logs", "--transcript", document.runId])).stdout).not.toBe("");
}

async function ran(
  agents: AgentStack,
  agent: string,
  usd = "2",
): Promise<{ document: Summary; project: Project }> {
  const project = agents.project();
  const words = ["--check", CHECK, "--attempts", "1", "--model-usd", usd, "--time-budget", "200"];
  return { document: await agents.fixed<Summary>(project, agent, ...words), project };
}

/** The calls of the log; the run's own sum and the recordings say the same. */
async function callsOf(
  { stack }: AgentStack,
  { runId }: Summary,
): Promise<readonly NonNullable<Call["model"]>[]> {
  const kept = async (path: string): Promise<string> =>
    (await stack.antiphon(["evidence", "get", runId, "T-001", "1", path])).stdout;
  const lines = (await kept("egress/requests.jsonl")).trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as Call);
  const calls = all.flatMap(({ model }) => (model === undefined ? [] : [model]));
  const tokens = calls.reduce((sum, call) => sum + call.charged_tokens, 0);
  const shown = await stack.json<Summary>(["get", runId]);
  expect(shown.document.model).toMatchObject({ calls: calls.length, tokens });
  for (const n of new Set([1, calls.length])) {
    const recording = await kept(`egress/model-${String(n).padStart(4, "0")}.json`);
    const { charged } = JSON.parse(recording) as { charged: object };
    expect(charged).toMatchObject({ tokens: calls[n - 1]?.charged_tokens });
  }
  return calls;
}
