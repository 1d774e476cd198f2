import {
  gateTaskId,
  type ApprovalBody,
  type GateSkill,
  type PlannedTask,
  type RunOptions,
} from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { factsOf } from "../facts/facts-fold.ts";
import { impliedRecords } from "../audit/implied-records.ts";
import { registerKey } from "../audit/known-run.ts";
import { openRun, replay, type RunSnapshot } from "../machine/replay.ts";
import { RecordLog, commitOf, planned } from "../testing/record-log.ts";
import { runView } from "../view/run-view.ts";
import { closingOf } from "./closing.ts";
import { outstanding } from "./outstanding.ts";

const POLICY = { maxAttempts: 2, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const T1 = "T-001";
const T2 = "T-002";
const REVIEWER = gateTaskId(T1, "reviewer");
const QA = gateTaskId(T1, "qa");
const TREES = ["1", "2", "3"].map((digit) => digit.repeat(40));

const fold = (log: RecordLog): RunSnapshot => replay(openRun(log.runId, POLICY), log.records);
const owed = (log: RecordLog): string[] =>
  outstanding(fold(log)).map((effect) =>
    effect.taskId === null ? effect.kind : `${effect.kind} ${effect.taskId} ${effect.epoch}`,
  );
const step = (log: RecordLog, id: string) => runView(factsOf(log.records)).steps.find((one) => one.id === id);

function gate(of: string, skill: GateSkill): PlannedTask {
  const one = planned(gateTaskId(of, skill), [of]);
  return { ...one, task: { ...one.task, kind: "run" }, gate: { skill, of, blocks: "error" } };
}

function opened(skills: readonly GateSkill[] = ["reviewer"], options: Partial<RunOptions> = {}): RecordLog {
  const gates = skills.map((skill) => gate(T1, skill));
  return new RecordLog().opened([planned(T1), ...gates], options, "BUILD", "ann");
}

/** An attempt whose change passes the clean room and waits for the skills. */
function passed(log: RecordLog, epoch = 1, gates: readonly string[] = [REVIEWER]): RecordLog {
  log.dispatched(T1, epoch).claimed(T1, epoch).reported(T1, epoch, "ok");
  return log.judged(T1, epoch, { gates: [...gates], tree: TREES[epoch - 1]! });
}

/** A skill at work on an attempt of T-001. */
function begun(log: RecordLog, id: string, epoch: number, attempt: number, integration?: number): RecordLog {
  const diff = { bucket: "ANT_EVIDENCE_FILES", name: "x", digest: `sha256-${"A".repeat(43)}`, bytes: 1 };
  const given = { skill: "reviewer" as const, task: T1, attempt, commit: commitOf(1), diff };
  const order = integration === undefined ? given : { ...given, integration };
  return log.dispatched(id, epoch, { gate: order }).claimed(id, epoch);
}

const PASS = { commit: null } as const;
const BLOCKED = {
  verdict: "FAIL",
  code: "ANT_GATE_BLOCKED",
  message: "a.js:3 is wrong",
  commit: null,
} as const;

function found(log: RecordLog, id: string, epoch: number, attempt: number, verdict: object): RecordLog {
  begun(log, id, epoch, attempt).reported(id, epoch, "ok");
  return log.judged(id, epoch, { tree: TREES[attempt - 1]!, ...verdict });
}

function word(log: RecordLog, choice: ApprovalBody["choice"], by = "ben"): RecordLog {
  const about = log.records.findLast(({ type, taskId }) => type === "verdict" && taskId === T1);
  const n = log.records.filter(({ type }) => type === "approval").length + 1;
  return log.add("approval", null, n, {
    ...{ task: T1, attempt: about?.epoch ?? 1, verdict: about?.digest ?? "", choice, by },
    ...(choice === "approve" ? {} : { reason: "too wide" }),
  });
}

/** The records that a success implies and that are not there. */
function missing(log: RecordLog): string[] {
  const there = new Set(log.records.map(registerKey));
  return impliedRecords(log.records, null)
    .map(({ register }) => registerKey(register))
    .filter((key) => !there.has(key));
}

describe("a run whose changes a skill judges", () => {
  test("run/R10: dispatches the skill after the clean room's PASS, and lands after it has passed", () => {
    const log = opened();
    expect(owed(log)).toEqual([`dispatch ${T1} 1`]);
    expect(owed(passed(log))).toEqual([`dispatch ${REVIEWER} 1`]);
    expect(step(log, T1)).toMatchObject({ status: "proposed", phase: "gated" });
    begun(log, REVIEWER, 1, 1);
    expect(owed(log)).toEqual([]);
    expect(fold(log).value).toBe("working");
    log.reported(REVIEWER, 1, "ok");
    expect(owed(log)).toEqual([`verify ${REVIEWER} 1`]);
    log.judged(REVIEWER, 1, { ...PASS, tree: TREES[0]! });
    expect(owed(log)).toEqual([`land ${T1} 1`]);
    expect(step(log, T1)).toMatchObject({ phase: "landing" });
    expect(owed(log.landed(T1, 1, commitOf(1)))).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      ...{ status: "succeeded", contract: { tasks_total: 1, tasks_completed: 1 } },
    });
    expect(step(log, REVIEWER)).toMatchObject({ status: "done", verdict: "PASS" });
    expect(missing(log)).toEqual([]);
  });

  test("gives the findings that block to the next attempt, and judges its change again", () => {
    const log = found(passed(opened()), REVIEWER, 1, 1, BLOCKED);
    expect(owed(log)).toEqual([`dispatch ${T1} 2`]);
    expect(fold(log).context.tasks[0]?.feedback).toEqual([
      { epoch: 1, code: "ANT_GATE_BLOCKED", message: "a.js:3 is wrong", checks: [] },
    ]);
    expect(step(log, T1)).toMatchObject({ phase: "ready", code: "ANT_GATE_BLOCKED", commit: null });
    expect(owed(passed(log, 2))).toEqual([`dispatch ${REVIEWER} 2`]);
    found(log, REVIEWER, 2, 2, PASS);
    expect(owed(log)).toEqual([`land ${T1} 2`]);
    expect(missing(log.landed(T1, 2, commitOf(1)))).toEqual([]);
  });

  test("ends with the findings after its last attempt, and lands nothing", () => {
    const log = found(passed(opened()), REVIEWER, 1, 1, BLOCKED);
    found(passed(log, 2), REVIEWER, 2, 2, BLOCKED);
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      ...{ status: "failed", code: "ANT_GATE_BLOCKED", commit: null },
      message: "T-001 after 2 attempts: a.js:3 is wrong",
    });
  });

  test("asks one skill after the other, and no second one about a change that the first has blocked", () => {
    const log = passed(opened(["reviewer", "qa"]), 1, [REVIEWER, QA]);
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 1`]);
    found(log, REVIEWER, 1, 1, PASS);
    expect(owed(log)).toEqual([`dispatch ${QA} 1`]);
    found(log, QA, 1, 1, { ...BLOCKED, message: "qa: it prints 6" });
    expect(owed(log)).toEqual([`dispatch ${T1} 2`]);
    passed(log, 2, [REVIEWER, QA]);
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 2`]);
    found(log, REVIEWER, 2, 2, BLOCKED);
    expect(owed(log)).toEqual(["close"]);
  });

  test("needs no skill for a change that none of them judges", () => {
    const log = passed(opened(), 1, []);
    expect(owed(log)).toEqual([`land ${T1} 1`]);
    expect(owed(log.landed(T1, 1, commitOf(1)))).toEqual(["close"]);
    expect(step(log, REVIEWER)).toMatchObject({ status: "done", epoch: 0 });
    log.add("closed", null, 0, closingOf(fold(log).context));
    expect(fold(log).context.closed?.status).toBe("succeeded");
    expect(missing(log)).toEqual([]);
  });

  test("lets a skill whose report is invalid try again, and fails with that if it never writes one", () => {
    const invalid = {
      verdict: "FAIL",
      code: "ANT_REVIEW_INVALID",
      message: "no findings.json",
      commit: null,
    };
    const log = found(passed(opened()), REVIEWER, 1, 1, invalid);
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 2`]);
    found(log, REVIEWER, 2, 1, invalid);
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_REVIEW_INVALID" });
  });

  test("lets a lost skill be dispatched again, without an attempt of the author", () => {
    const log = begun(passed(opened()), REVIEWER, 1, 1).lapsed(REVIEWER, 1);
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 2`]);
  });

  test("verifies no other task meanwhile, because it would move the base of the change (run/R5)", () => {
    const tasks = [planned(T1), planned(T2), gate(T1, "reviewer")];
    const log = passed(new RecordLog().opened(tasks));
    log.dispatched(T2).claimed(T2).reported(T2, 1, "ok");
    begun(log, REVIEWER, 1, 1);
    expect(owed(log)).toEqual([]);
    log.reported(REVIEWER, 1, "ok");
    expect(owed(log)).toEqual([`verify ${REVIEWER} 1`]);
    log.judged(REVIEWER, 1, { ...PASS, tree: TREES[0]! }).landed(T1, 1, commitOf(1));
    expect(owed(log)).toEqual([`verify ${T2} 1`]);
  });
});

