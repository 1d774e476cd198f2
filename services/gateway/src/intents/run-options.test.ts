import { AntiphonError, MATERIAL } from "@antiphon/contracts";
import type { Intent } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { LISTING_AGENT } from "./connector-choice.ts";
import { runOptionsOf } from "./run-options.ts";

const agent = { kind: "scripted", commands: ["true"] };
const minimal = { repo: "/srv/app", agent };
const intent = (inputs: Record<string, unknown>, constraints: Record<string, unknown> = {}): Intent => ({
  goal: "x",
  inputs,
  constraints,
});

function refusal(inputs: Record<string, unknown>, constraints: Record<string, unknown> = {}): AntiphonError {
  try {
    runOptionsOf(intent(inputs, constraints));
  } catch (error) {
    if (error instanceof AntiphonError) return error;
  }
  throw new Error("was accepted");
}

describe("the options of a run, read from an intent", () => {
  it.each([
    ["approvals", { needed: 1 }, "/constraints/approvals"],
    ["Approval", { needed: 1 }, "/constraints/approvals"],
    ["scopes", ["src/**"], "scope"],
    ["landOn", "main", "land_on"],
    ["check", ["npm test"], "checks"],
  ])("refuse %s among the inputs, which would be passed over", (key, value, meant) => {
    const { code, detail, data } = refusal({ ...minimal, [key]: value });
    expect([code, data.path]).toEqual(["ANT_INTENT_OPTIONS", `/inputs/${key}`]);
    expect(detail).toContain(`did you mean ${meant}?`);
  });

  it("leave information of any other name alone", () => {
    const told = { language: "en", deadline: "Friday", context: { ticket: 12 } };
    expect(runOptionsOf(intent({ ...minimal, ...told }))).toEqual(runOptionsOf(intent(minimal)));
  });

  it("come from inputs and constraints, with defaults filled in", () => {
    const options = runOptionsOf(
      intent({ repo: "/src/app", agent, checks: ["npm test"] }, { max_attempts: 1 }),
    );
    expect(options).toMatchObject({
      repo: { name: "app", path: "/src/app" },
      checks: ["npm test"],
      max_attempts: 1,
      time_budget_s: 300,
      grants: [],
      allow_unverified: false,
    });
  });

  it("do not put a model host on the allowlist of a run that pays for its calls", () => {
    const budget = { model_budget: { usd_micro: 1_000_000 } };
    const allowing = (allowlist: string[]) => ({ egress: { mode: "allowlist", allowlist } });
    for (const host of ["api.openai.com", "API.OpenAI.com:443", "*.anthropic.com"]) {
      const { code, detail } = refusal(
        { repo: "/r", agent },
        { ...budget, ...allowing(["a.example", host]) },
      );
      expect([code, detail.includes("/constraints/egress/allowlist/1")]).toEqual([
        "ANT_INTENT_OPTIONS",
        true,
      ]);
      expect(runOptionsOf(intent({ repo: "/r", agent }, allowing([host]))).egress?.allowlist).toEqual([host]);
    }
    expect(
      runOptionsOf(intent({ repo: "/r", agent }, { ...budget, ...allowing(["a.example"]) })).egress,
    ).toBeDefined();
  });

  it("accept a RepoRef as well as a path", () => {
    expect(runOptionsOf(intent({ repo: { name: "n", path: "/a/b" }, agent })).repo).toEqual({
      name: "n",
      path: "/a/b",
    });
    expect(runOptionsOf(intent({ repo: { path: "/a/b" }, agent })).repo).toEqual({ name: "b", path: "/a/b" });
  });

  it.each([
    ["base_ref", ":/a|b"],
    ["base_ref", "HEAD~3"],
    ["base_ref", "--all"],
    ["base_ref", "main:file"],
    ["land_on", "a..b"],
    ["land_on", "x.lock"],
  ])("R1 name commits and branches, and hold no expression for git to evaluate: %s %s", (key, name) => {
    const error = refusal({ repo: "/src/app", agent, [key]: name });
    expect([error.code, error.data.path]).toEqual(["ANT_INTENT_OPTIONS", `/inputs/${key}`]);
  });

  it.each([
    "a b",
    "https://example.org/",
    "example.org/path",
    "*",
    "10.0.0.1",
    "a_b.org",
    "localhost",
    "x.org:0",
  ])("allow no host that has no name for the egress gateway: %s", (host) => {
    const error = refusal(
      { repo: "/a", agent },
      { egress: { mode: "allowlist", allowlist: ["a.org", host] } },
    );
    expect([error.code, error.data.path]).toEqual(["ANT_INTENT_OPTIONS", "/constraints/egress/allowlist/1"]);
    expect(error.detail).toContain(`such as example.org, *.example.org or example.org:8443; found "${host}"`);
  });

  it.each(["example.org", "EXAMPLE.org:8443", "*.example.org", "xn--bcher-kva.example"])(
    "allow a host by its name: %s",
    (host) => {
      const egress = { mode: "allowlist", allowlist: [host] };
      expect(runOptionsOf(intent({ repo: "/a", agent }, { egress })).egress).toEqual(egress);
    },
  );

  it.each([
    ["alternatives", ["{a,b}".repeat(10)]],
    ["alternatives", [`${"{".repeat(300)}a,b${"}".repeat(300)}`.repeat(1), `{${"a,".repeat(64)}b}`]],
    ["characters", Array.from({ length: 17 }, () => "*a".repeat(512))],
    ["characters", Array.from({ length: 5 }, () => `{${"a,".repeat(50)}b}${"*a".repeat(100)}`)],
  ])("R1 GL1 refuse globs that would take long to match: too many %s", (what, globs) => {
    for (const key of ["scope", "grants"]) {
      const error = refusal({ repo: "/src/app", agent, [key]: globs });
      expect([error.code, error.data.path]).toEqual(["ANT_INTENT_OPTIONS", `/inputs/${key}`]);
      expect(error.detail).toContain(what);
    }
  });

  it("accept any number of plain paths, because these cost nothing to match", () => {
    const scope = Array.from({ length: 256 }, (_, i) => `packages/${"x".repeat(900)}/${i}`);
    expect(runOptionsOf(intent({ repo: "/src/app", agent, scope })).scope).toEqual(scope);
  });

  it("leave unknown keys in inputs untouched", () => {
    expect(runOptionsOf(intent({ repo: "/a", agent, topics: ["infra"] }))).not.toHaveProperty("topics");
  });

  it("refuse a connector that a run cannot use, by name, instead of ignoring it", () => {
    const asked = { ...intent({ repo: "/src/app", agent }), connectors: ["git", "slack"] };
    expect(() => runOptionsOf(asked)).toThrow(
      expect.objectContaining({
        code: "ANT_INTENT_OPTIONS",
        data: { path: "/connectors/1" },
        detail: '/connectors/1: a run can use git, work-items, pull-requests, and no connector "slack"',
      }) as Error,
    );
    expect(runOptionsOf({ ...asked, connectors: ["git"] }).repo.path).toBe("/src/app");
    expect(() => runOptionsOf({ ...asked, connectors: ["work-items"] })).toThrow(
      expect.objectContaining({ code: "ANT_INTENT_OPTIONS", data: { path: "/connectors/0" } }) as Error,
    );
  });

  it("of an intent without a repository are those of a run that only reads", () => {
    const brief = runOptionsOf(intent({ topics: ["infra"] }));
    expect(brief).toMatchObject({ repo: MATERIAL, workflow: "PLAN", agent: LISTING_AGENT });
    expect(runOptionsOf(intent({ agent, projects: ["/a"] })).agent).toEqual(agent);
  });

  it.each([
    ["/inputs/land_on", { land_on: "main" }, {}],
    ["/inputs/tasks", { tasks: [] }, {}],
    ["/inputs/agent/patch", { agent: { kind: "scripted", patch: { files: [] } } }, {}],
    ["/constraints/approvals", {}, { approvals: { needed: 1 } }],
    ["/inputs/projects", { projects: [] }, {}],
    ["/inputs/projects/0", { projects: ["./a"] }, {}],
    ["/inputs/topics", { topics: [" "] }, {}],
  ])("refuse %s for a run that reads connectors", (path, inputs, constraints) => {
    const asked = { ...intent(inputs, constraints), connectors: ["work-items"] };
    expect(() => runOptionsOf(asked)).toThrow(
      expect.objectContaining({ code: "ANT_INTENT_OPTIONS", data: { path } }) as Error,
    );
  });

  it("refuse an unknown constraint", () => {
    expect(refusal({ repo: "/a", agent }, { max_atempts: 1 })).toMatchObject({
      code: "ANT_INTENT_OPTIONS",
      data: { path: "/constraints/max_atempts" },
    });
  });

  it("leave acceptance criteria to the Router: they are not an option of the run", () => {
    const criteria = { acceptance_criteria: ["the badge shows"] };
    expect(runOptionsOf(intent({ repo: "/a", agent }, criteria))).not.toHaveProperty("acceptance_criteria");
  });

  it.each(["the badge shows", [""], [3], ["x".repeat(2049)], Array.from({ length: 65 }, () => "x")])(
    "refuse acceptance criteria that no task contract can contain, %#",
    (acceptance_criteria) => {
      expect(refusal({ repo: "/a", agent }, { acceptance_criteria })).toMatchObject({
        code: "ANT_INTENT_OPTIONS",
        data: { path: "/constraints/acceptance_criteria" },
      });
    },
  );

  it.each([
    ["no repository, but a branch", { agent, land_on: "main" }, {}, "ANT_INTENT_NO_REPO", "/inputs/repo"],
    ["an empty one", { agent, repo: "", checks: ["x"] }, {}, "ANT_INTENT_NO_REPO", "/inputs/repo"],
    ["a relative path", { agent, repo: "./app" }, {}, "ANT_INTENT_OPTIONS", "/inputs/repo"],
    ["a repository that is a number", { agent, repo: 7 }, {}, "ANT_INTENT_OPTIONS", "/inputs/repo"],
    ["no agent", { repo: "/a" }, {}, "ANT_AGENT_MISSING", "/inputs/agent"],
    [
      "an unknown agent",
      { repo: "/a", agent: { kind: "magic" } },
      {},
      "ANT_AGENT_UNKNOWN",
      "/inputs/agent/kind",
    ],
    [
      "an unknown agent of a task",
      { repo: "/a", agent, tasks: [{ id: 1, description: "a", dependencies: [], agent: { kind: "magic" } }] },
      {},
      "ANT_AGENT_UNKNOWN",
      "/inputs/tasks/0/agent/kind",
    ],
    [
      "an agent given only by name",
      { repo: "/a", agent: "scripted" },
      {},
      "ANT_INTENT_OPTIONS",
      "/inputs/agent",
    ],
    [
      "checks that are not a list",
      { repo: "/a", agent, checks: "npm test" },
      {},
      "ANT_INTENT_OPTIONS",
      "/inputs/checks",
    ],
    [
      "an unknown workflow",
      { repo: "/a", agent, workflow: "FIX" },
      {},
      "ANT_INTENT_OPTIONS",
      "/inputs/workflow",
    ],
    [
      "too many attempts",
      { repo: "/a", agent },
      { max_attempts: 99 },
      "ANT_INTENT_OPTIONS",
      "/constraints/max_attempts",
    ],
    [
      "a budget that is a text",
      { repo: "/a", agent },
      { time_budget_s: "60" },
      "ANT_INTENT_OPTIONS",
      "/constraints/time_budget_s",
    ],
    [
      "text that is not a patch",
      { repo: "/a", agent: { kind: "scripted", patch: { files: [{ path: "x", diff: "hello" }] } } },
      {},
      "ANT_PATCH_MALFORMED",
      "/inputs/agent/patch/files/0/diff",
    ],
    [
      "an unknown agent that a task would be handed over to",
      { repo: "/a", agent, next_agents: [agent, { kind: "magic" }] },
      {},
      "ANT_AGENT_UNKNOWN",
      "/inputs/next_agents/1/kind",
    ],
    [
      "text that is not a patch of an agent after it",
      {
        repo: "/a",
        agent,
        next_agents: [{ kind: "scripted", patch: { files: [{ path: "x", diff: "hi" }] } }],
      },
      {},
      "ANT_PATCH_MALFORMED",
      "/inputs/next_agents/0/patch/files/0/diff",
    ],
  ])("R1 refuse %s with the path in the intent", (_what, inputs, constraints, code, path) => {
    expect(refusal(inputs, constraints)).toMatchObject({ code, data: { path } });
  });

  it("list the known agents", () => {
    expect(refusal({ repo: "/a", agent: { kind: "magic" } }).detail).toContain("scripted, command, replay");
  });

  it("hold the tasks of a plan in any of its forms", () => {
    const nodes = [{ id: "a", title: "Do a", dependsOn: [], tags: [] }];
    const options = runOptionsOf(intent({ repo: "/src/app", agent, plan: { nodes } }));
    expect(options.tasks).toEqual([{ id: 1, description: "Do a", dependencies: [], allowed_files: [] }]);
  });

  it.each([
    ["a circle", { tasks: [{ id: 1, description: "a", dependencies: [1] }] }, "/inputs/plan/tasks"],
    ["an unknown field", { tasks: [{ id: 1, description: "a", files: [] }] }, "/inputs/plan/tasks/0/files"],
    ["a fault in a list", [{ id: 1, description: "" }], "/inputs/plan/0/description"],
    ["another document", "plan.yaml", "/inputs/plan"],
  ])("G1 refuse a plan with %s, with its place", (_name, plan, path) => {
    const error = refusal({ repo: "/src/app", agent, plan });
    expect([error.code, error.data.path]).toEqual(["ANT_PLAN_INVALID", path]);
  });

  it("G1 refuse a plan beside tasks, and globs of a task that would take long to match", () => {
    const tasks = [{ id: 1, description: "a", dependencies: [] }];
    expect(refusal({ repo: "/src/app", agent, tasks, plan: { tasks } }).code).toBe("ANT_PLAN_INVALID");
    const slow = { ...tasks[0], allowed_files: ["{a,b}".repeat(10)] };
    expect(refusal({ repo: "/src/app", agent, tasks: [slow] }).data.path).toBe(
      "/inputs/tasks/0/allowed_files",
    );
  });
});
