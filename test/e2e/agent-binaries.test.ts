/** The agents that people use, as their registries deliver them: real programs, against a model server on loopback. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { atNight } from "../support/night.ts";
import { accessTo, EDIT, INSTALL_MS, packHostsAt, logOf, type Ended } from "./support/agents-with-models.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

/** What a transcript tells, besides the command that the model wanted. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  aider: ["#### Fix the broken add", "It subtracts.", "Applied edit to add.js"],
  "mini-swe-agent": [FIX, "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"],
};

let stack: Stack;
let stub: ModelStub;
let directory: string;
const projects: Project[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-agents-"));
  stub = await startModelStub(FIX, EDIT);
  stack = await startStack({ env: await accessTo(packHostsAt(stub.port), directory) });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
  await stub.close();
  rmSync(directory, { recursive: true, force: true });
});

function project(): Project {
  const made = makeProject(BROKEN_CALCULATOR);
  projects.push(made);
  return made;
}

/** Most of the time of each is its installation, so they are installed side by side. */
test.concurrent.each([
  ["model", "model:chat"],
  ["model", "model:messages", "--model", "claude-sonnet-5-5", "--model-host", "api.anthropic.com"],
  ["claude", "model:messages"],
  ["codex", "model:responses"],
  ["gemini", "model:generate"],
  ["opencode", "model:chat"],
  ["pi", "model:chat"],
  ...atNight(
    ["opencode-server", "model:chat"],
    ["aider", "model:chat"],
    ["mini-swe-agent", "model:responses"],
  ),
])(
  "%s is installed from its registry, fixes a repository over the metered gateway, and the fix lands (%s)",
  async (agent, rule, ...more) => {
    const repo = project();
    const { document } = await stack.json<Ended>(
      [
        ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
        ...["--agent", agent, "--model-usd", "2", ...more],
      ],
      { timeoutMs: INSTALL_MS },
    );
    expect(document).toMatchObject({ status: "succeeded", code: null });
    expect(repo.landed(document.runId)).toHaveLength(1);
    const calls = (await logOf(stack, document.runId)).filter((line) => line.rule === rule);
    expect(calls.length).toBeGreaterThanOrEqual(agent === "aider" ? 1 : 2);
    const { stdout: transcript } = await stack.antiphon(["logs", "--transcript", document.runId]);
    expect(transcript).toMatch(/^== T-001 1 attempt transcript\.(jsonl|json|txt)$/m);
    for (const said of SAID[agent] ?? [FIX, "Done."]) expect(transcript).toContain(said);
    // People are shown the sum that the gateway has charged.
    const shown = await stack.json<{ model: { calls: number; tokens: number } }>(["get", document.runId]);
    expect(shown.document.model).toMatchObject({ calls: calls.length, tokens: calls.length * 1020 });
    for (const { decision, model } of calls) {
      expect(decision).toBe("allow");
      expect(model?.charged_tokens).toBe(1020);
    }
  },
  INSTALL_MS,
);

const SHELLS = ["bash", "run_shell_command", "exec_command"];

test.each(["claude", "gemini", "opencode", "pi", ...atNight("opencode-server")])(
  "%s is offered no shell in a run without one, and a call of it changes nothing",
  async (agent) => {
    const repo = project();
    const before = stub.heard.length;
    const { document } = await stack.json<Ended>(
      [
        ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK, "--attempts", "1"],
        ...["--agent", agent, "--model-usd", "2", "--tools", "read_file,write_file,edit_file"],
      ],
      { timeoutMs: INSTALL_MS },
    );
    expect(document.status).toBe("failed");
    expect(repo.landed(document.runId)).toEqual([]);
    const offered = stub.heard.slice(before).map(({ body }) => toolsIn(body));
    expect(offered.some((names) => names.length > 0)).toBe(true);
    for (const names of offered) for (const shell of SHELLS) expect(names).not.toContain(shell);
  },
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
