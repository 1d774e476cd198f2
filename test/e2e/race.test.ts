/** Several runs of one task, of which at most one lands. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { BREAK, BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

interface Raced {
  race: string;
  winner: string | null;
  runs: {
    runId: string;
    agent: string;
    summary: { status: string; code: string | null; commit: string | null };
    cost: { calls: number; attempts: number };
  }[];
}

let stack: Stack;
let packs: string;
const projects: Project[] = [];

beforeAll(async () => {
  packs = mkdtempSync(join(tmpdir(), "antiphon-race-"));
  stack = await startStack({ associates: 2 });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  rmSync(packs, { recursive: true, force: true });
  await stack.stop();
});

function project(): Project {
  const made = makeProject(BROKEN_CALCULATOR);
  projects.push(made);
  return made;
}

function pack(name: string, script: string): string {
  const place = join(packs, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, "agent.yaml"),
    JSON.stringify({ name, argv: ["sh", "-c", script], prompt: "stdin" }),
  );
  return place;
}

const racing = (repo: Project, agents: readonly string[], ...more: string[]): string[] => [
  ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
  ...["--agent", agents.join(","), "--parallel", String(agents.length), ...more],
];

test("the first verified run of a race lands, and the others are canceled and listed with their cost", async () => {
  const repo = project();
  const agents = [pack("slow", `sleep 200; ${FIX}`), pack("wrong", BREAK), pack("quick", FIX)];
  const { code, document } = await stack.json<Raced>(racing(repo, agents, "--attempts", "1"));
  expect(code).toBe(0);
  expect(document.runs.map(({ agent, summary: { status, code } }) => [agent, status, code])).toEqual([
    ["slow", "canceled", "ANT_RUN_CANCELED"],
    ["wrong", "failed", "ANT_VERIFY_SELF_FAILED"],
    ["quick", "succeeded", null],
  ]);
  expect(document.runs.map(({ cost }) => cost.calls)).toEqual([0, 0, 0]);
  const winner = document.runs[2];
  expect(document.winner).toBe(winner?.runId);
  expect(repo.git("rev-parse", `antiphon/${document.race}`).trim()).toBe(winner?.summary.commit);
  expect(document.runs.map(({ runId }) => repo.landed(runId).length)).toEqual([0, 0, 1]);
});

test("a race that nobody wins fails like a run, and says so of each", async () => {
  const { code, stdout, stderr } = await stack.antiphon(
    racing(project(), [pack("wrong", BREAK), pack("none", "exit 3")], "--attempts", "1"),
  );
  expect(code).toBe(1);
  expect(stdout).toMatch(/· run_\w+ +wrong +failed \(ANT_VERIFY_SELF_FAILED\) +no model call/);
  expect(stdout).toMatch(/· run_\w+ +none +failed \(ANT_AGENT_FAILED\) +no model call/);
  expect(stderr).toContain("ANT_AGENT_FAILED");
});

test("of the runs of a race that all pass and are not canceled, exactly one lands, and the branch of the user moves once", async () => {
  const repo = project();
  const race = `race_${"0123456789".repeat(2)}`;
  const runs = await Promise.all(
    [1, 2, 3].map(async (n) => {
      const agent = { kind: "scripted", commands: [`${FIX}; echo ${n} > who.txt`] };
      const inputs = { repo: repo.path, agent, checks: [CHECK], land_on: "main", race };
      const intent = { goal: `Fix the broken add ${n}`, inputs, constraints: {} };
      const { body } = await stack.http("POST", "/intents", intent);
      const started = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
      return String(started.body["runId"]);
    }),
  );
  for (const runId of runs) await stack.antiphon(["events", runId]);
  const ends = await Promise.all(
    runs.map(
      async (runId) => (await stack.json<{ status: string; code: string | null }>(["get", runId])).document,
    ),
  );
  expect(ends.map(({ status }) => status).toSorted()).toEqual(["failed", "failed", "succeeded"]);
  const lost = runs.filter((_, n) => ends[n]?.status === "failed");
  for (const [n, end] of ends.entries())
    if (end.status === "failed") {
      expect(end.code, runs[n]).toBe("ANT_RACE_LOST");
      // What it did is kept.
      expect((await stack.antiphon(["diff", runs[n] ?? ""])).stdout).toContain("a + b");
    }
  expect(lost.flatMap((runId) => repo.landed(runId))).toEqual([]);
  expect(repo.git("log", "--format=%s", "main").trim().split("\n")).toHaveLength(2);
  repo.git("reset", "--quiet", "--hard", "main~1"); // The bug is back, and the race is still decided.
  const retried = await stack.json<{ runId: string }>(["retry", lost[0] ?? ""]);
  const alone = await stack.antiphon(["events", retried.document.runId]);
  expect(alone.code, `a retry is no part of the race: ${alone.stdout}`).toBe(0);
  expect(repo.git("log", "--format=%s", "main").trim().split("\n")).toHaveLength(2);
});

test.each([
  [["--parallel", "1"], "--parallel takes a number from 2 to 8"],
  [["--parallel", "many"], "--parallel takes a number from 2 to 8"],
  [["--parallel", "2", "--detach"], "--parallel does not go with --detach"],
  [["--parallel", "2", "--plan", "plan.yaml"], "plan.yaml"],
])("a race that cannot be is refused before anything starts: %j", async (words, reason) => {
  const { code, stderr } = await stack.antiphon([
    ...["run", "Fix the broken add", "--repo", project().path, "--check", CHECK, "--command", FIX],
    ...words,
  ]);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});

test("a race of several tasks is refused, because it is about one", async () => {
  const task = (id: number) => ({ id, description: `Part ${id}`, dependencies: [] });
  const inputs = {
    repo: project().path,
    agent: { kind: "scripted", commands: [FIX] },
    tasks: [task(1), task(2)],
    race: `race_${"a".repeat(20)}`,
  };
  const { body } = await stack.http("POST", "/intents", { goal: "x", inputs, constraints: {} });
  const refused = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
  expect(refused.body["error"]).toMatchObject({ code: "ANT_INTENT_OPTIONS" });
  expect(JSON.stringify(refused.body)).toContain("/inputs/race");
});
