import { factsOf } from "@antiphon/run/facts/facts-fold";
import { describe, expect, it } from "vitest";
import type { RunRecord } from "../gateway/gateway-client.ts";
import { doingNow, narrate, stillAt } from "./sentences.ts";
import { statusWords } from "./status-words.ts";
import { summaryRows } from "./summary-rows.ts";
import { exitCodeOf, summarize } from "./summary.ts";

const told = (record: RunRecord) => narrate(record, { tasks: [] });

let seq = 0;
function record(type: string, body: unknown, taskId: string | null = "T-001", epoch = 1): RunRecord {
  seq += 1;
  const at = new Date(1_700_000_000_000 + seq * 1000).toISOString();
  return {
    v: 1,
    seq,
    digest: `d${seq}`,
    at,
    type,
    runId: "run_1",
    taskId,
    epoch,
    cause: null,
    body,
  } as unknown as RunRecord;
}

const COMMIT = "a".repeat(40);
const INTENT = record(
  "intent",
  {
    intentId: "it_1",
    principal: "ann",
    intent: { goal: "Fix it" },
    options: { agent: { kind: "scripted" } },
    base: { repo: { name: "app", path: "/app" }, ref: "refs/heads/main", commit: COMMIT },
  },
  null,
  0,
);
const ROUTED = record(
  "routed",
  {
    workflow: "DEBUG",
    reason: "an error signal",
    tasks: [
      {
        task: {
          task_id: "T-001",
          instruction: "Fix it",
          kind: "edit_repo",
          egress_profile: { mode: "none" },
        },
        deps: [],
        agent: { kind: "scripted" },
      },
    ],
  },
  null,
  0,
);
const DISPATCH = record("dispatch", { feedback: [] });
const ASK = record("result", {
  kind: "reported",
  code: null,
  patch: null,
  evidence: { key: "k", digest: "d" },
  result: {
    status: "needs_input",
    questions: ["Which colour?"],
    summary: "",
    files_changed: [],
    verify: { status: "unknown" },
  },
});
const PASS = record("verdict", {
  verdict: "PASS",
  code: null,
  message: "ok",
  commit: COMMIT,
  evidence: { key: "run_1.T-001.1.verdict", digest: "d" },
  checks: [{ command: "npm test", exitCode: 0, timedOut: false, durationMs: 1200, tail: "" }],
  baseChecks: [{ command: "npm test", exitCode: 1, timedOut: false, durationMs: 900, tail: "" }],
});
const LANDED = record("landing", {
  kind: "landed",
  ref: "refs/heads/antiphon/run_1",
  commit: COMMIT,
  previous: null,
});
const LANDED_ON_MAIN = record(
  "landing",
  { kind: "landed", ref: "refs/heads/main", commit: COMMIT, previous: null },
  null,
  0,
);
const CLOSED = record(
  "closed",
  { status: "succeeded", code: null, message: "", commit: COMMIT, landedOn: "refs/heads/main", seal: "s" },
  null,
  0,
);

