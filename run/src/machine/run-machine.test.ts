import { describe, expect, test } from "vitest";
import { closingOf } from "../owed/closing.ts";
import { outstanding } from "../owed/outstanding.ts";
import { openRun, replay, type RunSnapshot } from "./replay.ts";
import { BASE, RecordLog, commitOf, planned } from "../testing/record-log.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const T1 = "T-001";
const T2 = "T-002";
const T3 = "T-003";
const T4 = "T-004";

const fold = (log: RecordLog): RunSnapshot => replay(openRun(log.runId, POLICY), log.records);
const owed = (log: RecordLog): string[] =>
  outstanding(fold(log)).map((effect) =>
    effect.taskId === null ? effect.kind : `${effect.kind} ${effect.taskId} ${effect.epoch}`,
  );
const phase = (log: RecordLog, index = 0) => fold(log).context.tasks[index]?.phase;
const attempt = (log: RecordLog, task: string, epoch = 1): RecordLog =>
  log.dispatched(task, epoch).claimed(task, epoch);
const proposed = (log: RecordLog, task: string, epoch = 1): RecordLog =>
  attempt(log, task, epoch).reported(task, epoch, "ok");
const diamond = () => [planned(T1), planned(T2, [T1]), planned(T3, [T1]), planned(T4, [T2, T3])];
const landed = (log: RecordLog, task: string, n: number, epoch = 1): RecordLog =>
  proposed(log, task, epoch)
    .judged(task, epoch, { commit: commitOf(n) })
    .landed(task, epoch, commitOf(n));

