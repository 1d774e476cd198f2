import { expect, test } from "vitest";
import type { PlannedTask, RunOptions } from "@antiphon/contracts";
import { openRun, replay } from "@antiphon/run";
import { BASE, RecordLog, check, planned } from "@antiphon/run/testing/record-log";
import type { RoomRequest } from "../ports.ts";
import { POLICY } from "../testing/directing.ts";
import { integrationTrials } from "./integration-trials.ts";
import type { VerificationPorts } from "./verification.ts";

const checking = (id: string, commands: string[], image?: string) => {
  const one = planned(id);
  const task = { ...one.task, verify_profile: { ...one.task.verify_profile, commands } };
  return { ...one, task, ...(image === undefined ? {} : { image }) };
};

interface World {
  /** What discovery finds. */
  readonly found?: string[];
  readonly options?: Partial<RunOptions>;
}

async function trialsOf(tasks: PlannedTask[], { found = [], options = {} }: World = {}) {
  const log = new RecordLog().opened(tasks, options, "BUILD");
  const { context } = replay(openRun(log.runId, POLICY), log.records);
  const asked: RoomRequest[] = [];
  const tree = { commit: BASE, tree: BASE, object: "tree.tar", bytes: 0, files: 0 };
  const ports = {
    repository: {
      exportBase: () => Promise.resolve(tree),
      discoverChecks: (_repo: unknown, _commit: string, lacks: readonly string[] = []) =>
        Promise.resolve(found.filter((check) => !lacks.includes(check))),
    },
    room: {
      check: (request: RoomRequest) => {
        asked.push(request);
        const outcomes = request.checks.map(() => check(request.image === null ? 0 : 1));
        return Promise.resolve({ trials: [outcomes, outcomes], written: null });
      },
    },
  } as unknown as VerificationPorts;
  const trials = await integrationTrials(context, BASE, 1, ports, new AbortController().signal);
  return { trials, asked: asked.map(({ image, checks }) => [image, checks]) };
}

test("each image runs the checks of its own tasks, and all of them decide in each trial", async () => {
  const tasks = [
    checking("T-001", ["npm test", "npm run lint"]),
    checking("T-002", ["go test ./..."], "team/go:1"),
    checking("T-003", ["npm test"]),
  ];
  const { trials, asked } = await trialsOf(tasks);
  expect(asked).toEqual([
    [null, ["npm test", "npm run lint"]],
    ["team/go:1", ["go test ./..."]],
  ]);
  expect(trials.map((trial) => trial.map(({ exitCode }) => exitCode))).toEqual([
    [0, 0, 1],
    [0, 0, 1],
  ]);
});

test("a skill that judges a task runs no check of it in the image of the run", async () => {
  const judged = checking("T-001", ["go test ./..."], "team/go:1");
  const gate: PlannedTask = {
    ...checking("T-001-reviewer", ["go test ./..."]),
    gate: { skill: "reviewer", of: "T-001", blocks: "error" },
  };
  expect((await trialsOf([judged, gate])).asked).toEqual([["team/go:1", ["go test ./..."]]]);
});

test("the discovered check of a task runs in the image of that task", async () => {
  const tasks = [checking("T-001", [], "team/go:1"), checking("T-002", [])];
  const options = { image_lacks: ["go test ./..."] };
  const { asked } = await trialsOf(tasks, { found: ["go test ./..."], options });
  expect(asked).toEqual([["team/go:1", ["go test ./..."]]]);
  const { asked: both } = await trialsOf(tasks, { found: ["make"] });
  expect(both).toEqual([
    ["team/go:1", ["make"]],
    [null, ["make"]],
  ]);
  expect((await trialsOf(tasks)).asked).toEqual([]);
});