describe("a skill beside people who approve", () => {
  test("people and skills decide in any order, and both have to agree", () => {
    const first = word(passed(opened(["reviewer"], { approvals: { needed: 1 } })), "approve");
    expect(owed(first)).toEqual([`dispatch ${REVIEWER} 1`]);
    expect(owed(found(first, REVIEWER, 1, 1, PASS))).toEqual([`land ${T1} 1`]);
    const second = passed(opened(["reviewer"], { approvals: { needed: 1 } }));
    expect(owed(found(second, REVIEWER, 1, 1, PASS))).toEqual([]);
    expect(fold(second).value).toBe("waiting_input");
    expect(owed(word(second, "approve"))).toEqual([`land ${T1} 1`]);
  });

  test("a change that a skill blocks waits for nobody any more", () => {
    const log = found(passed(opened(["reviewer"], { approvals: { needed: 1 } })), REVIEWER, 1, 1, BLOCKED);
    expect(step(log, T1)).toMatchObject({ phase: "ready", questions: [], approval: { state: "changes" } });
    const { refused } = fold(word(log, "approve")).context;
    expect(refused?.reason).toContain("is not the current epoch");
  });

  test("run/R10: what a skill finds about a change that people sent back does not count for the next one", () => {
    const log = begun(passed(opened(["reviewer"], { approvals: { needed: 1 } })), REVIEWER, 1, 1);
    expect(owed(word(log, "changes"))).toEqual([`dispatch ${T1} 2`]);
    passed(log, 2);
    expect(owed(log)).toEqual([]);
    log.reported(REVIEWER, 1, "ok").judged(REVIEWER, 1, { ...PASS, tree: TREES[0]! });
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 2`]);
    expect(owed(word(log, "approve"))).toEqual([`dispatch ${REVIEWER} 2`]);
    expect(owed(found(log, REVIEWER, 2, 2, PASS))).toEqual([`land ${T1} 2`]);
  });
});

describe("the branch that was asked for", () => {
  const landed = (options: Partial<RunOptions> = {}, skills: readonly GateSkill[] = ["reviewer"]) => {
    const ids = skills.map((skill) => gateTaskId(T1, skill));
    const log = passed(opened(skills, { land_on: "main", ...options }), 1, ids);
    for (const id of ids) found(log, id, 1, 1, PASS);
    if (options.approvals !== undefined) word(log, "approve");
    return log.landed(T1, 1, commitOf(1));
  };
  /** The run's commits pass the clean room on a branch that moved, for the `n`th time. */
  const moved = (log: RecordLog, n = 1, gates: readonly string[] = [REVIEWER]) => {
    const replayed = {
      task: T1,
      head: commitOf(70 + n),
      commit: commitOf(80 + n),
      tree: AGAIN,
      gates: [...gates],
    };
    return log.judged(null, n, { commit: commitOf(80 + n), tree: AGAIN, replayed: [replayed] });
  };
  /** A skill judges the change where it stands on the moved branch. */
  const again = (log: RecordLog, id: string, epoch: number, n: number, verdict: object) => {
    begun(log, id, epoch, 1, n).reported(id, epoch, "ok");
    return log.judged(id, epoch, { tree: AGAIN, ...verdict });
  };
  const headMoved = { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message: "main moved" } as const;
  const AGAIN = "9".repeat(40);

  test("takes the commit that a skill passed as it is", () => {
    expect(owed(landed().judged(null, 1, { commit: commitOf(1) }))).toEqual(["land-integration"]);
  });

  test("run/R10: takes another commit, because the branch moved, only after every skill has judged that one too", () => {
    const log = landed({}, ["reviewer", "qa"]);
    expect(owed(moved(log, 1, [REVIEWER, QA]))).toEqual([`dispatch ${REVIEWER} 2`]);
    expect(owed(begun(log, REVIEWER, 2, 1, 1))).toEqual([]);
    log.reported(REVIEWER, 2, "ok");
    expect(owed(log)).toEqual([`verify ${REVIEWER} 2`]);
    expect(owed(log.judged(REVIEWER, 2, { ...PASS, tree: AGAIN }))).toEqual([`dispatch ${QA} 2`]);
    expect(owed(again(log, QA, 2, 1, PASS))).toEqual(["land-integration"]);
    log.landed(null, 1, commitOf(81), "refs/heads/main");
    log.add("closed", null, 0, closingOf(fold(log).context));
    expect(fold(log).context.closed).toMatchObject({ status: "succeeded", commit: commitOf(81) });
    expect(missing(log)).toEqual([]);
  });

  test("is not moved by a commit that no skill has judged where it stands: the record of its landing is a fault", () => {
    const log = moved(landed()).landed(null, 1, commitOf(81), "refs/heads/main");
    expect(missing(log)).toEqual([`verdict ${REVIEWER.toLowerCase()} 2`]);
    expect(fold(log).context.refused).toBeNull();
    expect(fold(log).context.integration.kind).toBe("judging");
  });

  test("moves once more while a skill judges, so the skill judges a third time, up to the bound of tries", () => {
    const log = again(moved(landed()), REVIEWER, 2, 1, PASS);
    expect(owed(log.add("landing", null, 1, headMoved))).toEqual(["verify-integration"]);
    expect(owed(moved(log, 2))).toEqual([`dispatch ${REVIEWER} 3`]);
    again(log, REVIEWER, 3, 2, PASS).add("landing", null, 2, headMoved);
    again(moved(log, 3), REVIEWER, 4, 3, PASS);
    expect(owed(log)).toEqual(["land-integration"]);
    expect(owed(log.add("landing", null, 3, headMoved))).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      ...{ status: "failed", code: "ANT_LANDING_HEAD_MOVED", commit: commitOf(1) },
    });
  });

  test("stays as it is if the skill blocks the change there, and the run says so", () => {
    const log = again(moved(landed()), REVIEWER, 2, 1, BLOCKED);
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      ...{ status: "failed", code: "ANT_GATE_BLOCKED", commit: commitOf(1) },
      message: "not landed on the target branch: judged again on the branch that moved: a.js:3 is wrong",
    });
    expect(step(log, T1)).toMatchObject({ status: "done", commit: commitOf(1) });
    expect(missing(log)).toEqual([]);
  });

  test("run/R10: what a skill says about an earlier place of the change counts for nothing", () => {
    const log = again(moved(landed()), REVIEWER, 2, 1, PASS);
    log.add("landing", null, 1, headMoved);
    moved(log, 2);
    log.judged(REVIEWER, 2, { ...BLOCKED, tree: AGAIN }); // The judge of the first try, late: run/R2.
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 3`]);
    again(log, REVIEWER, 3, 1, PASS); // It was given the first try by a Director that was behind.
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 4`]);
    expect(owed(again(log, REVIEWER, 4, 2, PASS))).toEqual(["land-integration"]);
  });

  test("lets a skill that is lost be dispatched again, and one that never writes its file fail the run", () => {
    const log = begun(moved(landed()), REVIEWER, 2, 1, 1).lapsed(REVIEWER, 2);
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 3`]);
    const invalid = { verdict: "FAIL", code: "ANT_REVIEW_INVALID", message: "no file", commit: null };
    again(again(log, REVIEWER, 3, 1, invalid), REVIEWER, 4, 1, invalid);
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_REVIEW_INVALID" });
  });

  test("stays as it is after a cancel, and no skill is dispatched during a pause", () => {
    const paused = moved(landed()).add("control", null, 1, { kind: "pause", by: "ann" });
    expect(owed(paused)).toEqual([]);
    expect(owed(paused.add("control", null, 2, { kind: "resume", by: "ann" }))).toEqual([
      `dispatch ${REVIEWER} 2`,
    ]);
    expect(owed(begun(paused, REVIEWER, 2, 1, 1).canceled())).toEqual(["close"]);
    expect(closingOf(fold(paused).context)).toMatchObject({ status: "canceled", commit: commitOf(1) });
  });

  test("asks a skill whose paths the change touches only there, and none about a change that is there already", () => {
    const log = passed(opened(["reviewer"], { land_on: "main" }), 1, []).landed(T1, 1, commitOf(1));
    expect(owed(moved(log))).toEqual([`dispatch ${REVIEWER} 1`]);
    expect(owed(again(log, REVIEWER, 1, 1, PASS))).toEqual(["land-integration"]);
    expect(owed(landed().judged(null, 1, { commit: commitOf(81), replayed: [] }))).toEqual([
      "land-integration",
    ]);
  });

  test("judges the changes of several tasks side by side", () => {
    const QA2 = gateTaskId(T2, "reviewer");
    const log = new RecordLog().opened(
      [planned(T1), planned(T2, [T1]), gate(T1, "reviewer"), gate(T2, "reviewer")],
      {
        land_on: "main",
      },
    );
    found(passed(log), REVIEWER, 1, 1, PASS).landed(T1, 1, commitOf(1));
    log.dispatched(T2).claimed(T2).reported(T2, 1, "ok");
    log.judged(T2, 1, { gates: [QA2], tree: TREES[1]!, commit: commitOf(2) });
    found(log, QA2, 1, 1, { ...PASS, tree: TREES[1]! }).landed(T2, 1, commitOf(2));
    const at = (task: string, id: string, n: number) => ({
      ...{ task, head: commitOf(90), commit: commitOf(n), tree: AGAIN, gates: [id] },
    });
    log.judged(null, 1, { commit: commitOf(92), replayed: [at(T1, REVIEWER, 91), at(T2, QA2, 92)] });
    expect(owed(log)).toEqual([`dispatch ${REVIEWER} 2`, `dispatch ${QA2} 2`]);
    again(again(log, QA2, 2, 1, PASS), REVIEWER, 2, 1, PASS);
    expect(owed(log)).toEqual(["land-integration"]);
  });

  test("run/R10: does not move by a word about another commit: a person who approved is not asked again", () => {
    const log = landed({ approvals: { needed: 1 } });
    expect(owed(moved(log))).toEqual(["close"]);
    const closing = closingOf(fold(log).context);
    expect(closing).toMatchObject({ status: "failed", code: "ANT_APPROVAL_STALE", commit: commitOf(1) });
    expect(closing.message).toContain(`another commit than the approved ${commitOf(1)} would land`);
  });

  test("stays as it is if the Director that verified there knows of no second judging", () => {
    const log = landed().judged(null, 1, { commit: commitOf(81) });
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_APPROVAL_STALE" });
  });
});

