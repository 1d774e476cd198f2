/**
 * The agents that people use, as their registries deliver them, against a model server on loopback: one that ended with its question
 * goes on in its container with its conversation, and in a fresh one without. agent-binaries.test.ts has this for claude and pi for each push.
 */
import { afterAll, beforeAll, test } from "vitest";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import { INSTALL_MS } from "./support/agents-with-models.ts";
import { goesOn, startsAfresh, wantsAnswer } from "./support/asking-agents.ts";

let agents: AgentStack;

beforeAll(async () => {
  agents = await startAgentStack({ wants: wantsAnswer });
});
afterAll(() => agents.stop());

/** One after the other: an Associate keeps two containers at a time. */
test.each(["claude", "pi", "codex", "gemini", "mini-swe-agent", "model", "opencode", "opencode-server"])(
  "%s ends with its question, and goes on with its conversation in the same container",
  (agent) => goesOn({ agents, stub: agents.stub }, agent),
  INSTALL_MS,
);

test(
  "an agent whose container is gone when the answer comes starts in a fresh one, and is told question and answer",
  () => startsAfresh({ agents, stub: agents.stub }, "claude"),
  INSTALL_MS,
);
