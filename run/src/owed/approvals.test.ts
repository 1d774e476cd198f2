import type { ApprovalBody, RunOptions } from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { closingOf } from "./closing.ts";
import { outstanding } from "./outstanding.ts";
import { taskContract } from "../view/projection.ts";
import { openRun, replay, type RunSnapshot } from "../machine/replay.ts";
import { RecordLog, commitOf, planned } from "../testing/record-log.ts";
import { timersOf } from "./timers.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const T1 = "T-001";
const T2 = "T-002";

const fold = (log: RecordLog): RunSnapshot => replay(openRun(log.runId, POLICY), log.records);
const owed = (log: RecordLog): string[] =>
  outstanding(fold(log)).map((effect) =>
    effect.taskId === null ? effect.kind : `${effect.kind} ${effect.taskId} ${effect.epoch}`,
  );

const proposed = (log: RecordLog, task = T1, epoch = 1): RecordLog =>
  log.dispatched(task, epoch).claimed(task, epoch).reported(task, epoch, "ok");
const passed = (log: RecordLog, task = T1, epoch = 1): RecordLog =>
  proposed(log, task, epoch).judged(task, epoch, {});

interface World {
  readonly needed?: number;
  readonly requester?: string;
  readonly tasks?: readonly string[];
  readonly options?: Partial<RunOptions>;
}
function opened({ needed = 1, requester = "ann", tasks = [T1], options = {} }: World = {}): RecordLog {
  const plan = tasks.map((task) => planned(task));
  return new RecordLog().opened(plan, { approvals: { needed }, ...options }, "BUILD", requester);
}

/** A person's word about the last verdict, or about the one in `about`. */
function word(log: RecordLog, choice: ApprovalBody["choice"], by: string, about: object = {}): RecordLog {
  const verdict = log.records.findLast(({ type }) => type === "verdict");
  const n = log.records.filter(({ type }) => type === "approval").length + 1;
  return log.add("approval", null, n, {
    task: verdict?.taskId ?? T1,
    attempt: verdict?.epoch ?? 1,
    verdict: verdict?.digest ?? "",
    choice,
    by,
    ...(choice === "approve" ? {} : { reason: "too wide" }),
    ...about,
  });
}

describe("run/R10: an approval of a person who answered a question of the run", () => {
  const answered = () => {
    const log = opened().dispatched(T1).claimed(T1).reported(T1, 1, "needs_input");
    log.add("input", T1, 1, { event: "answer", answers: ["plus"], by: "ben", instructs: true });
    return passed(log, T1, 2);
  };

  test("does not count, also if a gateway has stored it; one of somebody else does", () => {
    const log = word(answered(), "approve", "ben");
    expect(fold(log).context.refused?.reason).toBe("an approval of ben does not count");
    expect(owed(log)).toEqual([]);
    expect(owed(word(log, "approve", "eve"))).toEqual([`land ${T1} 2`]);
  });

  test("counts if the answer came under a shared name, which does not say who answered", () => {
    const log = opened().dispatched(T1).claimed(T1).reported(T1, 1, "needs_input");
    log.add("input", T1, 1, { event: "answer", answers: ["plus"], by: "token", instructs: true });
    expect(owed(word(passed(log, T1, 2), "approve", "ben"))).toEqual([`land ${T1} 2`]);
  });

  test("has landed if the Director has landed it, whatever let the Director do so", () => {
    const log = word(answered(), "approve", "ben").landed(T1, 2, commitOf(1));
    expect([fold(log).context.refused, owed(log)]).toEqual([null, ["close"]]);
    expect(closingOf(fold(log).context)).toMatchObject({ status: "succeeded", commit: commitOf(1) });
  });

  test("counts if it was no answer but a request for changes to a verified change", () => {
    const log = passed(word(passed(opened()), "changes", "ben"), T1, 2);
    expect(owed(word(log, "approve", "ben"))).toEqual([`land ${T1} 2`]);
  });
});

