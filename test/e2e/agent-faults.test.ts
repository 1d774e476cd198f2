/**
 * Real agents meet a model server that fails: what passes is tried again by the agent, and the work lands; what stays ends the
 * run with a code, a remedy and the reason of the failed call. agent-binaries.test.ts has all of it for `model` for each push, and some of it
 * for other agents.
 */
import { afterAll, beforeAll, beforeEach, describe, test } from "vitest";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import { INSTALL_MS } from "./support/agents-with-models.ts";
import { endsHonestly, PASSES, recovers, STAYS, type Fault } from "./support/model-faults.ts";

let agents: AgentStack;

beforeAll(async () => {
  agents = await startAgentStack({ mostOutput: 4_000 });
}, INSTALL_MS);
afterAll(() => agents.stop());
beforeEach(() => agents.stub.fail([]));

const AGENTS = [
  ...["model", "pi", "claude", "codex", "opencode", "gemini", "aider", "mini-swe-agent", "opencode-server"],
];

/** They end with a stream that is cut. */
const GIVES_UP: readonly string[] = ["gemini"];
const CUT: Fault = { trouble: "reset", told: /aborted/ };

describe.each(AGENTS)("%s", (agent) => {
  const gives = GIVES_UP.includes(agent);
  const passes = Object.entries(PASSES).filter(([, { trouble }]) => trouble !== "reset" || !gives);
  const stays = Object.entries({ ...STAYS, ...(gives ? { "a cut stream": CUT } : {}) });

  test.each(passes)(
    "tries again after %s, and the work lands",
    (_what, fault) => recovers(agents, agent, fault),
    INSTALL_MS,
  );

  test.each(stays)("ends honestly with %s", (_what, fault) => endsHonestly(agents, agent, fault), INSTALL_MS);
});
