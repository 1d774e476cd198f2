import type { Gate, IntentBody, PlannedTask, RunOptions } from "@antiphon/contracts";
import { validate } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import { expect, test } from "vitest";
import { gateTasks } from "./gate-tasks.ts";
import { planTasks } from "./plan.ts";

const AUTHOR = { kind: "command" as const, argv: ["author"] };
const JUDGE = { kind: "command" as const, argv: ["judge"] };

function intent(options: Partial<RunOptions>, gates: Gate[] = []): IntentBody {
  const repo = { name: "app", path: "/srv/app" };
  return {
    ...{ intentId: "it_1", intent: { goal: "Fix add", inputs: {}, constraints: {} }, principal: "local" },
    options: runOptions({ repo, agent: AUTHOR, checks: ["npm test"], ...options }),
    base: { repo, ref: "refs/heads/main", commit: "a".repeat(40) },
    ...(gates.length === 0 ? {} : { policy: { profiles: ["team"], gates } }),
  };
}

const planned = (of: IntentBody): PlannedTask[] =>
  planTasks(of, "BUILD").tasks.filter(({ gate }) => gate !== undefined);

test("a run without gates has no further task", () => {
  expect(planned(intent({}))).toEqual([]);
});

test("each skill judges each task that edits files, in the order of the run, with the contract and a file to write", () => {
  const tasks = [1, 2].map((id) => ({ id, description: `task ${id}`, dependencies: [] }));
  const gates = planned(intent({ gates: { skills: ["qa", "reviewer"], agent: JUDGE }, tasks }));
  expect(gates.map(({ task, deps, gate }) => [task.task_id, deps, gate])).toEqual(
    ["T-001", "T-002"].flatMap((of) => [
      [`${of}-qa`, [of], { skill: "qa", of, blocks: "error" }],
      [`${of}-reviewer`, [of], { skill: "reviewer", of, blocks: "error" }],
    ]),
  );
  const [qa, reviewer] = gates;
  expect(qa).toMatchObject({ agent: JUDGE, task: { kind: "run", return: { artifacts: ["qa.json"] } } });
  expect(reviewer?.task.return.artifacts).toEqual(["findings.json"]);
  expect(reviewer?.task.instruction).toContain("Its contract: task 1\n- npm test passes");
  expect(reviewer?.task.verify_profile).toEqual({ mode: "none", commands: ["npm test"] });
  for (const { task } of gates) expect(validate("DirectorTask", task).ok).toBe(true);
});

test("a skill has the network and the time of the run, however narrow the task that it judges is", () => {
  const egress: NonNullable<RunOptions["egress"]> = { mode: "git+pkg", allowlist: ["models.test"] };
  const tasks = [
    {
      ...{ id: 1, description: "a", dependencies: [], time_budget_s: 5 },
      egress_profile: { mode: "none" as const, allowlist: [] },
    },
    {
      ...{ id: 2, description: "b", dependencies: [1], kind: "git" as const },
      ...{ git_action: "git_reset" as const, base_ref: "T-001" },
    },
  ];
  const of = { gates: { skills: ["reviewer" as const] }, time_budget_s: 600, tasks };
  const judging = planned(intent({ ...of, egress })).map(({ task }) => task);
  expect(judging.map(({ task_id }) => task_id)).toEqual(["T-001-reviewer", "T-002-reviewer"]);
  for (const task of judging)
    expect(task).toMatchObject({
      ...{ egress_profile: egress, time_budget_s: 600, base_ref: "refs/heads/main", kind: "run" },
    });
  const closed = planned(intent(of)).map(({ task }) => task.egress_profile);
  expect(closed).toEqual([0, 1].map(() => ({ mode: "none", allowlist: [] })));
});

test("a long instruction is cut for the skill, and never the criteria and checks behind it", () => {
  const criteria = Array.from({ length: 10 }, (_, n) => `criterion ${n} ${"c".repeat(900)} end ${n}`);
  const description = "d".repeat(30_000);
  const tasks = [{ id: 1, description, dependencies: [], acceptance_criteria: criteria }];
  const [one] = planned(intent({ gates: { skills: ["reviewer"] }, tasks }));
  const text = one?.task.instruction ?? "";
  expect(text).toContain(`${"d".repeat(8000)}`);
  expect(text).toContain("... (cut)\n- criterion 0");
  for (const [n] of criteria.entries()) expect(text).toContain(`end ${n}\n`);
  expect(text.endsWith("- npm test passes")).toBe(true);
  const many = Array.from({ length: 40 }, (_, n) => `${n} ${"c".repeat(1900)}`);
  const [huge] = planned(
    intent({ gates: { skills: ["qa"] }, tasks: [{ ...tasks[0]!, acceptance_criteria: many }] }),
  );
  expect(huge?.task.instruction).toHaveLength(32_768);
  expect(validate("DirectorTask", huge?.task).ok).toBe(true);
});

test("no skill judges a task that only reads", () => {
  const one = planTasks(intent({ gates: { skills: ["reviewer"] } }), "PLAN");
  expect(one.tasks).toHaveLength(1);
});

test("a policy names the paths, the agent and the threshold; a run may ask for more and never for less", () => {
  const policy: Gate = {
    name: "code",
    skill: "reviewer",
    paths: ["src/**"],
    blocks: "warning",
    agent: JUDGE,
  };
  const [byPolicy] = planned(intent({}, [policy]));
  expect(byPolicy).toMatchObject({ agent: JUDGE, gate: { blocks: "warning", paths: ["src/**"] } });
  const [laxer] = planned(intent({ gates: { skills: [], blocks: "error" } }, [policy]));
  expect(laxer?.gate?.blocks).toBe("warning");
  const [stricter] = planned(
    intent({ gates: { skills: ["reviewer"], blocks: "info", agent: AUTHOR } }, [policy]),
  );
  expect(stricter).toMatchObject({ agent: JUDGE, gate: { blocks: "info" } });
  expect(stricter?.gate?.paths).toBeUndefined();
});

test("a gate of people adds no task", () => {
  expect(gateTasks(planTasks(intent({}), "BUILD").tasks, intent({}, [{ name: "people" }]))).toEqual([]);
});
