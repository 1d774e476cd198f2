import type { PlannedTask, RunOptions } from "@antiphon/contracts";
import { openRun, replay } from "@antiphon/run";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { describe, expect, it } from "vitest";
import { POLICY } from "../testing/directing.ts";
import { requireCriteria } from "./missing-criteria.ts";

const APPROVALS = { needed: 1 };

interface Task {
  readonly kind?: PlannedTask["task"]["kind"];
  readonly mode?: "smoke" | "none";
  readonly check?: string;
  readonly criterion?: string;
  readonly people?: true;
}

const task = (
  id: string,
  { kind = "edit_repo", mode = "smoke", check, criterion, people }: Task,
): PlannedTask => {
  const plan = planned(id);
  const verify_profile = { mode, commands: check === undefined ? [] : [check] };
  return {
    ...plan,
    task: { ...plan.task, kind, verify_profile },
    ...(criterion === undefined ? {} : { criteria: [{ criterion, check: null }] }),
    ...(people === undefined ? {} : { approvals: APPROVALS }),
  };
};

interface World {
  readonly tasks: readonly Task[];
  readonly options?: Partial<RunOptions>;
  readonly found?: string[];
  /** The first task has been dispatched, and the last one is due. */
  readonly begun?: boolean;
}

/** The code and the message that end the run before its first container; null: it goes on. */
async function answer({ tasks, options = {}, found = [], begun = false }: World): Promise<string | null> {
  const log = new RecordLog().opened(
    tasks.map((one, i) => task(`T-00${i + 1}`, one)),
    options,
  );
  if (begun) log.dispatched("T-001");
  const { context } = replay(openRun(log.runId, POLICY), log.records);
  const due = begun ? context.tasks.at(-1) : context.tasks[0];
  if (due === undefined) throw new Error("a run has tasks");
  const repository = { discoverChecks: () => Promise.resolve(found) };
  return requireCriteria(context, due, repository).then(
    () => null,
    (error: Error) => error.message,
  );
}

describe("before the first container", () => {
  it.each<[string, World]>([
    ["a check was given", { tasks: [{ check: "npm test" }] }],
    ["a check is found", { tasks: [{}], found: ["npm test"] }],
    [
      "the caller allows a change that nothing verifies",
      { tasks: [{}], options: { allow_unverified: true } },
    ],
    ["the task changes nothing", { tasks: [{ kind: "inspect" }] }],
    ["the task delivers a file", { tasks: [{ mode: "none" }] }],
    [
      "people approve the run",
      { tasks: [{ check: "c", criterion: "Fast" }], options: { approvals: APPROVALS } },
    ],
    ["people approve the task", { tasks: [{ check: "c", criterion: "Fast", people: true }] }],
    ["the task without one is another one, and work has begun", { tasks: [{}, { check: "c" }], begun: true }],
  ])("a run goes on if %s", async (_name, world) => {
    expect(await answer(world)).toBeNull();
  });

  it.each<[string, World, string]>([
    ["there is no check", { tasks: [{}] }, "no check was named and none was found"],
    [
      "there is no check, whoever approves",
      { tasks: [{ people: true }] },
      "no check was named and none was found",
    ],
    [
      "a later task has none",
      { tasks: [{ check: "c" }, {}] },
      "T-002: no check was named and none was found",
    ],
    [
      "no check decides a criterion, although there is one",
      { tasks: [{ check: "c", criterion: "Fast" }] },
      'no check decides "Fast"',
    ],
  ])("a run ends if %s", async (_name, world, says) => {
    const message = await answer(world);
    expect(message).toContain(says);
    expect(message).toContain("no agent was started");
  });
});
