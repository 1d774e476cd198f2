import { describe, expect, test } from "vitest";
import { briefRoom, budgetMsOf, factsOf, planJob } from "./attempt.ts";
import type { DispatchBody } from "@antiphon/contracts";
import type { PreparedWork } from "../ports.ts";
import { dispatchOf, output } from "../testing/dispatch.fixture.ts";

function input({
  dispatch = dispatchOf(),
  probeTools = false,
  ...work
}: { dispatch?: DispatchBody; probeTools?: boolean } & Partial<PreparedWork> = {}): Parameters<
  typeof planJob
> {
  const steps = [{ command: "echo hi", argv: ["sh", "-c", "echo hi"] }];
  return [
    { runId: "run_1", epoch: 2, dispatch },
    { steps, selfVerify: true, ...work },
    { brief: '{"goal":"x"}', budgetMs: 60_000, probeTools },
  ];
}

describe("planJob", () => {
  test("the work comes first and stops at a failure; all checks run", () => {
    const { steps, collectAfter } = planJob(...input());
    expect(steps.map(({ id, continueOnFailure }) => [id, continueOnFailure])).toEqual([
      ["work-1", false],
      ["check-1", true],
    ]);
    expect(collectAfter).toBe("work-1");
    expect(steps[1]?.argv).toEqual(["sh", "-c", "sh check.sh"]);
  });

  test("every command of the work gets the brief on stdin and in its environment", () => {
    const [work, check] = planJob(...input()).steps;
    expect(work?.stdin).toBe('{"goal":"x"}');
    expect(work?.env).toEqual({
      ANTIPHON_RUN: "run_1",
      ANTIPHON_TASK_ID: "T-001",
      ANTIPHON_EPOCH: "2",
      ANTIPHON_TASK: '{"goal":"x"}',
    });
    expect(check?.stdin).toBeUndefined();
    expect(check?.env["ANTIPHON_TASK"]).toBeUndefined();
  });

  test("the message of the agent's commit is asked for where the sandbox has a repository", () => {
    const history = { object: "history-x.tar", commits: 50, cut: false, bytes: 1 };
    const { steps, collectAfter } = planJob(...input({ dispatch: dispatchOf({ history }) }));
    expect(steps.map(({ id }) => id)).toEqual(["work-1", "commit-message", "check-1"]);
    expect([collectAfter, steps[1]?.continueOnFailure]).toEqual(["work-1", true]);
    expect(steps[1]?.argv.at(-1)).toBe("a".repeat(40));
    expect(
      planJob(...input({ dispatch: dispatchOf({ history }), steps: [] })).steps.map(({ id }) => id),
    ).toEqual(["check-1"]);
  });

  test("a program is told where to leave a question, which is looked for before anything else", () => {
    const dispatch = dispatchOf({ history: { object: "history-x.tar", commits: 5, cut: false, bytes: 1 } });
    const { steps, collectAfter } = planJob(...input({ dispatch, isProgram: true }));
    expect(steps.map(({ id }) => id)).toEqual([
      "programs",
      "work-1",
      "question",
      "commit-message",
      "check-1",
    ]);
    expect(collectAfter).toBe("work-1");
    expect(steps[1]?.env["ANTIPHON_QUESTION_FILE"]).toBe(steps[2]?.argv.at(-1));
    expect(planJob(...input({ isProgram: true, steps: [] })).steps.map(({ id }) => id)).toEqual(["check-1"]);
  });

  test("an agent that vouches for itself runs no check", () => {
    expect(planJob(...input({ selfVerify: false })).steps.map((step) => step.id)).toEqual(["work-1"]);
  });

  test("mode none runs no check", () => {
    const dispatch = dispatchOf();
    dispatch.task.verify_profile.mode = "none";
    expect(planJob(...input({ dispatch })).checks).toEqual([]);
  });

  test("a job without work and checks has no step, not even the probe of tools", () => {
    const { steps, collectAfter } = planJob(...input({ steps: [], selfVerify: false, probeTools: true }));
    expect([steps, collectAfter]).toEqual([[], null]);
  });

  test("the probe of tools comes last and cannot fail the job", () => {
    const tools = planJob(...input({ probeTools: true })).steps.at(-1);
    expect(tools).toMatchObject({ id: "tools", continueOnFailure: true });
  });

  test("the briefs of all steps together fit one request", () => {
    for (const steps of [0, 1, 8, 64]) expect(briefRoom(steps) * 2 * steps).toBeLessThanOrEqual(512 * 1024);
    expect(briefRoom(1)).toBeLessThan(128 * 1024);
  });
});

describe("factsOf", () => {
  test("outcomes are matched to commands by id, and steps that did not run are left out", () => {
    const named = [
      { id: "work-1", command: "a" },
      { id: "work-2", command: "b" },
    ];
    const outcome = {
      id: "work-1",
      exitCode: 3,
      timedOut: false,
      durationMs: 1,
      stdout: output("x"),
      stderr: output(""),
    };
    expect(factsOf(named, [outcome]).map(({ command, exitCode }) => [command, exitCode])).toEqual([["a", 3]]);
  });
});

test("the budget of an attempt is the task's, in milliseconds", () => {
  expect(budgetMsOf(dispatchOf())).toBe(60_000);
});