describe("a run of one task", () => {
  test("goes from routed to closed, one owed effect at a time", () => {
    const log = new RecordLog().opened([planned(T1)]);
    expect(owed(log)).toEqual([`dispatch ${T1} 1`]);
    expect(owed(log.dispatched(T1))).toEqual([]);
    expect(owed(log.claimed(T1))).toEqual([]);
    expect(owed(log.reported(T1, 1, "ok"))).toEqual([`verify ${T1} 1`]);
    expect(owed(log.judged(T1, 1, {}))).toEqual([`land ${T1} 1`]);
    expect(owed(log.landed(T1, 1, commitOf(1)))).toEqual(["close"]);
    const closing = closingOf(fold(log).context);
    expect(closing).toMatchObject({ status: "succeeded", commit: commitOf(1) });
    expect(closing.contract).toMatchObject({ status: "COMPLETE", tasks_completed: 1, tasks_total: 1 });
    expect(closing.contract.evidence).not.toHaveLength(0);
    expect(fold(log.add("closed", null, 0, closing)).status).toBe("done");
  });

  test("ends failed when every attempt was rejected, each with feedback for the next", () => {
    const log = new RecordLog().opened([planned(T1)]);
    for (const epoch of [1, 2, 3]) {
      expect(owed(log)).toEqual([`dispatch ${T1} ${epoch}`]);
      proposed(log, T1, epoch).judged(T1, epoch, {
        verdict: "FAIL",
        code: "ANT_VERIFY_CHECK_FAILED",
        commit: null,
      });
      expect(fold(log).context.tasks[0]?.feedback).toHaveLength(epoch);
    }
    expect(owed(log)).toEqual(["close"]);
    const closing = closingOf(fold(log).context);
    expect(closing).toMatchObject({ status: "failed", code: "ANT_VERIFY_CHECK_FAILED", commit: null });
    expect(closing.message).toContain("after 3 attempts");
    expect(closing.contract.status).toBe("BLOCKED");
  });

  test("a run whose model budget is used up starts no further attempt, and ends with that code", () => {
    const log = attempt(new RecordLog().opened([planned(T1)]), T1).reported(
      T1,
      1,
      "failed",
      "ANT_EGRESS_BUDGET",
    );
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_EGRESS_BUDGET" });
  });

  test.each(["ANT_EGRESS_HOST", "ANT_EGRESS_MODEL", "ANT_EGRESS_NO_KEY"])(
    "run/R1: an agent without a model (%s) leaves the next attempt to the dispatch, so what a Director of an older release dispatched still lands",
    (code) => {
      const log = attempt(new RecordLog().opened([planned(T1)]), T1).reported(T1, 1, "failed", code);
      expect(owed(log)).toEqual([`dispatch ${T1} 2`]);
      landed(log, T1, 1, 2);
      expect(closingOf(fold(log).context)).toMatchObject({ status: "succeeded", commit: commitOf(1) });
    },
  );

  test("does not try again when only a check or a grant is missing", () => {
    const log = proposed(new RecordLog().opened([planned(T1)]), T1);
    log.judged(T1, 1, { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_NO_CHECK", commit: null });
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context).contract.status).toBe("NEEDS_REVIEW");
  });

  test("waits for the answer to a question and gives it to the next epoch", () => {
    const log = attempt(new RecordLog().opened([planned(T1)]), T1).reported(T1, 1, "needs_input");
    expect(fold(log).value).toBe("waiting_input");
    expect(owed(log)).toEqual([]);
    log.add("input", T1, 1, { event: "answer", answers: ["the left one"], by: "local" });
    expect(owed(log)).toEqual([`dispatch ${T1} 2`]);
    expect(fold(log).context.tasks[0]?.answers).toEqual([{ question: "which one?", answer: "the left one" }]);
  });

  const asked = (): RecordLog =>
    attempt(new RecordLog().opened([planned(T1)]), T1).reported(T1, 1, "needs_input");

  test("ends unlanded when a person rejects its question; the ending says who, when and why", () => {
    const log = asked();
    log.add("input", T1, 1, {
      event: "approval",
      choice: "reject",
      answers: [],
      by: "ann",
      reason: "too wide",
    });
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      status: "failed",
      code: "ANT_TASK_REJECTED",
      commit: null,
      message: expect.stringMatching(/^T-001 rejected by ann at 2026-01-01T.*Z: too wide$/) as string,
    });
    expect(owed(log.dispatched(T1, 2))).toEqual(["close"]);
  });

  test("is dispatched again when a person asks for changes, with the reason as feedback, until its attempts are used up", () => {
    const log = new RecordLog().opened([planned(T1)]);
    for (const epoch of [1, 2, 3]) {
      expect(owed(log)).toEqual([`dispatch ${T1} ${epoch}`]);
      attempt(log, T1, epoch).reported(T1, epoch, "needs_input");
      const words = { event: "approval", choice: "changes", answers: [], by: "ann", reason: `no ${epoch}` };
      log.add("input", T1, epoch, words);
      const [task] = fold(log).context.tasks;
      expect(task?.rejections).toBe(epoch);
      expect(task?.feedback.at(-1)).toEqual({
        epoch,
        code: "ANT_TASK_CHANGES_ASKED",
        message: `ann asks for changes: no ${epoch}`,
        checks: [],
      });
      expect(task?.answers).toEqual([]);
    }
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_TASK_CHANGES_ASKED" });
  });

  test("takes an answer while another task is at work", () => {
    const log = attempt(new RecordLog().opened([planned(T1), planned(T2)]), T1).reported(
      T1,
      1,
      "needs_input",
    );
    attempt(log, T2);
    expect(fold(log).value).toBe("working");
    log.add("input", T1, 1, { event: "answer", answers: ["the left one"], by: "local" });
    expect(owed(log)).toEqual([`dispatch ${T1} 2`]);
  });

  test("fails as soon as one of its questions is turned down, although another one is still open", () => {
    const asking = () => {
      const log = attempt(attempt(new RecordLog().opened([planned(T1), planned(T2)]), T1), T2);
      return log.reported(T1, 1, "needs_input").reported(T2, 1, "needs_input");
    };
    const no = { event: "approval", choice: "reject", answers: [], by: "ann" };
    expect(owed(asking().add("input", T1, 1, no))).toEqual(["close"]);
    const late = asking().add("due", T1, 1, { kind: "question" });
    expect(owed(late)).toEqual(["close"]);
    late.add("input", T2, 1, { event: "answer", answers: ["the left one"], by: "local" });
    expect(owed(late)).toEqual(["close"]);
  });

  test("ends as poison after more lost attempts than the policy allows, without using up attempts", () => {
    const log = new RecordLog().opened([planned(T1)]);
    attempt(log, T1, 1).lapsed(T1, 1);
    attempt(log, T1, 2).lapsed(T1, 2).add("due", T1, 2, { kind: "rest" });
    attempt(log, T1, 3).lapsed(T1, 3);
    expect(phase(log)).toMatchObject({ kind: "failed", code: "ANT_TASK_POISON" });
    expect(fold(log).context.tasks[0]?.rejections).toBe(0);
  });

  test("associate/A5: attempts that never had a sandbox wait with backoff and do not poison the task", () => {
    const log = new RecordLog().opened([planned(T1)]);
    for (const epoch of [1, 2, 3]) {
      expect(owed(log)).toEqual([`dispatch ${T1} ${epoch}`]);
      attempt(log, T1, epoch).withoutSandbox(T1, epoch);
      const until = new Date(log.records.at(-1)!.at.getTime() + 1000 * 2 ** (epoch - 1));
      expect(phase(log)).toEqual({ kind: "resting", epoch, until });
      log.add("due", T1, epoch, { kind: "rest" });
    }
    expect(fold(log).context.tasks[0]).toMatchObject({ lapses: 0, rejections: 0, outages: 3 });
    attempt(log, T1, 4).withoutSandbox(T1, 4);
    expect(phase(log)).toMatchObject({ kind: "failed", code: "ANT_DOCKER_UNREACHABLE" });
    expect(owed(log)).toEqual(["close"]);
    expect(outstanding(fold(log))).toEqual([{ kind: "close", taskId: null, epoch: 0, poisoned: [] }]);
  });

  test("closes an unplannable run as failed and says why", () => {
    const log = new RecordLog().opened([]);
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_PLAN_INVALID" });
  });
});

