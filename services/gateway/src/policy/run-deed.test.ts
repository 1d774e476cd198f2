import { describe, expect, it } from "vitest";
import type { Intent, PolicyProfile } from "@antiphon/contracts";
import { judgeDeed } from "./policy.ts";
import { boundsOf, runDeed, withinBudgets } from "./run-deed.ts";
import { runOptionsOf } from "../intents/run-options.ts";

const profile = (more: Partial<PolicyProfile>): PolicyProfile => ({
  name: "p",
  protectedBranches: ["main"],
  requireTestsBeforePush: false,
  requireApprovalForPush: false,
  allowedWorkItemTransitions: [],
  ...more,
});
const intent = (inputs: object = {}, constraints: object = {}): Intent => ({
  goal: "g",
  inputs: { repo: "/srv/app", agent: { kind: "scripted", commands: ["true"] }, ...inputs },
  constraints: { ...constraints },
});
const ruleOf = (one: Intent, says: Partial<PolicyProfile>, landRef: string | null = null): string | null => {
  const options = withinBudgets(runOptionsOf(one), one, [profile(says)]);
  return judgeDeed(runDeed(options, landRef), profile(says))?.rule ?? null;
};

describe("a run under a policy", () => {
  it("is judged by the branch that really moves, not only by the given name", () => {
    expect(ruleOf(intent({ land_on: "stable" }), {}, "refs/heads/stable")).toBeNull();
    expect(ruleOf(intent({ land_on: "stable" }), {}, "refs/heads/main")).toBe("protectedBranches");
  });

  it("moves a branch that needs an approval if people approve its changes before they land", () => {
    const says = { requireApprovalForPush: true };
    expect(ruleOf(intent({ land_on: "topic" }), says)).toBe("requireApprovalForPush");
    expect(ruleOf(intent({ land_on: "topic" }, { approvals: { needed: 1 } }), says)).toBeNull();
  });

  it("counts as untested only if one of its tasks edits files", () => {
    const grant = { allow_unverified: true };
    const says = { requireTestsBeforePush: true };
    expect(ruleOf(intent({ workflow: "REVIEW" }, grant), says)).toBeNull();
    const tasks = [{ id: 1, description: "t", dependencies: [], kind: "edit_repo" }];
    expect(ruleOf(intent({ workflow: "REVIEW", tasks }, grant), says)).toBe("requireTestsBeforePush");
    expect(ruleOf(intent({}, { allow_unproven: true }), says)).toBe("requireTestsBeforePush");
  });

  it("gets the profile's bounds for budgets it leaves open, and is judged by those it names", () => {
    const says = { maxAttempts: 2, maxTimeBudgetS: 60, maxRunTimeBudgetS: 600, maxModelTokens: 50 };
    const open = intent({}, { model_budget: { usd_micro: 5 } });
    expect(
      withinBudgets(runOptionsOf(open), open, [profile(says), profile({ maxAttempts: 1 })]),
    ).toMatchObject({
      max_attempts: 1,
      time_budget_s: 60,
      run_time_budget_s: 600,
      model_budget: { usd_micro: 5, tokens: 50 },
    });
    expect(ruleOf(intent({}, { time_budget_s: 61 }), says)).toBe("maxTimeBudgetS");
    expect(ruleOf(intent({}, { model_budget: {} }), { allowModels: false })).toBeNull();
  });

  it("narrows the budgets that a fork has from another run, with the time of its tasks, and is judged by its own", () => {
    const says = { maxAttempts: 2, maxTimeBudgetS: 60, maxModelTokens: 50, maxModelUsdMicro: 5 };
    const inherited = ["max_attempts", "time_budget_s", "model_budget"];
    const point = { run: "run_4f0c2k9s0x7d2m1q8z3a", task: "T-001", epoch: 1, calls: 0, feedback: [] };
    const constraints = { max_attempts: 9, time_budget_s: 900, model_budget: { usd_micro: 9 } };
    const tasks = [
      { id: 1, description: "t", dependencies: [], time_budget_s: 300 },
      { id: 2, description: "t", dependencies: [1], time_budget_s: 30 },
      { id: 3, description: "t", dependencies: [2] },
    ];
    const fork = (own: readonly string[]): Intent =>
      intent({ tasks, fork: { ...point, inherited: own } }, constraints);
    const narrowed = withinBudgets(runOptionsOf(fork(inherited)), fork(inherited), [profile(says)]);
    expect(narrowed).toMatchObject({
      ...{ max_attempts: 2, time_budget_s: 60, model_budget: { usd_micro: 5, tokens: 50 } },
      tasks: [{ time_budget_s: 60 }, { time_budget_s: 30 }, { id: 3 }],
    });
    expect(narrowed.tasks?.[2]).not.toHaveProperty("time_budget_s");
    expect(ruleOf(fork(inherited), says)).toBeNull();
    expect(ruleOf(fork(["max_attempts", "time_budget_s"]), says)).toBe("maxModelUsdMicro");
    expect(ruleOf(fork(["max_attempts", "model_budget"]), says)).toBe("maxTimeBudgetS");
    const wide = withinBudgets(runOptionsOf(fork(inherited)), fork(inherited), [profile({})]);
    expect(wide).toMatchObject(constraints);
  });

  it("names no agent that the profile does not allow, also not as its judge", () => {
    const says = { allowedAgents: ["scripted", "command"] };
    const judged = (kind: object): Intent => intent({ gates: { skills: ["reviewer"], agent: kind } });
    expect(ruleOf(judged({ kind: "command", argv: ["judge"] }), says)).toBeNull();
    expect(ruleOf(judged({ kind: "replay", seed: "s" }), says)).toBe("allowedAgents");
  });

  it("may be granted the profile's patterns literally or a path within them, but no wider pattern", () => {
    const says = { allowedGrants: ["test/**"] };
    expect(ruleOf(intent({ grants: ["test/**", "test/deep/a.js"] }), says)).toBeNull();
    for (const grant of ["**", "test/../src/a.js*", "{test,src}/**", "src/a.js", "test*/**"])
      expect([grant, ruleOf(intent({ grants: [grant] }), says)]).toEqual([grant, "allowedGrants"]);
    expect(ruleOf(intent({ grants: ["a"] }), { allowedGrants: [] })).toBe("allowedGrants");
  });

  it("passes the narrowest bounds of all profiles to the Director", () => {
    const one = profile({
      maxFilesPerCommit: 5,
      protectedPaths: ["a"],
      requireProof: "fail-to-pass",
      minTrials: 4,
    });
    const two = profile({
      name: "q",
      maxFilesPerCommit: 3,
      maxLinesPerCommit: 9,
      protectedPaths: ["a", "b"],
      requireProof: "regression",
      minTrials: 9,
    });
    expect(boundsOf([one, two])).toEqual({
      profiles: ["p", "q"],
      max_files: 3,
      max_lines: 9,
      protected_paths: ["a", "b"],
      require_proof: "fail-to-pass",
      min_trials: 9,
    });
  });

  it("demand no use of the sources only if every profile says so, since each one holds", () => {
    const lifted = profile({ name: "p", requireProof: "nothing" });
    const said = (...all: (typeof lifted)[]): unknown => boundsOf(all).require_proof;
    expect(said(lifted)).toBe("nothing");
    expect(said(lifted, profile({ name: "q" }))).toBeUndefined();
    expect(said(lifted, profile({ name: "q", requireProof: "regression" }))).toBe("regression");
    expect(said()).toBeUndefined();
  });

  it("tell whether a run may bring its own judge, which every profile has to allow", () => {
    const free = profile({ name: "p", ownJudges: true });
    expect(boundsOf([free])).toMatchObject({ own_judges: true });
    expect(boundsOf([free, profile({ name: "q" })])).not.toHaveProperty("own_judges");
  });
});
