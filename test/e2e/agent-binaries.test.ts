/**
 * The agents that people use, as their registries deliver them: real programs, against a model server on loopback. For each push
 * `claude` and `pi`, besides `model`, which needs no package; at night all of them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startModelScript, type ModelScript } from "../support/model-script.ts";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { atNight } from "../support/night.ts";
import { reservedRatio } from "../support/reserved-input.ts";
import { LEAST_RATIO, MOST_RATIO } from "../../services/egress-gateway/src/models/real-tokens.fixture.ts";
import { startAgentStack, type AgentStack } from "./support/agent-stack.ts";
import {
  EDIT,
  hostAt,
  INSTALL_MS,
  logOf,
  type ModelHost,
  type PackHost,
} from "./support/agents-with-models.ts";
import { goesOn, startAskingModel, startsAfresh, type Asking } from "./support/asking-agents.ts";
import { endsHonestly, PASSES, recovers, STAYS } from "./support/model-faults.ts";
import { BROKEN_CALCULATOR, CHECK, FIX } from "./support/project.ts";
import { SPRUNG, TRAPS } from "./support/repository-traps.ts";

/** What a transcript tells, besides the command that the model wanted. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  aider: ["#### Fix the broken add", "It subtracts.", "Applied edit to add.js"],
  "mini-swe-agent": [FIX, "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"],
};

/** They do not read what the model server has counted. */
const ESTIMATES = ["aider"];

interface Shown {
  readonly model: { calls: number; tokens: number; said: { tokens: number | null } | null };
}

const WRITTEN = "written-without-a-shell;";
/** How each writes a file without a shell, and the host that its pack names. */
const WRITES: Readonly<Record<string, readonly [like: PackHost, tool: string, input: object]>> = {
  gemini: [
    "generativelanguage.googleapis.com",
    "write_file",
    { file_path: "new.js", content: `${WRITTEN}\n` },
  ],
  opencode: ["api.openai.com", "write", { filePath: "new.js", content: `${WRITTEN}\n` }],
  pi: ["api.openai.com", "write", { path: "new.js", content: `${WRITTEN}\n` }],
};
const writerOf = (agent: string): string => `${agent}.writes.example`;

/** Where the model fails, and where it asks. */
const FAULTS = "faults.agents.example";
const ASKING_CHAT = "chat.asks.example";
const ASKING_MESSAGES = "messages.asks.example";
/** Of an answer there; one that never ends is to use up its budget. */
const MOST_OUTPUT = 4_000;

let agents: AgentStack;
let faults: ModelStub;
let asker: ModelStub;
const writers: ModelScript[] = [];

beforeAll(async () => {
  const hosts: ModelHost[] = [];
  for (const [agent, [like, tool, input]] of Object.entries(WRITES)) {
    // A side job, such as a title, is asked for without tools.
    const writer = await startModelScript((body) =>
      toolsIn(JSON.stringify(body)).length > 0 && !JSON.stringify(body).includes(WRITTEN)
        ? { calls: [[tool, input]] }
        : { text: "Done." },
    );
    writers.push(writer);
    hosts.push(hostAt(writer.port, like, writerOf(agent)));
  }
  faults = await startModelStub(FIX, EDIT);
  asker = await startAskingModel();
  hosts.push(
    hostAt(faults.port, "api.openai.com", FAULTS, MOST_OUTPUT),
    hostAt(asker.port, "api.openai.com", ASKING_CHAT),
    hostAt(asker.port, "api.anthropic.com", ASKING_MESSAGES),
  );
  agents = await startAgentStack({ more: hosts });
});
afterAll(async () => {
  await agents.stop();
  for (const stub of [faults, asker]) await stub.close();
  for (const writer of writers) await writer.close();
});

/** Most of the time of each is its installation, so they are installed side by side. */
test.concurrent.each([
  ["model", "model:chat"],
  ["model", "model:messages", "--model", "claude-sonnet-5-5", "--model-host", "api.anthropic.com"],
  ["claude", "model:messages"],
  ["pi", "model:chat"],
  ...atNight(
    ["codex", "model:responses"],
    ["gemini", "model:generate"],
    ["opencode", "model:chat"],
    ["opencode-server", "model:chat"],
    ["aider", "model:chat"],
    ["mini-swe-agent", "model:responses"],
  ),
])(
  "%s is installed from its registry, fixes a repository over the metered gateway, and the fix lands (%s); each call is reserved for at most twice its real tokens, and for no less than they are",
  async (agent, rule, ...more) => {
    const { stack, stub } = agents;
    const before = stub.heard.length;
    const repo = agents.project();
    const document = await agents.fixed(repo, agent, "--check", CHECK, ...more);
    expect(document).toMatchObject({ status: "succeeded", code: null });
    expect(repo.landed(document.runId)).toHaveLength(1);
    const calls = (await logOf(stack, document.runId)).filter((line) => line.rule === rule);
    expect(calls.length).toBeGreaterThanOrEqual(agent === "aider" ? 1 : 2);
    const { stdout: transcript } = await stack.antiphon(["logs", "--transcript", document.runId]);
    expect(transcript).toMatch(/^== T-001 1 attempt transcript\.(jsonl|json|txt)$/m);
    for (const said of SAID[agent] ?? [FIX, "Done."]) expect(transcript).toContain(said);
    // People are shown the sum that the gateway has charged.
    const shown = await stack.json<Shown>(["get", document.runId]);
    const { model: sum } = shown.document;
    expect(sum).toMatchObject({ calls: calls.length, tokens: calls.length * 1020 });
    // Beside it they are shown what the agent says itself.
    expect(sum.said?.tokens).toBeGreaterThan(0);
    if (!ESTIMATES.includes(agent)) expect(sum.said?.tokens).toBeLessThanOrEqual(sum.tokens);
    for (const { decision, model } of calls) {
      expect(decision).toBe("allow");
      expect(model?.charged_tokens).toBe(1020);
    }
    // Those of the agents beside it are among them.
    const ratios = stub.heard.slice(before).flatMap((call) => reservedRatio(call) ?? []);
    expect(ratios.length).toBeGreaterThanOrEqual(calls.length);
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(LEAST_RATIO);
    expect(Math.max(...ratios)).toBeLessThanOrEqual(MOST_RATIO);
  },
  INSTALL_MS,
);

