/** The agent `model` in the middle of a conversation whose processes are killed: the next attempt goes on from it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startModelScript, type Line, type ModelScript } from "../support/model-script.ts";
import { eventually } from "../support/nats.ts";
import { atNight } from "../support/night.ts";
import { registryAccess } from "../support/package-registries.ts";
import { BROKEN_CALCULATOR, CHECK, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const HOST = "models.resume.example";

/** The second tool call of the first attempt never ends. */
const CONVERSATION: Line[] = [
  { calls: [["bash", { command: "echo first >> steps.txt" }]] },
  { calls: [["bash", { command: '[ "$ANTIPHON_EPOCH" != 1 ] || sleep 600; echo second >> steps.txt' }]] },
  { calls: [["edit_file", { path: "add.js", old: "a - b", new: "a + b" }]] },
  { calls: [["finish", { outcome: "done", summary: "Add the two numbers" }]] },
];

let stack: Stack;
let script: ModelScript;
let directory: string;
let project: Project;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-resume-"));
  script = await startModelScript([...CONVERSATION, ...CONVERSATION]);
  const npm = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const env = await registryAccess(directory, [new URL(npm).hostname]);
  const file = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const model = {
    ...{ host: HOST, shape: "openai", base_url: `http://127.0.0.1:${script.port}/v1` },
    prices: { "*": { input: 3_000_000, output: 15_000_000, max_output: 32_000 } },
  };
  const config = { ...(JSON.parse(readFileSync(file, "utf8")) as object), models: [model] };
  writeFileSync(file, JSON.stringify(config));
  stack = await startStack({ env, associates: 1 });
  project = makeProject(BROKEN_CALCULATOR);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
  await script.close();
  rmSync(directory, { recursive: true, force: true });
});

function isSleeping(runId: string): boolean {
  const docker = (...words: string[]): string => execFileSync("docker", words, { encoding: "utf8" });
  const [container] = docker("ps", "--quiet", "--filter", `name=${runId}.*-attempt-`).split("\n");
  return container !== undefined && container !== "" && docker("top", container).includes("sleep 600");
}

test.each(["sandbox-runner", ...atNight("associate-1")])(
  "after kill -9 of %s the next attempt goes on, and the model is asked nothing that it had answered",
  async (name) => {
    const before = script.heard.length;
    const { document } = await stack.json<{ runId: string }>([
      ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--detach"],
      ...["--agent", "model", "--model", "m", "--model-host", HOST, "--model-usd", "5"],
    ]);
    const { runId } = document;
    await eventually("its second tool runs", () => isSleeping(runId), 240_000);
    expect(script.heard.length - before).toBe(2);
    process.kill(stack.pid(name), "SIGKILL");
    const ended = await stack.json<{ status: string }>(["wait", runId], { timeoutMs: 200_000 });
    expect(ended.document).toMatchObject({ status: "succeeded" });
    expect(script.heard.length - before).toBe(4);
    const [commit = ""] = project.landed(runId);
    expect(project.git("show", `${commit}:steps.txt`)).toBe("first\nsecond\n");
    const { document: replayed } = await stack.json<{ same: boolean }>(["replay", runId]);
    expect(replayed.same).toBe(true);
  },
);
