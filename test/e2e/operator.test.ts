/** An operator's view of a run: the services' logs, and the run's view while an attempt is running. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { eventually, ROOT, run } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

let stack: Stack;
let project: Project;
beforeAll(async () => {
  stack = await startQuickStack();
  project = makeProject(BROKEN_CALCULATOR);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
});

const start = async (command: string): Promise<string> => {
  const { document } = await stack.json<{ runId: string }>([
    ...["run", "Fix add", "--repo", project.path, "--command", command, "--check", CHECK, "--detach"],
  ]);
  return document.runId;
};

/** The log messages of a service about a run, in order. */
function told(service: string, runId: string): string[] {
  const lines = readFileSync(join(stack.stateDir, "logs", `${service}.log`), "utf8").split("\n");
  return lines
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { run?: string; level?: string; msg?: string })
    .filter(({ run: of, level }) => of === runId && level === "info")
    .map(({ msg = "" }) => msg);
}

test("each step of a run is in the log of the service that performed it", async () => {
  const runId = await start(FIX);
  expect((await stack.antiphon(["events", runId])).code).toBe(0);
  expect(told("gateway", runId)).toEqual(["accepted"]);
  expect(told("router", runId)).toEqual(["routed"]);
  expect(told("director", runId)).toEqual(["dispatched", "verdict", "landed", "closed"]);
  const associate = told("associate-1", runId);
  expect(associate.filter((msg) => ["claimed", "result"].includes(msg))).toEqual(["claimed", "result"]);
});

test("`nats micro ls` shows every service with the version of this build", async () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { version: string };
  const args = ["--server", stack.ready.nats, "micro", "ls", "--json"];
  const { stdout } = await run(`${ROOT}.antiphon/tools/nats`, args);
  const services = JSON.parse(stdout) as { name: string; version: string }[];
  expect(services.map(({ name }) => name).sort()).toEqual([
    "associate",
    "director",
    "egress",
    "gateway",
    "router",
    "sandbox-runner",
  ]);
  expect(new Set(services.map((one) => one.version))).toEqual(new Set([version]));
});

test("while an attempt is running, `antiphon get` and the view in ANT_RUNS show it, and its duration grows", async () => {
  const runId = await start(`sleep 20; ${FIX}`);
  const view = async (): Promise<string> => {
    const args = ["--server", stack.ready.nats, "kv", "get", "ANT_RUNS", runId, "--raw"];
    return (await run(`${ROOT}.antiphon/tools/nats`, args)).stdout;
  };
  await eventually(
    "the view says claimed",
    async () => ((await view()).includes('"claimed"') ? true : null),
    15_000,
  );
  const first = await stack.json<{ durationMs: number; tasks: { phase: string }[] }>(["get", runId]);
  const second = await stack.json<{ durationMs: number }>(["get", runId]);
  expect(first.document.tasks[0]?.phase).toBe("claimed");
  expect(second.document.durationMs).toBeGreaterThan(first.document.durationMs);
  expect((await stack.antiphon(["get", runId])).stdout).toContain("attempt 1 running");
  await stack.antiphon(["cancel", runId]);
});