describe("a diamond", () => {
  test("run/R5: dispatches a task only when all its dependencies are done", () => {
    const log = new RecordLog().opened(diamond());
    expect(owed(log)).toEqual([`dispatch ${T1} 1`]);
    landed(log, T1, 1);
    expect(owed(log)).toEqual([`dispatch ${T2} 1`, `dispatch ${T3} 1`]);
    landed(log, T2, 2);
    expect(owed(log)).toEqual([`dispatch ${T3} 1`]);
    landed(log, T3, 3);
    expect(owed(log)).toEqual([`dispatch ${T4} 1`]);
    expect(fold(log).context.head).toBe(commitOf(3));
    expect(owed(landed(log, T4, 4))).toEqual(["close"]);
  });

  test("run/R5: verifies one proposal at a time, in the order they were made", () => {
    const log = landed(new RecordLog().opened(diamond()), T1, 1);
    attempt(log, T2);
    proposed(log, T3);
    log.reported(T2, 1, "ok");
    expect(owed(log)).toEqual([`verify ${T3} 1`]);
    log.judged(T3, 1, { commit: commitOf(2) });
    expect(owed(log)).toEqual([`land ${T3} 1`]);
    log.landed(T3, 1, commitOf(2));
    expect(owed(log)).toEqual([`verify ${T2} 1`]);
  });

  test("lets the sibling of a failed task finish, and starts nothing new", () => {
    const log = landed(new RecordLog().opened(diamond()), T1, 1);
    attempt(log, T2);
    proposed(log, T3).judged(T3, 1, { verdict: "UNVERIFIABLE", code: "ANT_VERIFY_NO_CHECK", commit: null });
    expect(fold(log).value).toBe("failing");
    expect(owed(log)).toEqual([]);
    expect(owed(log.reported(T2, 1, "ok"))).toEqual([`verify ${T2} 1`]);
    log.judged(T2, 1, { commit: commitOf(2) }).landed(T2, 1, commitOf(2));
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", commit: commitOf(2) });
  });
});

