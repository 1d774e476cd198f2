/** An agent that ends with its question, and is answered: on a stack of the test, with a model server that asks. */
import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import { startModelStub, type ModelStub } from "../../support/model-stub.ts";
import type { AgentStack } from "./agent-stack.ts";
import { INSTALL_MS, type Ended } from "./agents-with-models.ts";
import { attemptContainers } from "./containers.ts";
import { CHECK, FIX, type Project } from "./project.ts";

const QUESTION = "Fix the sum";
const ANSWERED = "The answer: yes";
/** What the model wants first: it leaves a mark outside the work tree, a file that git ignores, and the question. */
const ASK = `echo first-container > /tmp/mark; echo ${QUESTION} > "$ANTIPHON_QUESTION_FILE"`;
/** The model asks for this after the answer. The file that it writes tells whether the mark is there. */
const GO_ON = `cat /tmp/mark > where.txt; ${FIX}`;

/** Of one run: a command and its end, before the answer and after it. */
const CALLS = 4;

/** The command that a model which asks runs next, after the conversation that was sent to it; null: it is done. */
export function wantsAnswer(sent: string): string | null {
  if (sent.includes(ANSWERED)) return sent.includes("where.txt") ? null : GO_ON;
  return sent.includes("first-container") ? null : ASK;
}

export const startAskingModel = (): Promise<ModelStub> => startModelStub(wantsAnswer);

export interface Asking {
  readonly agents: AgentStack;
  /** The model server that asks. */
  readonly stub: ModelStub;
  /** Of `antiphon run`: how the agent reaches it. */
  readonly words?: readonly string[];
}

/** The agent goes on with its conversation in the container that it asked in. */
export async function goesOn(asking: Asking, agent: string): Promise<void> {
  const { stack } = asking.agents;
  const word = `kept-${agent}`;
  const run = await asked(asking, agent, word);
  expect(await attemptContainers(run.runId)).toHaveLength(1);
  expect(await answered(asking, run)).toBe("first-container");
  const [first = ""] = sentAfter(asking, word);
  expect(first).toContain("first-container");
  expect(first.indexOf("first-container"), "the conversation comes before the answer").toBeLessThan(
    first.indexOf(ANSWERED),
  );
  // The agent reports its use over both starts, beside the metered one.
  const shown = await stack.json<{ model: { tokens: number; said: { tokens: number } } }>(["get", run.runId]);
  const { tokens, said } = shown.document.model;
  expect(said.tokens).toBeGreaterThanOrEqual(CALLS * 1020);
  expect(said.tokens).toBeLessThanOrEqual(tokens); // Some do not count their side jobs, such as a title.
  expect((await stack.antiphon(["get", run.runId])).stdout).toContain("metered; the agent says");
  expect(first.split("It is done when").length, "the task is told once").toBeLessThanOrEqual(2);
}

/** The container is gone when the answer comes: the agent starts in a fresh one, and is told question and answer. */
export async function startsAfresh(asking: Asking, agent: string): Promise<void> {
  const word = `lost-${agent}`;
  const run = await asked(asking, agent, word);
  execFileSync("docker", ["rm", "--force", ...(await attemptContainers(run.runId))]);
  expect(await answered(asking, run)).toBe("");
  const [first = ""] = sentAfter(asking, word);
  expect(first).toContain(`You asked: ${QUESTION}`);
  expect(first).not.toContain("first-container");
}

/** A run of an agent that has asked. */
async function asked(
  { agents, words = [] }: Asking,
  agent: string,
  word: string,
): Promise<{ runId: string; repo: Project }> {
  const repo = agents.project();
  const document = await agents.ran(
    `Fix the broken add (${word})`,
    repo,
    agent,
    ...["--check", CHECK, ...words],
  );
  expect(document).toMatchObject({ status: "waiting_input" });
  return { runId: document.runId, repo };
}

/** The requests about a run after its answer. */
const sentAfter = ({ stub }: Asking, word: string): string[] =>
  stub.heard.map(({ body }) => body).filter((body) => body.includes(word) && body.includes(ANSWERED));

async function answered(
  { agents: { stack } }: Asking,
  { runId, repo }: { runId: string; repo: Project },
): Promise<string> {
  expect((await stack.antiphon(["answer", runId, "yes"])).code).toBe(0);
  const { document } = await stack.json<Ended>(["wait", runId], { timeoutMs: INSTALL_MS });
  expect(document).toMatchObject({ status: "succeeded", code: null });
  expect(repo.landed(runId)).toHaveLength(1);
  return repo.git("show", `antiphon/${runId}:where.txt`).trim();
}
