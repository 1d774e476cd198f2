import type { CriteriaQuestion, InputBody, PlannedTask, RunOptions } from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { impliedRecords } from "../audit/implied-records.ts";
import { factsOf } from "../facts/facts-fold.ts";
import { openRun, replay, type RunSnapshot } from "../machine/replay.ts";
import { measurementsOf } from "../measure/measurements.ts";
import { allowsUnverified } from "../state/allows-unverified.ts";
import { commitOf, planned, RecordLog } from "../testing/record-log.ts";
import { routerContract, taskContract } from "../view/projection.ts";
import { runView } from "../view/run-view.ts";
import { closingOf } from "./closing.ts";
import { outstanding } from "./outstanding.ts";
import { dueStep, timersOf } from "./timers.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const BOUNDS = { graceMs: 0, questionMs: 60_000 };
const T1 = "T-001";
const T2 = "T-002";
const WHICH = "Which command proves the change?";

function unproven(id: string, deps: string[] = [], criteria: string[] = []): PlannedTask {
  const plan = planned(id, deps);
  const task = {
    ...plan.task,
    acceptance_criteria: criteria,
    verify_profile: { mode: "smoke" as const, commands: [] },
  };
  const mapped = criteria.map((criterion) => ({ criterion, check: null }));
  return { ...plan, task, ...(criteria.length === 0 ? {} : { criteria: mapped }) };
}

const fold = (log: RecordLog): RunSnapshot => replay(openRun(log.runId, POLICY), log.records);
const owed = (log: RecordLog): string[] =>
  outstanding(fold(log)).map((effect) =>
    effect.taskId === null ? effect.kind : `${effect.kind} ${effect.taskId} ${effect.epoch}`,
  );
const view = (log: RecordLog) => runView(factsOf(log.records));
const checksOf = (log: RecordLog) =>
  fold(log).context.tasks.map(({ planned: { task } }) => task.verify_profile.commands);
const missing = (log: RecordLog) =>
  impliedRecords(log.records, view(log)).filter(({ register, before }) => {
    const { type, taskId, epoch } = register;
    return !log.records.some(
      (one) =>
        one.type === type && one.taskId === taskId && one.epoch === epoch && one.seq < (before ?? Infinity),
    );
  });

function asked(
  tasks: PlannedTask[] = [unproven(T1)],
  asks: CriteriaQuestion[] = [{ question: WHICH, tasks: tasks.map(({ task }) => task.task_id) }],
  options: Partial<RunOptions> = {},
): RecordLog {
  return new RecordLog().opened(tasks, options).judged(tasks[0]?.task.task_id ?? T1, 1, {
    verdict: "UNVERIFIABLE",
    code: "ANT_VERIFY_NO_CHECK",
    message: "no check was named and none was found, so no change could land",
    checks: [],
    commit: null,
    tree: null,
    asks,
  });
}
const said = (log: RecordLog, body: Partial<InputBody>, task = T1, epoch = 1): RecordLog =>
  log.add("input", task, epoch, { event: "answer", answers: [], by: "ben", instructs: true, ...body });
const due = (log: RecordLog): RecordLog => log.add("due", T1, 1, { kind: "question" });

