import { describe, expect, test } from "vitest";
import { validate } from "../validation/validate.ts";
import { planDocuments } from "./plan-documents.ts";
import { planProblemText, readPlanText } from "./plan-text.ts";
import { readPlan } from "./read-plan.ts";

const contract = (id: string, more: object = {}) => ({
  id,
  objective: `do ${id}`,
  scope: { allowed_files: [], disallowed_files: [], allowed_tools: [], disallowed_tools: [] },
  verification_commands: [],
  acceptance_criteria: [],
  status: "done",
  ...more,
});
const directorTask = (task_id: string, more: object = {}) => ({
  task_id,
  kind: "edit_repo",
  instruction: `do ${task_id}`,
  acceptance_criteria: [],
  allowed_tools: ["bash"],
  return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
  ...more,
});

function planned(document: unknown) {
  const read = readPlan(document);
  if (!read.ok) throw new Error(JSON.stringify(read.problem));
  return read.plan;
}
function problemOf(document: unknown) {
  const read = readPlan(document);
  if (read.ok) throw new Error("was accepted");
  return read.problem;
}

describe("a plan", () => {
  test("in our own form keeps its numbers, files, criteria and goal", () => {
    const task = {
      id: 7,
      description: "Call it",
      dependencies: [3],
      allowed_files: ["src/**"],
      acceptance_criteria: [{ criterion: "It is called", check: "npm test" }],
    };
    expect(planned({ goal: "Dates", tasks: [{ id: 3, description: "Write it" }, task] })).toEqual({
      goal: "Dates",
      seedNetwork: null,
      tasks: [{ id: 3, description: "Write it", dependencies: [], allowed_files: [] }, task],
    });
  });

  test("as task contracts keeps the tools of a task that has not all of ours, and leaves foreign ones out", () => {
    const of = (...allowed_tools: string[]) =>
      planned(contract("T-001", { scope: { ...contract("").scope, allowed_tools } })).tasks[0]?.allowed_tools;
    expect(of("read_file", "edit_file")).toEqual(["read_file", "edit_file"]);
    expect(of("read_file", "write_file", "edit_file", "bash", "git_checkpoint")).toBeUndefined();
    expect(of("Read", "Bash")).toBeUndefined();
    expect(of()).toBeUndefined();
  });

  test("as a TaskPlan or a Plan.v0 is numbered in its order", () => {
    const nodes = [
      { id: "parse", title: "Write the parser", dependsOn: [], tags: [] },
      { id: "page", title: "Call it", dependsOn: ["parse"], tags: ["ui"] },
    ];
    expect(planned({ nodes }).tasks).toMatchObject([
      { id: 1, description: "Write the parser", dependencies: [] },
      { id: 2, description: "Call it", dependencies: [1] },
    ]);
    const kinds = ["compute", "io", "decision"].map((kind, i) => ({ id: `n${i}`, kind, deps: [] }));
    expect(planned({ nodes: kinds }).tasks.map(({ kind }) => kind)).toEqual(["edit_repo", "run", "inspect"]);
  });

  test("as an open router contract keeps the request", () => {
    const tasks = [{ id: 1, description: "a", status: "PENDING", dependencies: [] }];
    const router = {
      status: "IN_PROGRESS",
      workflow: "BUILD",
      intent: "Do a",
      tasks,
      memory_notes: "",
      next_action: "",
    };
    expect(planned({ router_contract: router })).toMatchObject({
      goal: "Do a",
      tasks: [{ id: 1, description: "a" }],
    });
  });

  test("as task contracts keeps files, checks, criteria and order, and starts anew", () => {
    const scope = {
      allowed_files: ["src/**"],
      disallowed_files: ["src/x.ts"],
      allowed_tools: [],
      disallowed_tools: [],
    };
    const fields = {
      verification_commands: ["npm test"],
      acceptance_criteria: ["npm test passes"],
      depends_on: ["T-004"],
    };
    expect(planned([contract("T-004"), contract("T-009", { scope, ...fields })]).tasks).toEqual([
      { id: 4, description: "do T-004", dependencies: [], allowed_files: [] },
      {
        ...{ id: 9, description: "do T-009", dependencies: [4], checks: ["npm test"] },
        ...{
          acceptance_criteria: ["npm test passes"],
          allowed_files: ["src/**"],
          disallowed_files: ["src/x.ts"],
        },
      },
    ]);
    expect(planned(contract("T-001")).tasks).toHaveLength(1);
    expect(planned(contract("T-001", { image: "team/go:1" })).tasks).toMatchObject([{ image: "team/go:1" }]);
  });

  test("as task contracts names no criteria that nobody had named, unless they are other words by now", () => {
    const criteria = (acceptance_criteria: string[], more: object = { default_criteria: true }) =>
      planned(contract("T-001", { verification_commands: ["npm test"], acceptance_criteria, ...more }))
        .tasks[0]?.acceptance_criteria;
    expect(criteria(["npm test passes"])).toBeUndefined();
    expect(criteria(["npm test passes", "It is fast"])).toEqual(["npm test passes", "It is fast"]);
    expect(criteria(["npm test passes"], {})).toEqual(["npm test passes"]);
  });

  test("as DirectorTasks runs their commands and checks", () => {
    const task = directorTask("task-a", {
      commands: ["make"],
      verify_profile: { mode: "smoke", commands: ["make test"] },
    });
    expect(planned(task).tasks).toEqual([
      {
        ...{ id: 1, description: "do task-a", dependencies: [], kind: "edit_repo", checks: ["make test"] },
        ...{ agent: { kind: "scripted", commands: ["make"] }, allowed_files: [], allowed_tools: ["bash"] },
      },
    ]);
  });

  test("as DirectorTasks keeps the network and the time that it names, and says who leaves the network to the seed", () => {
    const egress_profile = { mode: "allowlist", allowlist: ["a.test"] } as const;
    const named = directorTask("task-a", { egress_profile, time_budget_s: 60 });
    expect(planned(named)).toMatchObject({ tasks: [{ egress_profile, time_budget_s: 60 }], seedNetwork: [] });
    const open = planned([
      directorTask("task-b"),
      directorTask("task-c", { egress_profile: {} }),
      directorTask("task-d", { egress_profile: { mode: "none" } }),
      directorTask("task-e", { kind: "git", git_action: "git_status" }),
    ]);
    expect(open.seedNetwork).toEqual([1, 2]);
    expect(open.tasks[0]).not.toHaveProperty("egress_profile");
    expect(open.tasks[0]).not.toHaveProperty("time_budget_s");
  });

  test("in every other form leaves the network to its run, and a task contract may name one", () => {
    const egress_profile = { mode: "git+pkg", allowlist: ["a.test"] };
    const own = planned(contract("T-001", { egress_profile }));
    expect(own).toMatchObject({ tasks: [{ egress_profile }], seedNetwork: null });
    for (const one of [
      contract("T-001"),
      { tasks: [{ id: 1, description: "a" }] },
      { nodes: [{ id: "a", title: "a", dependsOn: [], tags: [] }] },
      { nodes: [{ id: "a", kind: "compute", deps: [] }] },
    ]) {
      expect(planned(one).seedNetwork).toBeNull();
      expect(planned(one).tasks[0]).not.toHaveProperty("egress_profile");
    }
  });

  test("with git tasks keeps their verbs and what they go back to, in each form that can say so", () => {
    const back = { kind: "git", git_action: "git_reset" } as const;
    const own = [
      { id: 1, description: "a" },
      { id: 2, description: "b", dependencies: [1] },
      { id: 3, description: "c", dependencies: [2], ...back, base_ref: "1" },
      { id: 4, description: "d", ...back },
    ];
    const third = { ...back, base_ref: "T-001", dependencies: [2] };
    expect(planned({ tasks: own }).tasks).toMatchObject([{}, {}, third, { id: 4, ...back }]);
    const contracts = [
      contract("T-001"),
      contract("T-002", { depends_on: ["T-001"], kind: "inspect" }),
      contract("T-003", { depends_on: ["T-002"], ...back, base_ref: "T-001" }),
    ];
    expect(planned(contracts).tasks).toMatchObject([{}, { kind: "inspect" }, third]);
    const directed = [
      directorTask("make"),
      directorTask("undo", { ...back, base_ref: "make" }),
      directorTask("all", { ...back }),
      directorTask("look", { kind: "git", git_action: "git_status", base_ref: "refs/heads/main" }),
    ];
    expect(planned(directed).tasks).toMatchObject([
      {},
      { ...back, base_ref: "T-001", dependencies: [1] },
      { ...back, base_ref: "base", dependencies: [] },
      { kind: "git", git_action: "git_status" },
    ]);
    expect(planDocuments(planned(contracts)).plan.nodes.map(({ kind }) => kind)).toEqual([
      "compute",
      "decision",
      "io",
    ]);
  });

  test("goes back to the base of the run by that word, also where a task is called so", () => {
    const back = { kind: "git", git_action: "git_reset", base_ref: "base" } as const;
    const named = { ...back, dependencies: [] };
    expect(planned([directorTask("base"), directorTask("undo", back)]).tasks[1]).toMatchObject(named);
    const own = [contract("base"), contract("undo", back)];
    expect(planned(own).tasks[1]).toMatchObject(named);
  });

  test.each([
    ["another document", { a: 1 }, ""],
    ["no list", { tasks: 3 }, "/tasks"],
    ["no task", { tasks: [] }, "/tasks"],
    ["no description", { tasks: [{ id: 1 }] }, "/tasks/0/description"],
    ["a doubled id", { tasks: [1, 1].map((id) => ({ id, description: "a" })) }, "/tasks/1/id"],
    ["an unknown dependency", { nodes: [{ id: "a", kind: "io", deps: ["z"] }] }, "/nodes/0/deps/0"],
    [
      "a circle of contracts",
      [contract("T-1", { depends_on: ["T-2"] }), contract("T-2", { depends_on: ["T-1"] })],
      "/tasks",
    ],
    ["an approval of nothing", { nodes: [{ id: "a", kind: "approval", deps: [] }] }, "/nodes/0/deps"],
    [
      "a tool that there is not",
      { tasks: [{ id: 1, description: "a", allowed_tools: ["bash", "reed_file"] }] },
      "/tasks/0/allowed_tools",
    ],
    [
      "a DirectorTask with such a tool",
      directorTask("t", { allowed_tools: ["x"] }),
      "/tasks/0/allowed_tools",
    ],
    ["an image without a name", { tasks: [{ id: 1, description: "a", image: "" }] }, "/tasks/0/image"],
    [
      "a git task without a verb",
      { tasks: [{ id: 1, description: "a", kind: "git" }] },
      "/tasks/0/git_action",
    ],
    [
      "an unknown verb of git",
      { tasks: [{ id: 1, description: "a", kind: "git", git_action: "git_push" }] },
      "/tasks/0/git_action",
    ],
    [
      "a verb of git for an agent",
      { tasks: [{ id: 1, description: "a", git_action: "git_status" }] },
      "/tasks/0/git_action",
    ],
    [
      "a git task with an agent",
      directorTask("t", { kind: "git", git_action: "git_status", commands: ["make"] }),
      "/tasks/0/agent",
    ],
    [
      "a ref of the repository",
      directorTask("t", { kind: "git", git_action: "git_reset", base_ref: "main" }),
      "/tasks/0/base_ref",
    ],
    [
      "a ref to a task that need not be done first",
      {
        tasks: [
          { id: 1, description: "a" },
          { id: 2, description: "b", kind: "git", git_action: "git_reset", base_ref: "T-001" },
        ],
      },
      "/tasks/1/base_ref",
    ],
    [
      "a ref where none is gone back to",
      { tasks: [{ id: 1, description: "a", kind: "git", git_action: "git_status", base_ref: "base" }] },
      "/tasks/0/base_ref",
    ],
    ["an empty title and id", { nodes: [{ id: "", title: "", dependsOn: [], tags: [] }] }, "/nodes/0/id"],
    ["too many contracts", Array.from({ length: 300 }, (_, i) => contract(`T-${i + 1}`)), "/tasks"],
    [
      "the contract of a run that is over",
      {
        router_contract: {
          ...{ status: "BLOCKED", workflow: "BUILD", tasks_completed: 0, tasks_total: 1 },
          ...{ evidence: [], next_action: "none" },
        },
      },
      "/router_contract",
    ],
  ])("with %s is refused with its place", (_name, document, path) => {
    expect(problemOf(document).path).toBe(path);
  });

  test("with an unknown tool or an empty image is refused in words that say what to write", () => {
    const task = { id: 1, description: "a" };
    expect(problemOf({ tasks: [{ ...task, allowed_tools: ["reed_file"] }] })).toMatchObject({
      ...{ message: "there is no such tool", found: '"reed_file"' },
      expected: "read_file, write_file, edit_file, bash, git_checkpoint",
    });
    expect(problemOf({ tasks: [{ ...task, image: "" }] })).toMatchObject({
      message: "must not be empty",
      expected: "a text that is not empty",
    });
  });

  test("is refused in few words, however long its own are", () => {
    const long = "x".repeat(100_000);
    const nodes = [{ id: "a", kind: "io", deps: [long] }];
    expect(JSON.stringify(problemOf({ nodes })).length).toBeLessThan(3000);
  });

  test("is not written to", () => {
    const given = [directorTask("a")];
    const before = JSON.stringify(given);
    readPlan(given);
    expect(JSON.stringify(given)).toBe(before);
  });
});