describe("a run that fails or is canceled while a skill judges", () => {
  test("starts no skill once another task has failed, and lands nothing that was not judged", () => {
    const tasks = [planned(T1), planned(T2), gate(T1, "reviewer")];
    const log = passed(new RecordLog().opened(tasks));
    log.dispatched(T2).reported(T2, 1, "failed", "ANT_EGRESS_BUDGET");
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "failed", code: "ANT_EGRESS_BUDGET" });
  });

  test("lets a skill that is at work finish, so that its change lands before the run fails", () => {
    const tasks = [planned(T1), planned(T2), gate(T1, "reviewer")];
    const log = begun(passed(new RecordLog().opened(tasks)), REVIEWER, 1, 1);
    log.dispatched(T2).reported(T2, 1, "failed", "ANT_EGRESS_BUDGET");
    expect(owed(log)).toEqual([]);
    log.reported(REVIEWER, 1, "ok");
    expect(owed(log)).toEqual([`verify ${REVIEWER} 1`]);
    expect(owed(log.judged(REVIEWER, 1, { ...PASS, tree: TREES[0]! }))).toEqual([`land ${T1} 1`]);
  });

  test("lands nothing after a cancel", () => {
    const log = begun(passed(opened()), REVIEWER, 1, 1).canceled();
    expect(owed(log)).toEqual(["close"]);
  });
});