describe("fencing", () => {
  test("run/R2: refuses every record of an older epoch and names the reason", () => {
    const log = attempt(new RecordLog().opened([planned(T1)]), T1).lapsed(T1, 1);
    attempt(log, T1, 2);
    const before = phase(log);
    log.judged(T1, 1, {});
    expect(phase(log)).toEqual(before);
    expect(fold(log).context.refused?.reason).toContain("epoch 1 is not the current epoch 2");
  });

  test("run/R3: never changes a task that is done", () => {
    const log = landed(new RecordLog().opened([planned(T1), planned(T2)]), T1, 1);
    const before = phase(log);
    log.judged(T1, 1, { verdict: "FAIL", commit: null });
    expect(phase(log)).toEqual(before);
    expect(fold(log).context.refused?.reason).toContain("done");
  });

  test("run/R1: gives the same state for the same records, folded at once or one by one", () => {
    const log = landed(new RecordLog().opened(diamond()), T1, 1);
    let stepwise = openRun(log.runId, POLICY);
    for (const record of log.records) stepwise = replay(stepwise, [record]);
    expect(stepwise.context).toEqual(fold(log).context);
    expect(replay(stepwise, log.records)).toBe(stepwise);
  });

  test("run/R3: starts no effect after it is closed, whatever records follow", () => {
    const log = landed(new RecordLog().opened([planned(T1)]), T1, 1);
    log.add("closed", null, 0, closingOf(fold(log).context));
    const closed = fold(log).context;
    log.canceled().reported(T1, 2, "ok");
    expect(owed(log)).toEqual([]);
    expect(fold(log).context).toEqual(closed);
  });
});

describe("cancel", () => {
  test("run/R4: a cancel before the verdict keeps the proposal from ever landing", () => {
    const log = proposed(new RecordLog().opened([planned(T1)]), T1).canceled();
    expect(owed(log)).toEqual(["close"]);
    log.judged(T1, 1, {});
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "canceled", commit: null });
  });

  test("run/R4: a cancel after the verdict lets the accepted landing finish, then the run is canceled", () => {
    const log = proposed(new RecordLog().opened([planned(T1), planned(T2, [T1])]), T1).judged(T1, 1, {});
    log.canceled();
    expect(owed(log)).toEqual([`land ${T1} 1`]);
    log.landed(T1, 1, commitOf(1));
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "canceled", commit: commitOf(1) });
  });

  test("before routing closes the run at once, and a late plan changes nothing", () => {
    const log = new RecordLog();
    const full = new RecordLog().opened([planned(T1)]);
    log.records.push(full.records[0]!);
    log.canceled();
    expect(owed(log)).toEqual(["close"]);
    log.add("routed", null, 0, full.records[1]!.body as never);
    expect(owed(log)).toEqual(["close"]);
  });
});

describe("times", () => {
  test("the first loss costs no time; from the second on the task backs off, longer each time, by the clock of the records", () => {
    const log = attempt(new RecordLog().opened([planned(T1)]), T1).lapsed(T1, 1);
    expect(owed(log)).toEqual([`dispatch ${T1} 2`]);
    attempt(log, T1, 2).lapsed(T1, 2);
    const lost = log.records.at(-1)!;
    expect(owed(log)).toEqual([]);
    expect(phase(log)).toEqual({ kind: "resting", epoch: 2, until: new Date(lost.at.getTime() + 1000) });
    expect(fold(log).value).toBe("working");
    log.add("due", T1, 2, { kind: "question" });
    expect(fold(log).context.refused?.reason).toMatch(/does not wait/);
    expect(owed(log.add("due", T1, 2, { kind: "rest" }))).toEqual([`dispatch ${T1} 3`]);
  });

  test("a question without an answer in time fails its task; an answer that came first wins", () => {
    const asking = () => attempt(new RecordLog().opened([planned(T1)]), T1).reported(T1, 1, "needs_input");
    const late = asking().add("due", T1, 1, { kind: "question" });
    expect(closingOf(fold(late).context)).toMatchObject({ status: "failed", code: "ANT_TASK_UNANSWERED" });
    const answered = asking().add("input", T1, 1, { event: "answer", answers: ["UTC"], by: "local" });
    expect(owed(answered.add("due", T1, 1, { kind: "question" }))).toEqual([`dispatch ${T1} 2`]);
  });

  test("a run whose wall-clock budget is spent ends as failed, with that code", () => {
    const log = attempt(new RecordLog().opened([planned(T1)]), T1);
    log.add("cancel", null, 0, {
      by: "director",
      reason: "not over within 9 s",
      code: "ANT_RUN_TIME_BUDGET",
    });
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_RUN_TIME_BUDGET" });
  });
});

