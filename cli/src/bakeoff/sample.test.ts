import { MATERIAL } from "@antiphon/contracts/runs/connectors";
import { runOptions } from "@antiphon/contracts/testing/records";
import { expect, test } from "vitest";
import type { PastBody } from "./past-task.ts";
import { leftOutLines, sampleOf } from "./sample.ts";

const [A, B] = ["a".repeat(40), "b".repeat(40)];

function past(goal: string, commit: string, options: object = {}, repo = { name: "app", path: "/app" }) {
  return {
    intent: { goal, inputs: {}, constraints: {} },
    options: runOptions({ repo, ...options }),
    base: { repo, ref: "refs/heads/main", commit },
  } as PastBody;
}

const RUNS: Record<string, PastBody | null> = {
  run_5: past("Fix it", A, { agent: { kind: "command", argv: ["other"] } }),
  run_4: past("Summarize", A, {}, MATERIAL),
  run_3: past("Fix it", B),
  run_2: past("Fix it", A, { fork: { run: "run_1", task: "T-001", epoch: 1, calls: 0, feedback: [] } }),
  run_1: past("Fix it", A),
  run_0: past("Fix it", A, { checks: ["npm test", "npm run lint"] }),
};
const ids = Object.keys(RUNS).toSorted().toReversed();
const sampled = (limit: number) => sampleOf(ids, limit, async (id) => RUNS[id] ?? null);

test("each task counts once, as its newest run has it, whoever did it and whatever it was forked from", async () => {
  const sample = await sampled(20);
  expect(sample.tasks.map(({ of }) => of)).toEqual(["run_5", "run_3", "run_0"]);
  expect(sample.repeated).toEqual(["run_2", "run_1"]);
});

test("a brief takes no place of a task, and is named", async () => {
  const sample = await sampled(3);
  expect(sample.tasks).toHaveLength(3);
  expect(sample.withoutRepository).toEqual(["run_4"]);
  expect(leftOutLines(sample)).toEqual([
    "2 runs are left out: goal, base commit and checks are those of a newer run (run_2, run_1)",
    "1 run is left out: no repository (run_4)",
  ]);
});

test("no more runs are read than the limit needs", async () => {
  const read: string[] = [];
  await sampleOf(ids, 1, async (id) => {
    read.push(id);
    return RUNS[id] ?? null;
  });
  expect(read).toEqual(["run_5"]);
});