describe("a run whose changes people have to approve", () => {
  test("waits after the clean room's PASS and starts no effect, for as long as it takes", () => {
    const log = passed(opened());
    expect(owed(log)).toEqual([]);
    expect(fold(log).value).toBe("waiting_input");
    expect(timersOf(fold(log), { graceMs: 0, questionMs: 1 })).toEqual([]);
    const { context } = fold(log);
    expect(taskContract(context, context.tasks[0]!).status).toBe("proposed");
  });

  test("lands when somebody other than its requester approved it", () => {
    const log = passed(opened());
    expect(owed(word(log, "approve", "ann"))).toEqual([]);
    expect(owed(word(log, "approve", "token"))).toEqual([]);
    expect(owed(word(log, "approve", "ben"))).toEqual([`land ${T1} 1`]);
    expect(owed(log.landed(T1, 1, commitOf(1)))).toEqual(["close"]);
    expect(closingOf(fold(log).context).status).toBe("succeeded");
  });

  test("lands on anybody's approval where people are not told apart", () => {
    expect(owed(word(passed(opened({ requester: "local" })), "approve", "local"))).toEqual([`land ${T1} 1`]);
  });

  test("run/R10: needs as many different people as the run asks for; a second approval of one person does not count", () => {
    const log = passed(opened({ needed: 2 }));
    word(log, "approve", "ben");
    expect(owed(word(log, "approve", "ben"))).toEqual([]);
    expect(owed(word(log, "approve", "cleo"))).toEqual([`land ${T1} 1`]);
  });

  test("run/R10: never lands after a reject, whatever follows", () => {
    const log = word(word(passed(opened({ needed: 2 })), "approve", "ben"), "reject", "cleo");
    expect(owed(log)).toEqual(["close"]);
    word(word(log, "approve", "dora"), "approve", "ben");
    log
      .add("control", null, 1, { kind: "pause", by: "ann" })
      .add("control", null, 2, { kind: "resume", by: "ann" });
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      status: "failed",
      code: "ANT_TASK_REJECTED",
      commit: null,
      message: expect.stringMatching(/^T-001 rejected by cleo at 2026-01-01T.*Z: too wide$/) as string,
    });
  });

  test("can be rejected by anybody, also by its requester and by people who approved it before", () => {
    expect(owed(word(passed(opened()), "reject", "ann"))).toEqual(["close"]);
    const changed = word(passed(opened({ needed: 2 })), "approve", "ben");
    expect(owed(word(changed, "reject", "ben"))).toEqual(["close"]);
  });

  test("is decided once it was approved: a later reject comes too late", () => {
    const log = word(word(passed(opened()), "approve", "ben"), "reject", "cleo");
    expect(owed(log)).toEqual([`land ${T1} 1`]);
    expect(fold(log).context.refused?.reason).toContain("accepted");
  });

  test("run/R10: does not land on an approval of another verdict or of another attempt", () => {
    const log = passed(opened());
    const first = log.records.at(-1)!.digest;
    expect(owed(word(log, "approve", "ben", { verdict: `sha256-${"x".repeat(43)}` }))).toEqual([]);
    expect(owed(word(log, "approve", "ben", { attempt: 2 }))).toEqual([]);
    word(log, "changes", "ben");
    passed(log, T1, 2);
    expect(owed(word(log, "approve", "ben", { verdict: first, attempt: 1 }))).toEqual([]);
    expect(owed(word(log, "approve", "ben", { verdict: first }))).toEqual([]);
    expect(owed(word(log, "approve", "ben"))).toEqual([`land ${T1} 2`]);
  });

  test("does not carry approvals of one attempt over to the next", () => {
    const log = word(passed(opened({ needed: 2 })), "approve", "ben");
    word(log, "changes", "cleo");
    passed(log, T1, 2);
    expect(owed(word(log, "approve", "dora"))).toEqual([]);
  });

  test("is dispatched again when changes are asked for, with the reason as feedback, as often as the policy allows", () => {
    const log = opened();
    for (const epoch of [1, 2, 3]) {
      expect(owed(log)).toEqual([`dispatch ${T1} ${epoch}`]);
      word(passed(log, T1, epoch), "changes", "ben");
      expect(fold(log).context.tasks[0]).toMatchObject({ rejections: epoch });
      expect(fold(log).context.tasks[0]?.feedback.at(-1)?.message).toBe("ben asks for changes: too wide");
    }
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context).code).toBe("ANT_TASK_CHANGES_ASKED");
  });

  test("never lands when it is canceled first; a cancel after the last approval lets it land", () => {
    const pending = passed(opened()).canceled();
    expect(owed(word(pending, "approve", "ben"))).toEqual(["close"]);
    expect(closingOf(fold(pending).context)).toMatchObject({ status: "canceled", commit: null });
    const approved = word(passed(opened()), "approve", "ben").canceled();
    expect(owed(approved)).toEqual([`land ${T1} 1`]);
  });

  test("can be decided while the run is paused", () => {
    const held = passed(opened()).add("control", null, 1, { kind: "pause", by: "ann" });
    expect(owed(word(held, "approve", "ben"))).toEqual([`land ${T1} 1`]);
  });

  test("is done without a landing if there is no change", () => {
    const log = proposed(opened()).judged(T1, 1, { commit: null });
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context).status).toBe("succeeded");
  });

  test("refuses an approval of an unknown task, or of one that does not await a decision", () => {
    const log = proposed(opened());
    expect(owed(word(log, "reject", "ben", { attempt: 1 }))).toEqual([`verify ${T1} 1`]);
    expect(owed(word(log, "reject", "ben", { task: "T-999" }))).toEqual([`verify ${T1} 1`]);
    expect(fold(log).context.refused?.reason).toContain("T-999");
  });
});