describe("the text of a plan", () => {
  test("is refused with line and column", () => {
    const read = readPlanText("tasks:\n  - id: 1\n    description: a\n    dependencies: [5]\n", "p.yaml");
    expect(read.ok ? "" : planProblemText("p.yaml", read.problem)).toBe(
      "p.yaml:4:20: /tasks/0/dependencies/0: `1` depends on `5`, which does not exist; expected one of: 1, found 5",
    );
    const none = readPlanText("tasks: []\n", "p.yaml");
    expect(none.ok ? "" : planProblemText("p.yaml", none.problem)).toBe(
      "p.yaml:1:1: /tasks: must not be empty; expected a list of 1 or more, found a list of 0",
    );
    const list = readPlanText("- id: 1\n  description: ''\n", "p.yaml");
    expect(list.ok ? null : list.problem).toMatchObject({ line: 2, path: "/tasks/0/description" });
    expect(readPlanText("a: *b\n", "p.yaml").ok).toBe(false);
  });
});

test("a plan in the words of the seeds is valid, and comes back in", () => {
  const plan = planned({
    tasks: [
      { id: 1, description: "a" },
      { id: 2, description: "b", dependencies: [1], kind: "run" },
    ],
  });
  const documents = planDocuments(plan);
  expect(validate("TaskPlan", documents.taskPlan).ok).toBe(true);
  expect(validate("Plan", documents.plan).ok).toBe(true);
  for (const one of [documents.taskPlan, documents.plan])
    expect(planned(one).tasks.map(({ id, dependencies }) => [id, dependencies])).toEqual([
      [1, []],
      [2, [1]],
    ]);
});