describe("the description of a run", () => {
  const text = (one: RunRecord): string[] => told(one).map((line) => line.text);

  it("says that a workflow is a guess, what else it may be, and how to choose that", () => {
    const body = {
      workflow: "REVIEW",
      reason: "decided by x",
      tasks: [],
      confidence: 0.48,
      tier: "classifier",
      unsure: true,
      alternatives: [{ workflow: "DEBUG", confidence: 0.4 }],
    };
    const [, doubt] = told(record("routed", body, null, 0));
    const advice = "if so, run it again with --workflow DEBUG";
    expect(doubt?.text).toBe(`REVIEW is a guess (48 %); it may be DEBUG (40 %): ${advice}`);
    expect(told(record("routed", { ...body, unsure: false }, null, 0))).toHaveLength(1);
  });

  it("gives the start, the workflow, the proof and the landing", () => {
    expect(text(INTENT)).toEqual(["accepted: /app at aaaaaaaaaa (main)"]);
    const noted = { ...(INTENT.body as { options: object }) };
    noted.options = { ...noted.options, image_note: ".devcontainer.json: x:1 is not allowed here" };
    expect(text(record("intent", noted, null, 0))).toEqual([
      "accepted: /app at aaaaaaaaaa (main)",
      "uses the standard image: .devcontainer.json: x:1 is not allowed here",
    ]);
    const { base } = INTENT.body as { base: { commit: string } };
    const forked = record("intent", { ...noted, options: {}, base: { ...base, ref: base.commit } }, null, 0);
    expect(text(forked)).toEqual(["accepted: /app at aaaaaaaaaa"]);
    expect(text(ROUTED)).toEqual(["DEBUG, 1 task (an error signal)"]);
    expect(text(PASS)).toEqual(["clean room: PASS: npm test passed in 1.2 s; failed without the change"]);
    const plan = { commit: null, checks: [], baseChecks: [], proves: "nothing", message: "a plan of 1 task" };
    expect(text(record("verdict", { ...(PASS.body as object), ...plan }, "T-001", 1))).toEqual([
      "clean room: PASS: a plan of 1 task",
    ]);
    expect(text(LANDED)).toEqual(["landed as aaaaaaaaaa on antiphon/run_1"]);
    const onMian = { kind: "landed", ref: "refs/heads/mian", commit: COMMIT, previous: null };
    expect(text(record("landing", onMian, null))).toEqual([
      "landed as aaaaaaaaaa on mian, which is a new branch",
    ]);
    expect(text(record("landing", { ...onMian, previous: COMMIT }, null))).toEqual([
      "landed as aaaaaaaaaa on mian",
    ]);
  });

  it("names a code once even if the message contains it", () => {
    const failed = (summary: string): RunRecord =>
      record("result", {
        ...(ASK.body as object),
        code: "ANT_VERIFY_SELF_FAILED",
        result: { status: "failed", summary, files_changed: [], verify: { status: "fail" }, questions: [] },
      });
    expect(text(failed("tests fail"))).toEqual(["attempt 1 failed: tests fail (ANT_VERIFY_SELF_FAILED)"]);
    expect(text(failed("ANT_VERIFY_SELF_FAILED: tests fail"))).toEqual([
      "attempt 1 failed: ANT_VERIFY_SELF_FAILED: tests fail",
    ]);
  });

  it("shows an attempt without a sandbox as waiting, not as given up", () => {
    const abandoned = {
      kind: "abandoned",
      associate: "as_1",
      code: "ANT_DOCKER_UNREACHABLE",
      message: "no engine",
    };
    const [waits] = told(record("result", { ...abandoned, outage: true }));
    expect(waits).toMatchObject({
      mark: "wait",
      text: expect.stringContaining("no sandbox available") as string,
    });
    expect(doingNow(record("result", { ...abandoned, outage: true }), null)).toBe(
      "T-001: waiting to retry; no sandbox available (ANT_DOCKER_UNREACHABLE)",
    );
    const [lost] = told(record("result", abandoned));
    expect(lost).toMatchObject({ mark: "bad", text: expect.stringContaining("given up") as string });
  });

  it("shows the newest progress message on the status line, on one line", () => {
    expect(doingNow(DISPATCH, null)).toBe("T-001: waiting for an Associate");
    const progress = {
      taskId: "T-001",
      stream: "progress",
      epoch: 1,
      text: "no engine;\n trying \u001b[2Jagain",
    };
    expect(doingNow(DISPATCH, progress)).toBe("T-001: no engine; trying \u001b[2Jagain");
  });

  it("shows the agent's question", () => {
    expect(told(ASK)).toEqual([{ mark: "wait", task: "T-001", text: "asks: Which colour?" }]);
  });
});

it("the first attempt after a question for a check is called the first, with its number", () => {
  const asks = [{ question: "Which command proves the change?", tasks: ["T-001"] }];
  const asked = record("verdict", { ...(PASS.body as object), verdict: "UNVERIFIABLE", commit: null, asks });
  const input = record("input", { event: "answer", by: "ann", answers: ["npm test"] });
  const begin = (epoch: number) =>
    record("dispatch", { feedback: [], agent: { kind: "scripted" } }, "T-001", epoch);
  const line = (...records: RunRecord[]) =>
    narrate(records.at(-1)!, factsOf([INTENT, ROUTED, ...records]))[0]?.text;
  expect(line(asked, input, begin(2))).toBe("first attempt, number 2 after the question");
  expect(line(asked, input, begin(2), begin(3))).toBe("attempt 3");
  expect(line(begin(1))).toBe("attempt 1");
  expect(line(begin(1), ASK, begin(2)), "an attempt that asks is one").toBe("attempt 2");
});