describe("one decision at a time", () => {
  const two = () => opened({ tasks: [T1, T2] });

  test("run/R5: a proposal beside a change that awaits approval is verified after that change has landed", () => {
    const log = proposed(passed(two()), T2);
    expect(owed(log)).toEqual([]);
    word(log, "approve", "ben").landed(T1, 1, commitOf(1));
    expect(owed(log)).toEqual([`verify ${T2} 1`]);
  });

  test("a reject of one task ends its run, and no other change of the run lands", () => {
    const log = word(proposed(passed(two()), T2), "reject", "ben");
    expect(owed(log)).toEqual([`verify ${T2} 1`]);
    log.judged(T2, 1, { commit: commitOf(2) });
    expect(owed(log)).toEqual(["close"]);
    expect(owed(word(log, "approve", "ben"))).toEqual(["close"]);
  });

  test("a failing run takes an approval while another attempt is under way, and the approved change lands", () => {
    const log = passed(opened({ tasks: [T1, T2, "T-003"] }));
    log.dispatched(T2).claimed(T2).dispatched("T-003").claimed("T-003");
    log.reported(T2, 1, "failed", "ANT_SANDBOX_IMAGE_UNUSABLE");
    expect([fold(log).value, owed(log)]).toEqual(["failing", []]);
    expect(owed(word(log, "approve", "ben"))).toEqual([`land ${T1} 1`]);
  });

  test("a failing run does not wait for an approval when nothing else is under way", () => {
    const log = proposed(passed(opened({ tasks: [T1, T2, "T-003"] })), T2);
    log.dispatched("T-003").claimed("T-003").reported("T-003", 1, "failed", "ANT_SANDBOX_IMAGE_UNUSABLE");
    expect(owed(log)).toEqual(["close"]);
    expect(owed(word(log, "approve", "ben"))).toEqual(["close"]);
  });

  test("a run that failed elsewhere does not wait for an approval", () => {
    const log = passed(two()).dispatched(T2).claimed(T2);
    log.reported(T2, 1, "failed", "ANT_SANDBOX_IMAGE_UNUSABLE");
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({ code: "ANT_SANDBOX_IMAGE_UNUSABLE", commit: null });
  });
});

describe("the branch that was asked for", () => {
  const landed = () => {
    const log = word(passed(opened({ options: { land_on: "main" } })), "approve", "ben");
    return log.landed(T1, 1, commitOf(1));
  };

  test("takes the approved commit without another approval", () => {
    expect(owed(landed().judged(null, 1, { commit: commitOf(1) }))).toEqual(["land-integration"]);
  });

  test("refuses another commit: the branch moved, so the commit that would land is not the approved one", () => {
    const log = landed().judged(null, 1, { commit: commitOf(7) });
    expect(owed(log)).toEqual(["close"]);
    expect(closingOf(fold(log).context)).toMatchObject({
      status: "failed",
      code: "ANT_APPROVAL_STALE",
      commit: commitOf(1),
    });
  });
});

test("run/R10: an approval by somebody who told the agent something lands nothing, and one of another person does", () => {
  const told = { task: T1, attempt: 1, text: "keep the name", by: "ben" };
  const log = passed(opened().add("message", null, 1, told));
  const refusal = fold(word(log, "approve", "ben")).context.refused;
  expect(refusal?.reason).toContain("an approval of ben does not count");
  expect(owed(log)).toEqual([]);
  expect(owed(word(log, "approve", "eve"))).toEqual([`land ${T1} 1`]);
});
