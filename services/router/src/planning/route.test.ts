import { bodyBytes, limits, MATERIAL, recordBodyBytes, validate } from "@antiphon/contracts";
import type { GitAction, IntentBody, RoutedBody, RunOptions, TaskSpec } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import { describe, expect, test } from "vitest";
import { planTasks } from "./plan.ts";
import { route } from "./route.ts";

function intentOf(goal: string, options: Partial<RunOptions> = {}): IntentBody {
  return {
    intentId: "it_1",
    intent: { goal, inputs: {}, constraints: {} },
    options: runOptions({
      repo: { name: "app", path: "/srv/app" },
      agent: { kind: "scripted", commands: ["echo hello > hello.txt"] },
      checks: ["npm test"],
      ...options,
    }),
    base: { repo: { name: "app", path: "/srv/app" }, ref: "refs/heads/main", commit: "a".repeat(40) },
    principal: "local",
  };
}

function spec(id: number, dependencies: number[] = []): TaskSpec {
  return { id, description: `task ${id}`, dependencies };
}

function recordOf(body: RoutedBody) {
  const cause = { seq: 1, digest: `sha256-${"A".repeat(43)}` };
  return { v: 1, type: "routed", runId: "run_1", taskId: null, epoch: 0, cause, body };
}

const DIAMOND = [spec(1), spec(2, [1]), spec(3, [1]), spec(4, [2, 3])];

describe("a run without a repository", () => {
  const brief: IntentBody = {
    ...intentOf("Rewrite everything now"),
    base: { repo: MATERIAL, ref: "HEAD", commit: "a".repeat(40) },
  };

  test("only reads, whatever its goal says, and has to leave a brief", () => {
    const { workflow, reason, tasks } = route(brief);
    expect([workflow, reason]).toEqual(["PLAN", "the intent names no repository, so the run only reads"]);
    expect(tasks.map(({ task }) => [task.kind, task.return.artifacts])).toEqual([
      ["inspect", ["brief.json"]],
    ]);
  });
});