const SHELLS = ["bash", "run_shell_command", "exec_command"];

const HELD = ["claude", "pi", ...atNight("gemini", "opencode", "opencode-server")];
const WITHOUT_SHELL = ["--tools", "read_file,write_file,edit_file"];

test.each(HELD)(
  "%s is offered no shell in a run without one, a call of it changes nothing, and settings of the repository start no program",
  async (agent) => {
    const { stub } = agents;
    const repo = agents.project({ ...BROKEN_CALCULATOR, ...TRAPS });
    const before = stub.heard.length;
    const words = ["--check", SPRUNG, "--attempts", "1", ...WITHOUT_SHELL];
    const document = await agents.fixed(repo, agent, ...words);
    expect(document).toMatchObject({
      status: "failed",
      message: expect.stringContaining(`\`${SPRUNG}\` exited`) as string,
    });
    expect(repo.landed(document.runId)).toEqual([]);
    const offered = stub.heard.slice(before).map(({ body }) => toolsIn(body));
    expect(offered.some((names) => names.length > 0)).toBe(true);
    for (const names of offered) for (const shell of SHELLS) expect(names).not.toContain(shell);
  },
  INSTALL_MS,
);

test.concurrent.each(["claude", ...atNight("gemini", "opencode", "pi")])(
  "%s follows settings of the repository in a run with a shell, whose sandbox holds what they start",
  async (agent) => {
    const repo = agents.project({ ...BROKEN_CALCULATOR, ...TRAPS });
    const document = await agents.fixed(repo, agent, "--check", SPRUNG, "--attempts", "1");
    expect(document).toMatchObject({ status: "succeeded", code: null });
    const changed = repo.git("show", "--name-only", "--format=", `antiphon/${document.runId}`);
    expect(changed).toMatch(/^sprung-by-/m);
  },
  INSTALL_MS,
);

test.concurrent.each(["pi", ...atNight("gemini", "opencode")])(
  "%s writes files in a run without a shell",
  async (agent) => {
    const words = ["--check", "test -f new.js", "--attempts", "1", ...WITHOUT_SHELL];
    const repo = agents.project({ ...BROKEN_CALCULATOR, ...TRAPS });
    const document = await agents.fixed(
      repo,
      agent,
      ...words,
      "--model",
      "m",
      "--model-host",
      writerOf(agent),
    );
    expect(document).toMatchObject({ status: "succeeded", code: null });
    const changed = repo.git("show", "--name-only", "--format=", `antiphon/${document.runId}`);
    expect(changed.trim()).toBe("new.js");
  },
  INSTALL_MS,
);

/**
 * One after the other, because they have the model server fail: each fault with `model`, and of the agents of others one that is
 * known for it. All agents and faults: agent-faults.test.ts, at night.
 */
describe.each([
  ["model", Object.keys(PASSES), Object.keys(STAYS)],
  ["pi", ["a stream that is cut"], ["a model that refuses"]],
  ...atNight(["codex", ["500"], ["a model that refuses"]] as const),
] as const)("%s", (agent, passes, stays) => {
  const failing = (): AgentStack => ({
    ...agents,
    stub: faults,
    fixed: (repo, name, ...words) =>
      agents.fixed(repo, name, "--model", "m", "--model-host", FAULTS, ...words),
  });
  beforeEach(() => faults.fail([]));

  test.each(passes)(
    "tries again after %s, and the work lands",
    (what) => recovers(failing(), agent, PASSES[what]!),
    INSTALL_MS,
  );

  test.each(stays)(
    "ends honestly with %s",
    (what) => endsHonestly(failing(), agent, STAYS[what]!),
    INSTALL_MS,
  );
});

const ASKING: readonly (readonly [agent: string, host: string, model: string])[] = [
  ["claude", ASKING_MESSAGES, "claude-sonnet-5-5"],
  ["pi", ASKING_CHAT, "m"],
];
const asking = (host: string, model: string): Asking => ({
  ...{ agents, stub: asker, words: ["--model", model, "--model-host", host] },
});

/** One after the other: an Associate keeps two containers at a time. All agents: agent-resume.test.ts, at night. */
test.each(ASKING)(
  "%s ends with its question, and goes on with its conversation in the same container",
  (agent, host, model) => goesOn(asking(host, model), agent),
  INSTALL_MS,
);

test(
  "an agent whose container is gone when the answer comes starts in a fresh one, and is told question and answer",
  () => startsAfresh(asking(ASKING_MESSAGES, "claude-sonnet-5-5"), "claude"),
  INSTALL_MS,
);

/** The names of the tools that a call offers, in lower case. */
function toolsIn(body: string): string[] {
  interface Offered {
    name?: string;
    function?: { name: string };
    functionDeclarations?: { name: string }[];
  }
  const { tools = [] } = JSON.parse(body === "" ? "{}" : body) as { tools?: Offered[] };
  return tools
    .flatMap(({ name, function: one, functionDeclarations: all = [] }) => [
      name ?? one?.name ?? "",
      ...all.map((each) => each.name),
    ])
    .filter((name) => name !== "")
    .map((name) => name.toLowerCase());
}