describe("run/R12: a run that lacks a check", () => {
  test("waits for a person before any attempt, whichever of its tasks are ready", () => {
    const log = asked([unproven(T1), planned(T2)]);
    expect([owed(log), fold(log).value]).toEqual([[], "waiting_input"]);
    expect(view(log)).toMatchObject({
      status: "waiting_input",
      steps: [
        {
          id: T1,
          status: "open",
          phase: "waiting_input",
          epoch: 1,
          attempts: 0,
          verdict: null,
          questions: [WHICH],
        },
        { id: T2, phase: "ready", epoch: 0, questions: [] },
      ],
    });
    expect(view(log).steps[0]?.message).toContain("no check was named");
    const { context } = fold(log);
    expect(taskContract(context, context.tasks[0]!).status).toBe("open");
    expect(routerContract(context)?.router_contract).toMatchObject({ tasks: [{ status: "BLOCKED" }, {}] });
    expect([missing(log), measurementsOf(log.records.at(-1)!, log.records)]).toEqual([[], []]);
  });

  test("goes on with the answer as a check of the tasks that lack one, and of no other", () => {
    const asks = [{ question: WHICH, tasks: [T1, T2] }];
    const log = said(asked([unproven(T1), unproven(T2, [T1]), planned("T-003")], asks), {
      answers: [" make test "],
    });
    expect(checksOf(log)).toEqual([["make test"], ["make test"], ["npm test"]]);
    expect(owed(log)).toEqual([`dispatch ${T1} 2`, "dispatch T-003 1"]);
    expect(view(log).steps.map(({ phase, questions }) => [phase, questions])).toEqual([
      ["ready", []],
      ["blocked", []],
      ["ready", []],
    ]);
    const { context } = fold(log);
    expect(taskContract(context, context.tasks[0]!).verification_commands).toEqual(["make test"]);
    expect([context.tasks[0]?.answers, context.tasks[0]?.rejections, allowsUnverified(context)]).toEqual([
      [],
      0,
      false,
    ]);
    log.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "ok").judged(T1, 2, {}).landed(T1, 2, commitOf(1));
    expect([owed(log), missing(log)]).toEqual([["dispatch T-002 1", "dispatch T-003 1"], []]);
  });

  test("misses the question alone if that is lost, and no attempt that never was", () => {
    const shown = view(asked());
    const without = (log: RecordLog) => log.records.filter(({ type }) => type !== "verdict");
    const lost = (log: RecordLog, of: typeof shown | null) =>
      impliedRecords(without(log), of)
        .map(({ register }) => register)
        .filter(({ type, taskId, epoch }) =>
          without(log).every((one) => one.type !== type || one.taskId !== taskId || one.epoch !== epoch),
        );
    const question = { type: "verdict", taskId: T1, epoch: 1 };
    expect(lost(asked(), shown)).toEqual([question]);
    const answered = said(asked(), { answers: ["make test"] }).dispatched(T1, 2);
    expect(lost(answered, view(answered))).toEqual([question]);
    const result = { type: "result", taskId: T1, epoch: 1 };
    expect(
      lost(
        new RecordLog()
          .opened([planned(T1)])
          .dispatched(T1, 1)
          .dispatched(T1, 2),
        null,
      ),
    ).toEqual([result]);
  });

  test("is taken without proof, as if its caller had allowed that", () => {
    const log = said(asked(), { answers: ["Unverified"] });
    expect([checksOf(log), allowsUnverified(fold(log).context)]).toEqual([[[]], true]);
    expect(owed(log)).toEqual([`dispatch ${T1} 2`]);
  });

  test("asks about each criterion; the answers decide them in order, and keep the check that was found", () => {
    const tasks = [unproven(T1, [], ["It is fast", "It is small"])];
    const asks = ["It is fast", "It is small"].map((criterion) => ({
      ...{ question: `Which command decides ${criterion}?`, tasks: [T1], criterion, found: ["npm test"] },
    }));
    const log = said(asked(tasks, asks), { answers: ["./fast.sh", "./small.sh"] });
    const [task] = fold(log).context.tasks;
    expect(task?.planned.criteria?.map(({ check }) => check)).toEqual(["./fast.sh", "./small.sh"]);
    expect(checksOf(log)).toEqual([["npm test", "./fast.sh", "./small.sh"]]);
    expect(task?.planned.task.acceptance_criteria).toEqual([
      "It is fast (check: ./fast.sh)",
      "It is small (check: ./small.sh)",
    ]);
    const one = said(asked(tasks, asks), { answers: ["./all.sh"] });
    expect(checksOf(one)).toEqual([["npm test", "./all.sh"]]);
  });

  test.each<[string, Partial<InputBody>]>([
    ["several lines", { answers: ["make\ntest"] }],
    ["nothing", { answers: [" "] }],
    ["an approval without a check", { event: "approval", choice: "approve" }],
  ])("is asked again after %s, which an older gateway may have stored", (_name, body) => {
    const log = said(asked(), body);
    expect([owed(log), checksOf(log), allowsUnverified(fold(log).context)]).toEqual([
      [`dispatch ${T1} 2`],
      [[]],
      false,
    ]);
  });

  test("ends with the code of what it lacks if nobody answers in time or a person turns it down", () => {
    const log = asked();
    const [timer] = timersOf(fold(log), BOUNDS);
    expect(timer).toMatchObject({ kind: "question", taskId: T1, epoch: 1 });
    expect(dueStep(fold(log), timer!, timer!.at, BOUNDS)).toMatchObject({ kind: "due", of: "question" });
    expect(owed(due(log))).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      ...{ status: "failed", code: "ANT_VERIFY_NO_CHECK", contract: { status: "NEEDS_REVIEW" } },
      message: expect.stringContaining(
        "none was found, so no change could land; nobody answered in time",
      ) as string,
    });
    const rejected = said(asked(), { event: "approval", choice: "reject", reason: "not now" });
    expect(closingOf(fold(rejected).context)).toMatchObject({ status: "failed", code: "ANT_TASK_REJECTED" });
    expect(view(rejected).steps[0]).toMatchObject({ status: "failed", code: "ANT_TASK_REJECTED" });
  });

  test("takes the first of an answer and the end of the time, and neither after a cancel", () => {
    const late = due(said(asked(), { answers: ["make"] }));
    expect([owed(late), fold(late).context.refused?.reason]).toEqual([
      [`dispatch ${T1} 2`],
      "epoch 1 is not the current epoch 2",
    ]);
    expect(owed(said(due(asked()), { answers: ["make"] }))).toEqual(["close"]);
    const canceled = said(asked().canceled(), { answers: ["make"] });
    expect([owed(canceled), closingOf(fold(canceled).context).status]).toEqual([["close"], "canceled"]);
  });

  test("is not asked in place of an attempt that another Director has dispatched", () => {
    const question = asked().records.at(-1);
    if (question?.type !== "verdict") throw new Error("a question is a verdict");
    const log = new RecordLog().opened([unproven(T1)]).dispatched(T1);
    log.add("verdict", T1, 1, question.body);
    expect([fold(log).context.tasks[0]?.phase.kind, fold(log).context.refused?.seq]).toEqual([
      "dispatched",
      4,
    ]);
    expect(view(log).steps[0]).toMatchObject({ epoch: 1, questions: [] });
  });

  test("has ended where a Director of the release before has ended it at the question", () => {
    const log = asked();
    const { context } = fold(log);
    log.add("closed", null, 0, { ...closingOf(context), status: "failed", code: "ANT_VERIFY_NO_CHECK" });
    expect([fold(log).value, fold(log).status, view(log).status, timersOf(fold(log), BOUNDS)]).toEqual([
      "closed",
      "done",
      "failed",
      [],
    ]);
  });
});
