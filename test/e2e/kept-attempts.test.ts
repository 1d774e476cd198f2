/**
 * Nothing that was paid for is lost: an attempt that was canceled, ran out of time or was refused by the policy keeps its
 * diff, its transcript and the recordings of its model calls, and another run takes its change up without a call.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PolicyProfile } from "@antiphon/contracts";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { processesOf } from "./support/containers.ts";
import { enforcePolicy } from "./support/enforce-policy.ts";
import { eventually } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

const HOST = "models.kept.test";
const SAID = "I asked my model, and the sum is right now";

let stack: Stack;
let stub: ModelStub;
let directory: string;
const projects: Project[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-kept-"));
  stub = await startModelStub(FIX);
  const models = [
    {
      ...{ host: HOST, shape: "openai", base_url: `http://127.0.0.1:${stub.port}/v1` },
      prices: { small: { input: 1, output: 1, max_output: 100 } },
    },
  ];
  const file = join(directory, "egress.json");
  writeFileSync(file, JSON.stringify({ models }), { mode: 0o600 });
  stack = await startStack({ env: { ANTIPHON_EGRESS_CONFIG: file } });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
  await stub.close();
  rmSync(directory, { recursive: true, force: true });
});

/** An agent that asks its model once, fixes the sum, says so, and goes on as told. */
function agent(name: string, then: string): string {
  const place = join(directory, name);
  mkdirSync(place, { recursive: true });
  const ask = [
    "curl -sS -f -o /dev/null https://${model_host}/v1/chat/completions -H content-type:application/json",
    `-d '{"model":"\${model}","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'`,
  ].join(" ");
  const pack = {
    ...{ name, description: "A test", prompt: "stdin", transcript: { format: "text" } },
    argv: ["sh", "-c", `${ask} && ${FIX} && echo '${SAID}' && ${then}`],
    model: { shape: "openai", host: HOST, name: "small" },
  };
  writeFileSync(join(place, "agent.yaml"), JSON.stringify(pack));
  return place;
}

async function begin(
  place: string,
  ...more: readonly string[]
): Promise<{ runId: string; project: Project }> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  const { document } = await stack.json<{ runId: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--detach"],
    ...["--agent", place, "--model-usd", "1", "--attempts", "1", ...more],
  ]);
  return { runId: document.runId, project };
}

const until = (runId: string, wanted: string) =>
  eventually(
    `${runId} is ${wanted}`,
    async () => ((await stack.http("GET", `/runs/${runId}`)).body["status"] === wanted ? true : null),
    60_000,
  );

const enforce = (says: Partial<PolicyProfile>): Promise<void> => enforcePolicy(stack, says);

/** The text of a file of the first attempt's evidence, as soon as it is there. */
const kept = (runId: string, path: string): Promise<string> =>
  eventually(`${path} of ${runId}`, async () => {
    const { code, stdout } = await stack.antiphon(["evidence", "get", runId, "T-001", "1", path]);
    return code === 0 ? stdout : null;
  });

async function expectAllKept(runId: string): Promise<void> {
  expect(await kept(runId, "transcript.txt")).toContain(SAID);
  const call = JSON.parse(await kept(runId, "egress/model-0001.json")) as { charged: { tokens: number } };
  expect(call.charged.tokens).toBeGreaterThan(0);
  expect(await kept(runId, "egress/requests.jsonl")).toContain(HOST);
  expect((await stack.antiphon(["diff", runId])).stdout).toContain("--- a/add.js");
}

async function expectTakenUp(runId: string, project: Project): Promise<void> {
  const asked = stub.heard.length;
  const { document } = await stack.json<{ runId: string; status: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--patch", runId],
  ]);
  expect(document, JSON.stringify(document)).toMatchObject({ status: "succeeded" });
  expect(project.landed(document.runId)).toHaveLength(1);
  expect(stub.heard.length).toBe(asked);
}

test("an attempt that is canceled keeps its diff, its transcript and its model calls, and another run lands its change", async () => {
  const { runId, project } = await begin(agent("canceled", "sleep 600"));
  await eventually(
    "the fix",
    async () => ((await processesOf(runId)).includes("sleep 600") ? true : null),
    60_000,
  );
  expect((await stack.antiphon(["cancel", runId])).code).toBe(0);
  await until(runId, "canceled");
  await expectAllKept(runId);
  expect(project.landed(runId)).toEqual([]);
  await expectTakenUp(runId, project);
});

test("an attempt whose time is over keeps its diff, its transcript and its model calls, and another run lands its change", async () => {
  const { runId, project } = await begin(agent("late", "sleep 600"), "--time-budget", "20");
  await until(runId, "failed");
  await expectAllKept(runId);
  expect(project.landed(runId)).toEqual([]);
  await expectTakenUp(runId, project);
});

test("an attempt that the policy refuses keeps its diff, its transcript and its model calls, and lands where the policy permits it", async () => {
  await enforce({ protectedPaths: ["add.js"] });
  const { runId, project } = await begin(agent("refused", "true"));
  await until(runId, "failed");
  expect((await stack.antiphon(["get", runId])).stdout).toContain("ANT_PATCH_POLICY");
  await expectAllKept(runId);
  const again = await stack.antiphon([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--patch", runId],
  ]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toContain("ANT_POLICY_REFUSED");
  await enforce({});
  await expectTakenUp(runId, project);
});
