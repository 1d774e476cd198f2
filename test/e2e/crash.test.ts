import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { atNight } from "../support/night.ts";
import { patient } from "../support/patience.ts";
import { BROKEN_CALCULATOR, CHECK, makeProject, type Project } from "./support/project.ts";
import { ANTIPHON, eventually, exitOf, start } from "./support/program.ts";
import { startStack, type Stack } from "./support/stack.ts";

/** Slow enough to be killed in the middle. */
const SLOW_FIX = "sleep 2; sed -i 's/a - b/a + b/' add.js";
const SLOW_CHECK = `sleep 1; ${CHECK}`;

let stack: Stack;
let project: Project;

beforeAll(async () => {
  stack = await startStack({ associates: 2 });
});
afterAll(() => stack.stop());
beforeEach(() => {
  project = makeProject(BROKEN_CALCULATOR);
});
afterEach(() => project.remove());

async function begin(): Promise<string> {
  const args = [
    "run",
    "Fix the broken add",
    "--repo",
    project.path,
    "--command",
    SLOW_FIX,
    "--check",
    SLOW_CHECK,
    "--detach",
    "--json",
  ];
  const { document } = await stack.json<{ runId: string }>(args.slice(0, -1));
  return document.runId;
}

/** Resolves once the run's journal has a record of that type. */
async function reached(runId: string, type: string): Promise<void> {
  const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway };
  const watch = start(process.execPath, [ANTIPHON, "events", runId, "--json"], { env });
  try {
    for await (const line of createInterface({ input: watch.stdout! }))
      if (line.includes(`"type":"${type}"`)) return;
    throw new Error(`${runId} ended without a ${type} record`);
  } finally {
    watch.kill("SIGKILL");
    await exitOf(watch);
  }
}

async function landsOnce(runId: string): Promise<void> {
  const status = await eventually(
    `${runId} over`,
    async () => {
      const answer = await fetch(`${stack.ready.gateway}/runs/${runId}`).catch(() => null);
      if (answer?.ok !== true) return null; // The gateway may be the one that is down.
      const view = (await answer.json()) as { status: string };
      return ["succeeded", "failed", "canceled"].includes(view.status) ? view.status : null;
    },
    patient(90_000),
  );
  expect(status).toBe("succeeded");
  expect(project.landed(runId)).toHaveLength(1);
}

describe("a run survives kill -9 and restart of a service with exactly one landed commit", () => {
  test.each([
    ["router", "intent"],
    ["director", "verdict"],
    ["associate-1", "claim"],
    ["sandbox-runner", "claim"],
    ["gateway", "claim"],
    ["nats-server", "claim"],
    ...atNight(
      ["director", "routed"],
      ["director", "result"],
      ["associate-2", "claim"],
      ["sandbox-runner", "result"],
      ["nats-server", "result"],
    ),
  ])("%s after the %s record", async (name, type) => {
    const runId = await begin();
    await reached(runId, type);
    process.kill(stack.pid(name), "SIGKILL");
    await landsOnce(runId);
  });
});