describe("planTasks", () => {
  test("without tasks the goal is the one task, with every default of the contract", () => {
    const { tasks } = planTasks(intentOf("Fix the failing date parser"), "DEBUG");
    expect(tasks).toEqual([
      {
        deps: [],
        agent: { kind: "scripted", commands: ["echo hello > hello.txt"] },
        task: {
          task_id: "T-001",
          kind: "edit_repo",
          instruction: "Fix the failing date parser",
          acceptance_criteria: ["npm test passes"],
          base_ref: "refs/heads/main",
          allowed_tools: ["read_file", "write_file", "edit_file", "bash", "git_checkpoint"],
          egress_profile: { mode: "none", allowlist: [] },
          verify_profile: { mode: "smoke", commands: ["npm test"] },
          commands: ["echo hello > hello.txt"],
          time_budget_s: 300,
          return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
        },
      },
    ]);
    expect(validate("DirectorTask", tasks[0]?.task).ok).toBe(true);
  });

  test.each([
    ["BUILD", "edit_repo"],
    ["DEBUG", "edit_repo"],
    ["REVIEW", "run"],
    ["PLAN", "inspect"],
  ] as const)("the tasks of a %s run are of kind %s", (workflow, kind) => {
    expect(planTasks(intentOf("x"), workflow).tasks[0]?.task.kind).toBe(kind);
  });

  test("a task's own agent, checks and kind win over the run's", () => {
    const own: TaskSpec = {
      ...spec(1),
      agent: { kind: "command", argv: ["my-agent"] },
      checks: ["make test"],
      kind: "inspect",
    };
    const [task] = planTasks(intentOf("x", { tasks: [own] }), "BUILD").tasks;
    expect(task?.agent).toEqual({ kind: "command", argv: ["my-agent"] });
    expect(task?.task.verify_profile.commands).toEqual(["make test"]);
    expect(task?.task.kind).toBe("inspect");
    expect(task?.task.commands).toEqual([]);
  });

  test("a task keeps the image that it names, and a skill that judges it works in that of the run", () => {
    const tasks: TaskSpec[] = [{ ...spec(1), image: "team/go:1" }, spec(2)];
    const gates = { skills: ["reviewer" as const] };
    const plan = planTasks(intentOf("x", { tasks, image: "team/dev:1", gates }), "BUILD");
    const images = plan.tasks.map(({ task, image }) => [task.task_id, image]);
    expect(images.slice(0, 2)).toEqual([
      ["T-001", "team/go:1"],
      ["T-002", undefined],
    ]);
    expect(plan.tasks.filter(({ gate }) => gate !== undefined).map(({ image }) => image)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("an inspect task is held to its own checks, not to those that judge the changes of the run", () => {
    const tasks: TaskSpec[] = [
      { ...spec(1), kind: "inspect" },
      { ...spec(2), kind: "inspect", checks: ["make docs"] },
      {
        ...spec(3),
        kind: "inspect",
        acceptance_criteria: [{ criterion: "It is named", check: "make named" }],
      },
      spec(4),
    ];
    const planned = planTasks(intentOf("x", { tasks }), "DEBUG").tasks;
    expect(planned.map(({ task }) => task.verify_profile)).toEqual([
      { mode: "none", commands: [] },
      { mode: "smoke", commands: ["make docs"] },
      { mode: "smoke", commands: ["make named"] },
      { mode: "smoke", commands: ["npm test"] },
    ]);
  });

  test("a git task has no agent, no network, and only the checks that it needs", () => {
    const git = (id: number, git_action: GitAction, more: object = {}): TaskSpec => ({
      ...spec(id, id === 1 ? [] : [1]),
      ...{ kind: "git", git_action },
      ...more,
    });
    const tasks = [
      git(1, "git_checkpoint"),
      git(2, "git_reset", { base_ref: "1" }),
      git(3, "git_reset"),
      git(4, "git_status", { checks: ["make test"] }),
    ];
    const egress = { mode: "allowlist" as const, allowlist: ["example.org"] };
    const planned = planTasks(intentOf("x", { tasks, egress }), "BUILD").tasks;
    for (const { task, agent } of planned) {
      expect(agent).toEqual({ kind: "scripted" });
      expect(task.egress_profile).toEqual({ mode: "none", allowlist: [] });
      expect(task.allowed_tools).toEqual([task.git_action]);
      expect(validate("DirectorTask", task).ok).toBe(true);
    }
    expect(planned.map(({ task: { verify_profile, base_ref } }) => [base_ref, verify_profile])).toEqual([
      ["refs/heads/main", { mode: "none", commands: [] }],
      ["T-001", { mode: "smoke", commands: ["npm test"] }],
      ["base", { mode: "smoke", commands: ["npm test"] }],
      ["refs/heads/main", { mode: "smoke", commands: ["make test"] }],
    ]);
  });

  test("a skill judges what a git task brings back, and nothing of one that only reads", () => {
    const tasks: TaskSpec[] = [
      { ...spec(1), kind: "git", git_action: "git_status" },
      { ...spec(2, [1]), kind: "git", git_action: "git_reset" },
    ];
    const { tasks: planned } = planTasks(intentOf("x", { tasks, gates: { skills: ["reviewer"] } }), "BUILD");
    expect(planned.map(({ gate }) => gate?.of ?? null)).toEqual([null, null, "T-002"]);
    expect(validate("DirectorTask", planned[2]?.task).ok).toBe(true);
  });

  test("the caller's acceptance criteria are kept", () => {
    const intent = intentOf("x");
    intent.intent.constraints = { acceptance_criteria: ["the badge shows", "", 3] };
    expect(planTasks(intent, "BUILD").tasks[0]?.task.acceptance_criteria).toEqual(["the badge shows"]);
  });

  test("a diamond becomes task ids with their dependencies", () => {
    const { tasks } = planTasks(intentOf("x", { tasks: DIAMOND }), "BUILD");
    expect(tasks.map(({ task, deps }) => [task.task_id, deps])).toEqual([
      ["T-001", []],
      ["T-002", ["T-001"]],
      ["T-003", ["T-001"]],
      ["T-004", ["T-002", "T-003"]],
    ]);
  });

  test.each([
    ["an unknown dependency", [spec(1, [7])], "task 1 depends on task 7, which does not exist"],
    ["a doubled id", [spec(1), spec(1)], "task 1 is defined twice"],
    ["itself", [spec(1, [1])], "1 -> 1"],
    ["a circle", [spec(1), spec(2, [4]), spec(3, [2]), spec(4, [3])], "2 -> 4 -> 3 -> 2"],
    [
      "too many tasks",
      Array.from({ length: limits.tasksPerRun + 1 }, (_, i) => spec(i + 1)),
      `at most ${limits.tasksPerRun}`,
    ],
  ] as const)("%s is ANT_PLAN_INVALID and names the tasks at fault", (_name, tasks, words) => {
    const attempt = () => planTasks(intentOf("x", { tasks: [...tasks] }), "BUILD");
    expect(attempt).toThrow(
      expect.objectContaining({ code: "ANT_PLAN_INVALID", detail: expect.stringContaining(words) as string }),
    );
  });

  test("a long chain of tasks is planned", () => {
    const chain = Array.from({ length: limits.tasksPerRun }, (_, i) => spec(i + 1, i === 0 ? [] : [i]));
    expect(planTasks(intentOf("x", { tasks: chain }), "BUILD").tasks).toHaveLength(limits.tasksPerRun);
  });
});

describe("a task of a plan", () => {
  const files = { allowed_files: ["src/**"], disallowed_files: ["src/x.ts"] };
  const acceptance_criteria = ["It looks good", { criterion: "It works", check: "make test" }];

  test("carries its files, and its criteria with the checks that decide them", () => {
    const [task] = planTasks(
      intentOf("x", { tasks: [{ ...spec(1), ...files, acceptance_criteria }] }),
      "BUILD",
    ).tasks;
    expect(task?.scope).toEqual(files);
    expect(task?.criteria).toEqual([
      { criterion: "It looks good", check: null },
      { criterion: "It works", check: "make test" },
    ]);
    expect(task?.task.verify_profile.commands).toEqual(["npm test", "make test"]);
    expect(task?.task.acceptance_criteria).toEqual(["It looks good", "It works (check: make test)"]);
  });

  test("waits for a task that may change the same files, and the contract says why", () => {
    const tasks = [1, 2].map((id) => ({ ...spec(id), ...files }));
    const routed = route(intentOf("Add dark mode", { tasks }));
    expect(routed.tasks.map(({ deps }) => deps)).toEqual([[], ["T-001"]]);
    expect(routed.contract.tasks[1]?.dependencies).toEqual([1]);
    expect(routed.contract.memory_notes).toMatch(/\nT-002 waits for T-001: both may change src\/\*\*$/);
    expect(validate("journal.routed", recordOf(routed))).toMatchObject({ ok: true });
  });
});

describe("the one task of a run", () => {
  const of = (options: Partial<RunOptions>, workflow: "PLAN" | "REVIEW" | "BUILD") =>
    planTasks(intentOf("x", options), workflow).tasks[0]?.task;

  test.each([
    ["PLAN", "plan.yaml"],
    ["REVIEW", "findings.json"],
  ] as const)("of a %s run has to leave %s, and its checks do not decide", (workflow, file) => {
    const task = of({}, workflow);
    expect(task?.return.artifacts).toEqual([file]);
    expect(task?.allowed_tools).toContain("write_file");
    expect(task?.acceptance_criteria[0]).toContain(file);
    expect(task?.verify_profile).toEqual({ mode: "none", commands: ["npm test"] });
    expect(validate("DirectorTask", task).ok).toBe(true);
  });

  test("leaves nothing if its agent does nothing, if the caller gave the tasks, or if it changes files", () => {
    expect(of({ agent: { kind: "scripted", commands: [] } }, "REVIEW")?.verify_profile.mode).toBe("smoke");
    expect(of({ agent: { kind: "scripted" } }, "PLAN")?.return.artifacts).toEqual([]);
    expect(of({ tasks: [spec(1)] }, "PLAN")?.return.artifacts).toEqual([]);
    expect(of({}, "BUILD")?.return.artifacts).toEqual([]);
  });
});

describe("route", () => {
  test("the router contract opens with the request, word for word", () => {
    const goal = "Add error handling,\n and  keep the spaces";
    const routed = route(intentOf(goal, { tasks: DIAMOND }));
    expect(routed.contract).toEqual({
      status: "IN_PROGRESS",
      workflow: "BUILD",
      intent: goal,
      tasks: DIAMOND.map(({ id, description, dependencies }) => ({
        id,
        description,
        status: "PENDING",
        dependencies,
      })),
      memory_notes: expect.stringMatching(
        /^Workflow by the classifier tier, (?:un)?sure, confidence 0\.\d+: decided by ".*; otherwise [A-Z]+ 0/,
      ) as string,
      next_action: "Start with Task 1",
    });
    expect(validate("RouterContract", { router_contract: routed.contract }).ok).toBe(true);
    expect(validate("journal.routed", recordOf(routed))).toMatchObject({ ok: true });
  });

  test("the contract of an unsure decision says how to choose another workflow, and that of a sure one does not", () => {
    const notes = (goal: string): string => route(intentOf(goal, {})).contract.memory_notes;
    expect(notes("x y")).toContain("run the goal again with `--workflow`");
    expect(notes("/review x y")).not.toContain("--workflow");
  });

  test("router/R3: a circular graph is routed as BLOCKED, without a task and with the reason", () => {
    const routed = route(intentOf("Add dark mode", { tasks: [spec(1, [2]), spec(2, [1])] }));
    expect(routed.tasks).toEqual([]);
    expect(routed.reason).toContain("1 -> 2 -> 1");
    expect(routed.contract).toMatchObject({ status: "BLOCKED", tasks: [], intent: "Add dark mode" });
    expect(routed.contract.next_action).toContain("1 -> 2 -> 1");
    expect(validate("journal.routed", recordOf(routed))).toMatchObject({ ok: true });
  });

  test.each([
    ["256 tasks of one short sentence, one check", 256, ["npm test"]],
    ["120 tasks of 20 short checks", 120, Array.from({ length: 20 }, (_, i) => `npm run check-${i}`)],
  ])(
    "router/R3: a plan larger than one record is routed as BLOCKED, with the way to mend it: %s",
    (_name, n, checks) => {
      const description = "Move the handler of this page into a file of its own, with a test";
      const tasks = Array.from({ length: n }, (_, i) => ({ ...spec(i + 1), description }));
      const agent = { kind: "command" as const, argv: ["sh", "-c", "agent --edit --quiet"] };
      const routed = route(intentOf("Add dark mode", { tasks, checks, agent }));
      expect(routed.tasks).toEqual([]);
      expect(routed.contract).toMatchObject({ status: "BLOCKED", tasks: [] });
      expect(routed.reason).toMatch(
        new RegExp(
          `^no plan: a plan of ${n} tasks takes \\d+ bytes .* ${recordBodyBytes}; give the run fewer`,
        ),
      );
      expect(validate("journal.routed", recordOf(routed))).toMatchObject({ ok: true });
    },
  );

  test("a routed body always fits its record, and a plan that fits is not refused", () => {
    const sizes = [1, 60, 120, 180, 220, 240, limits.tasksPerRun];
    const planned = sizes.map((n) => {
      const description = "Move the handler of this page into a file of its own, with a test";
      const tasks = Array.from({ length: n }, (_, i) => ({ ...spec(i + 1), description }));
      const routed = route(intentOf("Add dark mode", { tasks, checks: ["npm test", "npm run lint"] }));
      expect(bodyBytes(routed)).toBeLessThanOrEqual(recordBodyBytes);
      return routed.tasks.length;
    });
    expect(planned.slice(0, 4)).toEqual(sizes.slice(0, 4));
    expect(planned.at(-1)).toBe(0);
  });

  test("the workflow the caller chose is the contract's workflow", () => {
    const routed = route(intentOf("Fix the crash", { workflow: "PLAN" }));
    expect(routed).toMatchObject({ workflow: "PLAN", confidence: 1, reason: "given by the caller" });
    expect(routed.contract.workflow).toBe("PLAN");
  });

  test("router/R1: the same intent is routed the same way", () => {
    expect(route(intentOf("Fix it"))).toEqual(route(intentOf("Fix it")));
  });
});

test("a task keeps its own network, tools and time within those of its run", () => {
  const egress = { mode: "git+pkg" as const, allowlist: [] };
  const none = { mode: "none" as const, allowlist: [] };
  const own = { egress_profile: none, allowed_tools: ["read_file"], time_budget_s: 60 };
  const tasks = [{ ...spec(1), ...own }, spec(2), { ...spec(3), time_budget_s: 9000 }];
  const { tasks: planned } = planTasks(intentOf("Fix it", { egress, tasks }), "BUILD");
  const [first, second, third] = planned.map(({ task }) => task);
  expect(first).toMatchObject({ egress_profile: none, allowed_tools: ["read_file"], time_budget_s: 60 });
  expect(second).toMatchObject({ egress_profile: egress, time_budget_s: 300 });
  expect(third?.time_budget_s).toBe(300);
  const open = planTasks(intentOf("Fix it", { tasks: [{ ...spec(1), egress_profile: egress }] }), "BUILD");
  expect(open.tasks[0]?.task.egress_profile).toEqual(none);
});
