/**
 * The agent `model` in the middle of a conversation whose processes are killed: the next attempt goes on from its newest checkpoint,
 * by another Associate. Counted are the calls of the model, and of each tool how often it was carried out.
 */
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
// The first one prints something else each time, so an attempt that carried it out again would part from the record.
const CONVERSATION: Line[] = [
  { calls: [["bash", { command: "echo first >> steps.txt; date +%N" }]] },
  {
    calls: [["bash", { command: '[ "$ANTIPHON_EPOCH$QUICK" != 1 ] || sleep 600; echo second >> steps.txt' }]],
  },
  { calls: [["edit_file", { path: "add.js", old: "a - b", new: "a + b" }]] },
  { calls: [["finish", { outcome: "done", summary: "Add the two numbers" }]] },
];

let stack: Stack;
let onCall: (call: number) => void = () => undefined;
let script: ModelScript;
let directory: string;
let project: Project;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-resume-"));
  // What the model says depends on what it was told, so that a repeated call is answered as before.
  script = await startModelScript(
    ({ messages }) =>
      CONVERSATION[(messages as { role: string }[]).filter(({ role }) => role === "assistant").length] ?? 500,
    (call) => onCall(call),
  );
  const npm = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const env = await registryAccess(directory, [new URL(npm).hostname]);
  const file = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const model = {
    ...{ host: HOST, shape: "openai", base_url: `http://127.0.0.1:${script.port}/v1` },
    prices: { "*": { input: 3_000_000, output: 15_000_000, max_output: 32_000 } },
  };
  const config = { ...(JSON.parse(readFileSync(file, "utf8")) as object), models: [model] };
  writeFileSync(file, JSON.stringify(config));
  stack = await startStack({ env, associates: 2 });
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

/** The process of the Associate that holds the run's first attempt. */
async function holder(runId: string): Promise<number> {
  const { body } = await stack.http("GET", `/runs/${runId}/events`, undefined, {
    accept: "application/json",
  });
  const records = body["records"] as { type: string; body: { associate?: string } }[];
  const claimed = records.find(({ type }) => type === "claim")?.body.associate ?? "nobody";
  const name = ["associate-1", "associate-2"].find((one) =>
    readFileSync(join(stack.stateDir, "logs", `${one}.log`), "utf8").includes(claimed),
  );
  return stack.pid(name ?? "");
}

interface Case {
  readonly what: string;
  readonly where: "in a tool" | "in a call of the model";
  readonly how: "SIGKILL" | "SIGSTOP";
}
const CASES: Case[] = [
  { what: "the sandbox-runner", where: "in a tool", how: "SIGKILL" },
  { what: "the Associate", where: "in a tool", how: "SIGSTOP" },
  { what: "the Associate", where: "in a call of the model", how: "SIGKILL" },
  ...atNight<Case>({ what: "the Associate", where: "in a tool", how: "SIGKILL" }),
];

test.each(CASES)(
  "after $how of $what $where another attempt goes on, no answered call and no finished tool is repeated, and it lands once",
  async ({ what, where, how }) => {
    const before = script.heard.length;
    const calls = (): number => script.heard.length - before;
    const pidOf = (runId: string): Promise<number> | number =>
      what === "the Associate" ? holder(runId) : stack.pid("sandbox-runner");
    let runId = "";
    let struck: Promise<number> | null = null;
    const strike = async (): Promise<number> => {
      const pid = await pidOf(runId);
      process.kill(pid, how);
      return pid;
    };
    // The first tool has been carried out then, and the second answer is under way.
    if (where === "in a call of the model")
      onCall = (call) => {
        if (call === before + 2) struck ??= strike();
      };
    const { document } = await stack.json<{ runId: string }>([
      ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--detach"],
      ...["--agent", "model", "--model", "m", "--model-host", HOST, "--model-usd", "5"],
      ...(where === "in a tool" ? [] : ["--env", "QUICK=1"]),
    ]);
    runId = document.runId;
    if (where === "in a tool") {
      await eventually("its second tool runs", () => isSleeping(runId), 240_000);
      expect(calls()).toBe(2);
      struck = strike();
    }
    await eventually("it was struck", () => struck !== null, 240_000);
    const pid = await struck;
    const ended = await stack.json<{ status: string }>(["wait", runId], { timeoutMs: 200_000 });
    expect(ended.document).toMatchObject({ status: "succeeded" });
    if (how === "SIGSTOP") process.kill(pid ?? 0, "SIGCONT");
    expect(calls()).toBe(4);
    const [commit = "", ...more] = project.landed(runId);
    expect(more).toEqual([]);
    expect(project.git("show", `${commit}:steps.txt`)).toBe("first\nsecond\n");
    const { document: replayed } = await stack.json<{ same: boolean }>(["replay", runId]);
    expect(replayed.same).toBe(true);
    const { body } = await stack.http("GET", `/runs/${runId}/events`, undefined, {
      accept: "application/json",
    });
    const results = (body["records"] as { type: string; body: { kind?: string } }[]).filter(
      ({ type }) => type === "result",
    );
    expect(results.map(({ body: { kind } }) => kind).at(-1)).toBe("reported");
    expect(results.filter(({ body: { kind } }) => kind === "reported")).toHaveLength(1);
  },
);
