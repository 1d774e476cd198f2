import { expect, test } from "vitest";
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

test("each image runs the checks of its own tasks, and all of them decide in each trial", async () => {
  const tasks = [
    checking("T-001", ["npm test", "npm run lint"]),
    checking("T-002", ["go test ./..."], "team/go:1"),
    checking("T-003", ["npm test"]),
  ];
  const log = new RecordLog().opened(tasks, {}, "BUILD");
  const { context } = replay(openRun(log.runId, POLICY), log.records);
  const asked: RoomRequest[] = [];
  const tree = { commit: BASE, tree: BASE, object: "tree.tar", bytes: 0, files: 0 };
  const ports = {
    repository: { exportBase: () => Promise.resolve(tree) },
    room: {
      check: (request: RoomRequest) => {
        asked.push(request);
        const outcomes = request.checks.map(() => check(request.image === null ? 0 : 1));
        return Promise.resolve({ trials: [outcomes, outcomes], written: null });
      },
    },
  } as unknown as VerificationPorts;
  const trials = await integrationTrials(context, BASE, 1, ports, new AbortController().signal);
  expect(asked.map(({ image, checks }) => [image, checks])).toEqual([
    [null, ["npm test", "npm run lint"]],
    ["team/go:1", ["go test ./..."]],
  ]);
  expect(trials.map((trial) => trial.map(({ exitCode }) => exitCode))).toEqual([
    [0, 0, 1],
    [0, 0, 1],
  ]);
});