describe("pause", () => {
  const control = (log: RecordLog, n: number, kind: "pause" | "resume"): RecordLog =>
    log.add("control", null, n, { kind, by: "local" });

  test("run/R4: nothing new is dispatched while paused, and the resume dispatches it", () => {
    const log = control(new RecordLog().opened([planned(T1)]), 1, "pause");
    expect(owed(log)).toEqual([]);
    expect(owed(control(log, 2, "resume"))).toEqual([`dispatch ${T1} 1`]);
  });

  test("run/R4: work under way is verified and landed, and a rejected attempt waits for the resume", () => {
    const log = control(proposed(new RecordLog().opened([planned(T1), planned(T2, [T1])]), T1), 1, "pause");
    expect(owed(log)).toEqual([`verify ${T1} 1`]);
    expect(owed(log.judged(T1, 1, {}))).toEqual([`land ${T1} 1`]);
    expect(owed(log.landed(T1, 1, commitOf(1)))).toEqual([]);
    expect(owed(control(log, 2, "resume"))).toEqual([`dispatch ${T2} 1`]);
    proposed(control(log, 3, "pause"), T2).judged(T2, 1, {
      verdict: "FAIL",
      code: "ANT_VERIFY_CHECK_FAILED",
      commit: null,
    });
    expect(owed(log)).toEqual([]);
    expect(owed(control(log, 4, "resume"))).toEqual([`dispatch ${T2} 2`]);
  });

  test("run/R4: a pause before the plan holds, a paused run can be canceled, and one with nothing left closes", () => {
    const log = new RecordLog();
    const full = new RecordLog().opened([planned(T1)]);
    log.records.push(full.records[0]!);
    control(log, 1, "pause").add("routed", null, 0, full.records[1]!.body as never);
    expect(owed(log)).toEqual([]);
    expect(owed(log.canceled())).toEqual(["close"]);
    const done = control(landed(new RecordLog().opened([planned(T1)]), T1, 1), 1, "pause");
    expect(owed(done)).toEqual(["close"]);
  });
});

describe("landing on a target branch", () => {
  const done = () => landed(new RecordLog().opened([planned(T1)], { land_on: "main" }), T1, 1);

  test("is verified, landed and only then succeeded", () => {
    const log = done();
    expect(owed(log)).toEqual(["verify-integration"]);
    log.judged(null, 1, { commit: commitOf(1), head: BASE });
    expect(owed(log)).toEqual(["land-integration"]);
    log.landed(null, 1, commitOf(1), "refs/heads/main");
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "succeeded", landedOn: "refs/heads/main" });
  });

  test("run/R5: is verified again when the branch moved in between", () => {
    const log = done().judged(null, 1, { commit: commitOf(1), head: BASE });
    log.add("landing", null, 1, { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message: "moved" });
    expect(owed(log)).toEqual(["verify-integration"]);
    expect(fold(log).context.integration).toMatchObject({ kind: "open", epoch: 2 });
  });

  test("a conflict fails the run and keeps its branch", () => {
    const log = done().judged(null, 1, { verdict: "FAIL", code: "ANT_LANDING_CONFLICT", commit: null });
    expect(closingOf(fold(log).context)).toMatchObject({
      status: "failed",
      code: "ANT_LANDING_CONFLICT",
      commit: commitOf(1),
    });
  });
});
