/**
 * The agents that people use, as their registries deliver them, against a model server on loopback: one that ended with its question
 * goes on in its container with its conversation, and in a fresh one without.
 */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { atNight } from "../support/night.ts";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import { INSTALL_MS, type Ended } from "./support/agents-with-models.ts";
import { attemptContainers } from "./support/containers.ts";
import { CHECK, FIX, type Project } from "./support/project.ts";

const QUESTION = "Fix the sum";
const ANSWERED = "The answer: yes";
/** What the model wants first: it leaves a mark outside the work tree, a file that git ignores, and the question. */
const ASK = `echo first-container > /tmp/mark; echo ${QUESTION} > "$ANTIPHON_QUESTION_FILE"`;
/** The model asks for this after the answer. The file that it writes tells whether the mark is there. */
const GO_ON = `cat /tmp/mark > where.txt; ${FIX}`;

/** Of one run: a command and its end, before the answer and after it. */
const CALLS = 4;

let agents: AgentStack;

beforeAll(async () => {
  agents = await startAgentStack({
    wants: (sent) => {
      if (sent.includes(ANSWERED)) return sent.includes("where.txt") ? null : GO_ON;
      return sent.includes("first-container") ? null : ASK;
    },
  });
});
afterAll(() => agents.stop());

/** A run of an agent that has asked. */
async function asked(agent: string, word: string): Promise<{ runId: string; repo: Project }> {
  const repo = agents.project();
  const document = await agents.ran(`Fix the broken add (${word})`, repo, agent, "--check", CHECK);
  expect(document).toMatchObject({ status: "waiting_input" });
  return { runId: document.runId, repo };
}

/** The requests about a run after its answer. */
const sentAfter = (word: string): string[] =>
  agents.stub.heard.map(({ body }) => body).filter((body) => body.includes(word) && body.includes(ANSWERED));

async function answered({ runId, repo }: { runId: string; repo: Project }): Promise<string> {
  expect((await agents.stack.antiphon(["answer", runId, "yes"])).code).toBe(0);
  const { document } = await agents.stack.json<Ended>(["wait", runId], { timeoutMs: INSTALL_MS });
  expect(document).toMatchObject({ status: "succeeded", code: null });
  expect(repo.landed(runId)).toHaveLength(1);
  return repo.git("show", `antiphon/${runId}:where.txt`).trim();
}

/** One after the other: an Associate keeps two containers at a time. */
test.each([
  "claude",
  "pi",
  ...atNight("codex", "gemini", "mini-swe-agent", "model", "opencode", "opencode-server"),
])(
  "%s ends with its question, and goes on with its conversation in the same container",
  async (agent) => {
    const word = `kept-${agent}`;
    const run = await asked(agent, word);
    expect(await attemptContainers(run.runId)).toHaveLength(1);
    expect(await answered(run)).toBe("first-container");
    const [first = ""] = sentAfter(word);
    expect(first).toContain("first-container");
    expect(first.indexOf("first-container"), "the conversation comes before the answer").toBeLessThan(
      first.indexOf(ANSWERED),
    );
    // What it says that it has used, over both starts, beside what was metered.
    const shown = await agents.stack.json<{ model: { tokens: number; said: { tokens: number } } }>([
      "get",
      run.runId,
    ]);
    const { tokens, said } = shown.document.model;
    expect(said.tokens).toBeGreaterThanOrEqual(CALLS * 1020);
    expect(said.tokens).toBeLessThanOrEqual(tokens); // Some do not count their side jobs, such as a title.
    expect((await agents.stack.antiphon(["get", run.runId])).stdout).toContain("metered; the agent says");
    expect(first.split("It is done when").length, "the task is told once").toBeLessThanOrEqual(2);
  },
  INSTALL_MS,
);

test(
  "an agent whose container is gone when the answer comes starts in a fresh one, and is told question and answer",
  async () => {
    const word = "lost-claude";
    const run = await asked("claude", word);
    execFileSync("docker", ["rm", "--force", ...(await attemptContainers(run.runId))]);
    expect(await answered(run)).toBe("");
    const [first = ""] = sentAfter(word);
    expect(first).toContain(`You asked: ${QUESTION}`);
    expect(first).not.toContain("first-container");
  },
  INSTALL_MS,
);