describe("the summary of a run", () => {
  it("has the verdict per task, the run's own branch, and the branch that was moved", () => {
    const summary = summarize(
      factsOf([INTENT, ROUTED, DISPATCH, PASS, LANDED, LANDED_ON_MAIN, CLOSED]),
      null,
      0,
    );
    expect(summary).toMatchObject({
      status: "succeeded",
      branch: "antiphon/run_1",
      landedOn: "refs/heads/main",
      commit: COMMIT,
    });
    const rows = Object.fromEntries(summaryRows(summary, null));
    expect(rows["T-001"]).toBe("PASS, landed as aaaaaaaaaa  Fix it");
    expect(rows.commit).toBe(`${COMMIT} on antiphon/run_1`);
    expect(rows["landed on"]).toBe("main");
  });

  it("shows the question of a waiting run and the command that answers it", () => {
    const summary = summarize(factsOf([INTENT, ROUTED, DISPATCH, ASK]), null, 0);
    expect(exitCodeOf(summary.status)).toBe(3);
    expect(summaryRows(summary, null)).toContainEqual(["question", "Which colour?"]);
    expect(summaryRows(summary, null)).toContainEqual(["answer", 'antiphon answer run_1 "<your answer>"']);
  });

  it("calls the tasks of a canceled run canceled, also after a failed attempt, and not those that are done", () => {
    const canceled = { ...CLOSED, body: { ...CLOSED.body, status: "canceled", code: "ANT_RUN_CANCELED" } };
    const rowOf = (...records: RunRecord[]) => {
      const facts = factsOf([INTENT, ROUTED, DISPATCH, ...records, canceled as RunRecord]);
      return Object.fromEntries(summaryRows(summarize(facts, null, 0), null))["T-001"];
    };
    expect(rowOf()).toBe("canceled  Fix it");
    const failed = { ...PASS.body, verdict: "FAIL", commit: null, code: "ANT_VERIFY_CHECK_FAILED" };
    expect(rowOf(record("verdict", failed))).toBe("canceled: ANT_VERIFY_CHECK_FAILED  Fix it");
    expect(rowOf(PASS, LANDED)).toBe("PASS, landed as aaaaaaaaaa  Fix it");
  });

  it("says how to name another check after a person named one that failed", () => {
    const asks = [{ question: "Which command proves the change?", tasks: ["T-001"] }];
    const asked = record("verdict", { ...(PASS.body as object), verdict: "UNVERIFIABLE", asks });
    const failed = { ...CLOSED, body: { ...CLOSED.body, status: "failed", code: "ANT_VERIFY_CHECK_FAILED" } };
    const rowsOf = (answer: string) => {
      const input = record("input", { event: "answer", by: "ann", answers: [answer] });
      const facts = factsOf([
        INTENT,
        ROUTED,
        asked,
        input,
        record("dispatch", { feedback: [] }, "T-001", 2),
        failed as RunRecord,
      ]);
      return summaryRows(summarize(facts, null, 0), null).map(([, text]) => text);
    };
    const how = 'antiphon run "<intent>" --check "<command>"; a retry keeps the one that was named';
    expect(rowsOf("npm tset")).toContain(how);
    expect(rowsOf("unverified")).not.toContain(how);
  });

  it("counts the duration of an open run until now, and shows the phase of its attempt", () => {
    const claim = record("claim", { associate: "associate_1", incarnation: "i" });
    const started = Date.parse(INTENT.at);
    const summary = summarize(factsOf([INTENT, ROUTED, DISPATCH, claim]), null, started + 20_000);
    expect(summary.durationMs).toBe(20_000);
    const rows = (of: RunRecord[]) =>
      Object.fromEntries(summaryRows(summarize(factsOf(of), null, started), null));
    expect(rows([INTENT, ROUTED, DISPATCH, claim])["T-001"]).toBe("attempt 1 running  Fix it");
    expect(rows([INTENT, ROUTED, DISPATCH])["T-001"]).toBe("attempt 1 waiting for an Associate  Fix it");
    expect(summarize(factsOf([INTENT, CLOSED]), null, started + 1e9).durationMs).toBe(
      Date.parse(CLOSED.at) - started,
    );
  });

  it("calls the first attempt after a question for a check the first, with its number", () => {
    const asks = [{ question: "Which command proves the change?", tasks: ["T-001"] }];
    const asked = record("verdict", {
      ...(PASS.body as object),
      verdict: "UNVERIFIABLE",
      commit: null,
      asks,
    });
    const input = record("input", { event: "answer", by: "ann", answers: ["npm test"] });
    const begun = record("dispatch", { feedback: [], agent: { kind: "scripted" } }, "T-001", 2);
    const claim = record("claim", { associate: "associate_1", incarnation: "i" }, "T-001", 2);
    const text = (...of: RunRecord[]) =>
      Object.fromEntries(
        summaryRows(summarize(factsOf([INTENT, ROUTED, asked, input, ...of]), null, 0), null),
      )["T-001"];
    expect(text(begun, claim)).toBe("first attempt running (number 2, after the question)  Fix it");
    expect(text(begun)).toContain("first attempt waiting for an Associate (number 2, after the question)");
    expect(text()).toBe("waiting for the Director  Fix it");
  });

  it("shows a pending approval, the decisions so far, and the command that decides", () => {
    const intent = {
      ...INTENT,
      body: { ...INTENT.body, options: { agent: { kind: "scripted" }, approvals: { needed: 2 } } },
    } as RunRecord;
    const result = { ...(ASK.body as { result: object }).result, status: "ok", questions: [] };
    const ok = record("result", { ...(ASK.body as object), result });
    const verdict = record("verdict", { ...(PASS.body as object), commit: COMMIT });
    const about = { task: "T-001", attempt: 1, verdict: verdict.digest };
    const yes = record("approval", { ...about, choice: "approve", by: "ben", reason: "fine" }, null, 1);
    const seen = [intent, ROUTED, DISPATCH, ok, verdict, yes];
    const rows = summaryRows(summarize(factsOf(seen), null, Date.parse(CLOSED.at)), null);
    const texts = rows.map(([, text]) => text);
    expect(texts).toContain(`commit aaaaaaaaaa waits for approval, 1 of 2; verdict ${verdict.digest}`);
    expect(texts).toContain(`approve by ben at ${yes.at}: fine`);
    expect(rows).toContainEqual(["approve", `antiphon approve run_1 --verdict ${verdict.digest}`]);
    expect(texts.join()).not.toContain("antiphon answer");
    expect(told(yes)).toEqual([{ mark: "good", task: "T-001", text: "approved by ben: fine" }]);
  });

  it("distinguishes a rejection from a request for changes", () => {
    const say = (choice: string) =>
      told(record("input", { event: "approval", choice, by: "ben", answers: [], reason: "no" }))[0]?.text;
    expect([say("reject"), say("changes")]).toEqual(["rejected by ben: no", "changes requested by ben: no"]);
  });

  it("maps the end of a run to an exit code", () => {
    expect(
      (["succeeded", "running", "failed", "canceled", "waiting_input"] as const).map(exitCodeOf),
    ).toEqual([0, 0, 1, 1, 3]);
  });
});

it("an unknown status is shown unchanged, even if it is the name of an object's built-in property", () => {
  expect(["queued", "later", "constructor", "__proto__"].map(statusWords)).toEqual([
    "waiting for the Router",
    "later",
    "constructor",
    "__proto__",
  ]);
});

it("tells a silent run by what it does, because its last message may be of something that has ended", () => {
  expect(stillAt("working in a sandbox", "sandbox started in 1 ms", 17_400)).toBe(
    "still working in a sandbox (nothing new for 17 s; last: sandbox started in 1 ms)",
  );
  expect(stillAt("verifying in a clean room", null, 30_000)).toBe(
    "still verifying in a clean room (nothing new for 30 s)",
  );
});
