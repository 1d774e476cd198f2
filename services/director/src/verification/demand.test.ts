import { openRun, replay, type RunState } from "@antiphon/run";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { mapCriteria, type PlannedTask } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { POLICY } from "../testing/directing.ts";
import { demandOf } from "./demand.ts";

const COMMIT = "d".repeat(40);

function task(id: string, check: string | null, deps: string[] = []): PlannedTask {
  const plan = planned(id, deps);
  const commands = check === null ? [] : [check];
  return { ...plan, task: { ...plan.task, verify_profile: { mode: "smoke", commands } } };
}
const deciding = (id: string, check: string): PlannedTask => ({
  ...task(id, check),
  criteria: [{ criterion: `${check} passes`, check }],
});

function runOf(
  tasks: PlannedTask[],
  proven: Record<string, "fail-to-pass" | "regression"> = {},
  workflow: "BUILD" | "DEBUG" = "DEBUG",
): RunState {
  const log = new RecordLog().opened(tasks, {}, workflow);
  for (const [id, proves] of Object.entries(proven)) {
    log.dispatched(id).claimed(id).reported(id, 1, "ok");
    log.judged(id, 1, { proves, commit: COMMIT }).landed(id, 1, COMMIT);
  }
  return replay(openRun(log.runId, POLICY), log.records).context;
}

function demands(run: RunState, by: "workflow" | "caller" = "workflow"): Record<string, string> {
  return Object.fromEntries(run.tasks.map((one) => [one.planned.task.task_id, demandOf(run, one)[by]]));
}

describe("director/D5: of a DEBUG run", () => {
  it("the one task has to prove the fix", () => {
    expect(demands(runOf([task("T-001", null)]))).toEqual({ "T-001": "fail-to-pass" });
  });

  it("the one change has to prove the fix, whatever is looked at before it", () => {
    const look = planned("T-001");
    const run = runOf([{ ...look, task: { ...look.task, kind: "inspect" } }, task("T-002", null)]);
    expect(demands(run)).toEqual({ "T-001": "nothing", "T-002": "fail-to-pass" });
  });

  it("a task that prepares has to prove nothing while another one may prove the fix", () => {
    const run = runOf([task("T-001", "npm test"), task("T-002", "npm test")]);
    expect(demands(run)).toEqual({ "T-001": "nothing", "T-002": "nothing" });
  });

  it("the last change has to prove the fix if none before it did", () => {
    const tasks = [task("T-001", "npm test"), task("T-002", "npm test")];
    expect(demands(runOf(tasks, { "T-001": "regression" }))["T-002"]).toBe("fail-to-pass");
    expect(demands(runOf(tasks, { "T-001": "fail-to-pass" }))["T-002"]).toBe("nothing");
  });

  it("a fix that a task behind it may have taken back does not count, unless its checks have passed again", () => {
    const after = (to: string, check: string): PlannedTask[] => {
      const last = task("T-002", check, ["T-001"]);
      const back = { kind: "git" as const, git_action: "git_reset" as const, base_ref: to };
      return [task("T-001", "npm test"), { ...last, task: { ...last.task, ...back } }];
    };
    const proven = { "T-001": "fail-to-pass" as const };
    expect(demands(runOf(after("base", "true"), proven))["T-002"]).toBe("fail-to-pass");
    expect(demands(runOf(after("base", "npm test"), proven))["T-002"]).toBe("nothing");
    expect(demands(runOf(after("T-001", "true"), proven))["T-002"]).toBe("nothing");
    const more = [...after("base", "true"), task("T-003", "npm test", ["T-002"])];
    const undone = runOf(more, { ...proven, "T-002": "regression" });
    expect(demands(undone)["T-003"]).toBe("fail-to-pass");
    const kept = [...after("T-001", "true"), task("T-003", "npm test", ["T-002"])];
    expect(demands(runOf(kept, { ...proven, "T-002": "regression" }))["T-003"]).toBe("nothing");
  });

  it("a task with a criterion that its own check decides has to prove that, and one with a shared check depends on it", () => {
    const own = runOf([deciding("T-001", "npm test"), deciding("T-002", "npm run e2e")]);
    expect(demands(own)).toEqual({ "T-001": "fail-to-pass", "T-002": "fail-to-pass" });
    const shared = runOf([deciding("T-001", "npm test"), deciding("T-002", "npm test")]);
    expect(demands(shared, "caller")).toEqual({ "T-001": "regression", "T-002": "regression" });
  });
});

