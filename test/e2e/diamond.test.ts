import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

let stack: Stack;
let project: Project;
const scratch = mkdtempSync(join(tmpdir(), "antiphon-diamond-"));

beforeAll(async () => {
  stack = await startQuickStack({ associates: 2 });
  project = makeProject({ "README.md": "# Diamond\n" });
});
afterAll(async () => {
  project.remove();
  rmSync(scratch, { recursive: true, force: true });
  await stack.stop();
});

test("a diamond graph runs in order and in parallel where possible, each task on the landed commits before it", async () => {
  const task = (id: number, dependencies: number[], command: string, check: string) => ({
    id,
    description: `Step ${id}`,
    dependencies,
    agent: { kind: "scripted", commands: [command] },
    checks: [check],
  });
  const tasks = join(scratch, "tasks.yaml");
  writeFileSync(
    tasks,
    stringify({
      tasks: [
        task(1, [], "echo one > one", "test -s one"),
        task(2, [1], "sleep 1; cat one > two; echo two >> two", "grep -q one two"),
        task(3, [1], "sleep 1; cat one > three; echo three >> three", "grep -q one three"),
        task(4, [2, 3], "cat two three > four", "test $(wc -l < four) = 4"),
      ],
    }),
  );
  const { code, document } = await stack.json<{
    runId: string;
    status: string;
    commit: string;
    tasks: { task: string; commit: string }[];
  }>(["run", "Add four files", "--repo", project.path, "--tasks", tasks]);
  expect(document.status).toBe("succeeded");
  expect(code).toBe(0);
  const landed = project.landed(document.runId);
  expect(landed).toHaveLength(4);
  const byTask = Object.fromEntries(document.tasks.map(({ task: id, commit }) => [id, commit]));
  expect(landed[0]).toBe(byTask["T-001"]);
  expect(new Set(landed.slice(1, 3))).toEqual(new Set([byTask["T-002"], byTask["T-003"]]));
  expect(landed[3]).toBe(byTask["T-004"]);
  expect(project.git("show", `${document.commit}:four`)).toBe("one\ntwo\none\nthree\n");

  // In parallel: both arms were claimed before either had a result.
  const stream = await (await fetch(`${stack.ready.gateway}/runs/${document.runId}/events`)).text();
  const seen = stream
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as { type: string; taskId: string | null })
    .map(({ type, taskId }) => `${type} ${taskId ?? ""}`);
  const firstResult = Math.min(seen.indexOf("result T-002"), seen.indexOf("result T-003"));
  expect(firstResult).toBeGreaterThan(0);
  for (const claim of ["claim T-002", "claim T-003"]) expect(seen.indexOf(claim)).toBeLessThan(firstResult);
});

test("a graph with a cycle is refused by the gateway, which names the cycle", async () => {
  const tasks = join(scratch, "cycle.yaml");
  const task = (id: number, dependencies: number[]) => ({
    id,
    description: `Step ${id}`,
    dependencies,
    agent: { kind: "scripted", commands: ["true"] },
  });
  writeFileSync(tasks, stringify([task(1, [2]), task(2, [1])]));
  const { code, stdout, stderr } = await stack.antiphon([
    "run",
    "Go round",
    "--repo",
    project.path,
    "--tasks",
    tasks,
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/error ANT_[A-Z_]+: .*1 -> 2 -> 1/);
  expect(stderr).toContain("remedy: ");
});
