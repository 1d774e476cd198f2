import type { EgressProfile, GitAction, PlannedTask } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { openRun, replay } from "../machine/replay.ts";
import { planned, RecordLog } from "../testing/record-log.ts";
import { taskContract } from "./projection.ts";

const OPEN: EgressProfile = { mode: "git+pkg", allowlist: [] };
const NONE: EgressProfile = { mode: "none", allowlist: [] };
const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const task = (id: string, egress_profile: EgressProfile, more: object = {}): PlannedTask => {
  const plan = planned(id);
  return { ...plan, task: { ...plan.task, egress_profile, ...more } };
};

function exported(tasks: PlannedTask[], egress?: EgressProfile): unknown[] {
  const log = new RecordLog().opened(tasks, egress === undefined ? {} : { egress });
  const { context } = replay(openRun(log.runId, POLICY), log.records);
  return context.tasks.map((one) => taskContract(context, one).egress_profile);
}

test("a task that was narrowed to no network says so, because one that says nothing has that of its run when it comes back in", () => {
  const git: GitAction = "git_status";
  const tasks = [
    task("T-001", OPEN),
    task("T-002", NONE),
    task("T-003", NONE, { kind: "git", git_action: git }),
  ];
  expect(exported(tasks, OPEN)).toEqual([OPEN, NONE, undefined]);
});

test("a task of a run without a network says nothing about it", () => {
  expect(exported([task("T-001", NONE)])).toEqual([undefined]);
  expect(exported([task("T-001", NONE)], NONE)).toEqual([undefined]);
});