describe("director/D5: of a BUILD run", () => {
  const build = (...tasks: PlannedTask[]) => demands(runOf(tasks, {}, "BUILD"), "caller");

  it("a task of a graph with a criterion that its own check decides has to fail without the change, as in DEBUG", () => {
    const own = build(deciding("T-001", "npm test"), deciding("T-002", "npm run e2e"));
    expect(own).toEqual({ "T-001": "fail-to-pass", "T-002": "fail-to-pass" });
  });

  it("a task whose check another one may have made pass, and the only change, have to depend on their checks", () => {
    const shared = build(deciding("T-001", "npm test"), deciding("T-002", "npm test"));
    expect(shared).toEqual({ "T-001": "regression", "T-002": "regression" });
    const look = planned("T-001");
    const inspects: PlannedTask = { ...look, task: { ...look.task, kind: "inspect" } };
    const only = build(inspects, deciding("T-002", "npm test"));
    expect(only).toEqual({ "T-001": "nothing", "T-002": "regression" });
  });

  const written = (id: string, check: string, ...words: string[]): PlannedTask => ({
    ...task(id, check),
    criteria: mapCriteria(words, [check]),
  });

  it("a task whose criteria only say that its check passes has to prove nothing, as one without criteria", () => {
    const only = build(written("T-001", "npm test", "npm test passes"), deciding("T-002", "npm run e2e"));
    expect(only).toEqual({ "T-001": "nothing", "T-002": "fail-to-pass" });
  });

  it("a check that the words of a criterion quote may pass before the task, and has to depend on it", () => {
    const moved = written("T-001", "npm test", "The parser is in two files, and `npm test` passes");
    const named = written("T-002", "npm run e2e", "npm run e2e passes", "It adds (check: npm run e2e)");
    expect(build(moved, named)).toEqual({ "T-001": "regression", "T-002": "fail-to-pass" });
    expect(demands(runOf([moved, named]))).toEqual({ "T-001": "nothing", "T-002": "fail-to-pass" });
  });

  it("a task with a criterion that no check decides has to depend on its check, whatever its other criteria say", () => {
    const open = written("T-001", "npm test", "npm test passes", "It looks better");
    expect(build(open, task("T-002", "npm test"))["T-001"]).toBe("regression");
  });

  it("a task that prepares has to prove nothing, and one that goes back has to depend on its checks", () => {
    const back = deciding("T-002", "npm run e2e");
    const reset = { kind: "git" as const, git_action: "git_reset" as const, base_ref: "base" };
    const goes = { ...back, task: { ...back.task, ...reset } };
    expect(build(task("T-001", "npm test"), goes)).toEqual({ "T-001": "nothing", "T-002": "regression" });
  });
});

describe("director/D5: the tests that a change brings", () => {
  const ownTests = (run: RunState): boolean[] => run.tasks.map((one) => demandOf(run, one).ownTests);

  it("have to fail without its sources, unless they may be those of a change before it", () => {
    const tasks = [task("T-001", null), task("T-002", null, ["T-001"]), task("T-003", null, ["T-002"])];
    expect(ownTests(runOf(tasks))).toEqual([true, true, true]);
    expect(ownTests(runOf(tasks, { "T-001": "regression" }))).toEqual([true, false, false]);
  });

  it("have to fail without its sources beside a change that it does not depend on, or after a look", () => {
    const look = planned("T-001");
    const after = task("T-002", null, ["T-001"]);
    const looks = runOf([{ ...look, task: { ...look.task, kind: "inspect" } }, after]);
    expect(ownTests(looks)).toEqual([false, true]);
    const apart = [task("T-001", null), task("T-002", null)];
    expect(ownTests(runOf(apart, { "T-001": "regression" }))).toEqual([true, true]);
  });
});

describe("director/D5: the sources of a change", () => {
  const sources = (run: RunState): boolean[] => run.tasks.map((one) => demandOf(run, one).sources);

  it("have to be used by its checks, in each workflow and in each task of a graph that changes files", () => {
    for (const workflow of ["BUILD", "DEBUG"] as const)
      expect(sources(runOf([task("T-001", null)], {}, workflow))).toEqual([true]);
    const look = planned("T-001");
    const looks = { ...look, task: { ...look.task, kind: "inspect" as const } };
    const tasks = [looks, task("T-002", "npm test", ["T-001"]), task("T-003", null, ["T-002"])];
    expect(sources(runOf(tasks, {}, "BUILD"))).toEqual([false, true, true]);
  });

  it("need not be used where they are those of an earlier commit, or where the policy says so", () => {
    const reset = { kind: "git" as const, git_action: "git_reset" as const, base_ref: "base" };
    const back = task("T-001", null);
    expect(sources(runOf([{ ...back, task: { ...back.task, ...reset } }], {}, "BUILD"))).toEqual([false]);
    const run = runOf([task("T-001", null)], {}, "BUILD");
    const { intent } = run.facts;
    if (intent === null) throw new Error("the run has an intent");
    const under = (require_proof: "nothing" | "regression"): RunState => ({
      ...run,
      facts: { ...run.facts, intent: { ...intent, policy: { profiles: ["p"], require_proof } } },
    });
    expect([sources(under("nothing")), sources(under("regression"))]).toEqual([[false], [true]]);
  });
});
