import { describe, expect, test } from "vitest";
import { golden } from "../../../contracts/conformance/proof.ts";
import { digestOf, encode } from "@antiphon/contracts/wire/codec";
import type { JournalBodies, JournalType, RunStep } from "@antiphon/contracts";
import { factsOf } from "../facts/facts-fold.ts";
import { isPaused, type ReadRecord } from "../facts/run-facts.ts";
import { runView } from "./run-view.ts";
import { validate } from "@antiphon/contracts/validation/validate";

const viewOf = (records: readonly ReadRecord[]) => runView(factsOf(records));
const RUN = "run_a1";
const AT = "2026-01-02T03:04:05.000Z";
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A record whose body is the type's golden one with `body` on top. */
function record<T extends JournalType>(
  type: T,
  body: object,
  taskId: string | null = null,
  epoch = 0,
): ReadRecord {
  const { body: full } = golden(`journal.${type}.v1`) as { body: JournalBodies[T] };
  const said = { v: 1, type, runId: RUN, taskId, epoch, cause: null, body: { ...full, ...body } };
  return { ...said, digest: digestOf(encode(said)), at: new Date(AT) } as ReadRecord;
}

const routed = (deps: Record<string, string[]>): ReadRecord => {
  const task = golden("DirectorTask.v0");
  const tasks = Object.entries(deps).map(([id, before]) => ({
    task: { ...task, task_id: id },
    deps: before,
    agent: { kind: "replay", seed: "s" },
  }));
  return record("routed", { tasks });
};

const seedResult = () => golden("AssociateResult.v0", "seed example");
const reported = (result: object): object => ({
  kind: "reported",
  associate: "as_1",
  code: null,
  result: { ...seedResult(), ...result },
  evidence: { key: `${RUN}.T-001.1`, digest: `sha256-${"A".repeat(43)}` },
  patch: null,
});

const start = [
  record("intent", {}),
  routed({ "T-001": [] }),
  record("dispatch", {}, "T-001", 1),
  record("claim", { associate: "as_1" }, "T-001", 1),
];
const ok = record("result", reported({}), "T-001", 1);
const pass = record("verdict", { verdict: "PASS", code: null, commit: COMMIT }, "T-001", 1);
const landing = record(
  "landing",
  { kind: "landed", ref: `refs/heads/antiphon/${RUN}`, commit: COMMIT, previous: null },
  "T-001",
  1,
);

const step = (records: readonly ReadRecord[], at = 0): RunStep => {
  const found = viewOf(records).steps[at];
  if (found === undefined) throw new Error("no such step");
  return found;
};

describe("the view of a run", () => {
  test("an accepted intent is queued, a routed one runs", () => {
    expect(viewOf([record("intent", {})])).toEqual({
      runId: RUN,
      status: "queued",
      steps: [],
      artifacts: [],
    });
    expect(viewOf(start.slice(0, 2)).status).toBe("running");
  });

  test("a task shows its own agent and image, and none that it shares with its run", () => {
    const task = golden("DirectorTask.v0");
    const { intent } = factsOf(start);
    const shared = { task, deps: [], agent: intent?.options.agent };
    const pack = {
      ...golden("AgentSpec.v1", "full pack"),
      model: { host: "models.test", name: "m" },
      name: "pi",
    };
    const own = { ...shared, agent: pack, image: "team/go:1" };
    const steps = viewOf([record("intent", {}), record("routed", { tasks: [shared, own] })]).steps;
    expect(steps.map(({ agent, image }) => [agent, image])).toEqual([
      [undefined, undefined],
      ["pi (m)", "team/go:1"],
    ]);
    expect(steps.every((each) => validate("RunStep", each).ok)).toBe(true);
  });

  test("a claim shows who works on it, at which epoch", () => {
    expect(step(start)).toMatchObject({ phase: "claimed", associate: "as_1", epoch: 1, status: "open" });
  });

  test("a paused run shows `paused` on the steps it holds back, and not on those under way", () => {
    const pause = (n: number, kind: string) => record("control", { kind, by: "local" }, null, n);
    const held = [...start.slice(0, 2), pause(1, "pause")];
    expect(viewOf(held).status).toBe("running");
    expect(step(held).phase).toBe("paused");
    expect(isPaused(factsOf(held))).toBe(true);
    expect(step([...start, pause(1, "pause")]).phase).toBe("claimed");
    expect(step([...start.slice(0, 3), pause(1, "pause")]).phase).toBe("ready");
    const resumed = [...held, pause(2, "resume")];
    expect(step(resumed).phase).toBe("ready");
    expect(isPaused(factsOf(resumed))).toBe(false);
  });

  test("an ok report proposes the task", () => {
    expect(step([...start, ok])).toMatchObject({ status: "proposed", phase: "verifying", attempts: 1 });
  });

  test("a refused change keeps its verdict when the next attempt is refused for the same reason, and not for another", () => {
    const judged = (code: string, verdict: string, epoch: number) =>
      record("verdict", { verdict, code, message: code, checks: [], commit: null }, "T-001", epoch);
    const once = [...start, ok, judged("ANT_PATCH_SCOPE", "FAIL", 1)];
    const again = [...once, judged("ANT_PATCH_SCOPE", "UNVERIFIABLE", 2)];
    expect(step(again)).toMatchObject({ verdict: "FAIL", code: "ANT_PATCH_SCOPE", epoch: 1, attempts: 1 });
    const other = [...once, judged("ANT_ENVIRONMENT_FAILED", "UNVERIFIABLE", 2)];
    expect(step(other)).toMatchObject({ verdict: "UNVERIFIABLE", code: "ANT_ENVIRONMENT_FAILED" });
  });

  test("a failed report leaves the task open", () => {
    const failed = record(
      "result",
      { ...reported({ status: "failed" }), code: "ANT_VERIFY_SELF_FAILED" },
      "T-001",
      1,
    );
    expect(step([...start, failed])).toMatchObject({ status: "open", code: "ANT_VERIFY_SELF_FAILED" });
  });

  test("an attempt without a sandbox backs off and is no loss: the first real loss after it is retried at once", () => {
    const abandoned = {
      kind: "abandoned",
      associate: "as_1",
      code: "ANT_DOCKER_UNREACHABLE",
      message: "no engine",
    };
    const out = [...start, record("result", { ...abandoned, outage: true }, "T-001", 1)];
    const step = (records: ReadRecord[]) => viewOf(records).steps[0];
    expect(step(out)).toMatchObject({ phase: "resting", code: "ANT_DOCKER_UNREACHABLE" });
    const again = [
      ...out,
      record("due", { kind: "rest" }, "T-001", 1),
      record("dispatch", {}, "T-001", 2),
      record("result", { kind: "lapsed", observer: "as_2", holder: "as_1" }, "T-001", 2),
    ];
    expect(step(again)).toMatchObject({ phase: "ready", code: "ANT_TASK_LAPSED" });
  });

  test("a rejected proposal shows open again, with the verdict's code", () => {
    const fail = record(
      "verdict",
      { verdict: "FAIL", code: "ANT_VERIFY_CHECK_FAILED", commit: null },
      "T-001",
      1,
    );
    expect(step([...start, ok, fail])).toMatchObject({
      status: "open",
      verdict: "FAIL",
      code: "ANT_VERIFY_CHECK_FAILED",
    });
  });

  test("a landing makes the task done", () => {
    expect(step([...start, ok, pass, landing])).toMatchObject({
      status: "done",
      phase: "finished",
      commit: COMMIT,
    });
  });

  test("a landing readies the tasks that waited for it, and only those whose every dependency is done", () => {
    const diamond = routed({ "T-001": [], "T-002": ["T-001"], "T-003": ["T-001", "T-002"] });
    const { steps } = viewOf([record("intent", {}), diamond, ...start.slice(2), ok, pass, landing]);
    expect(steps.map(({ phase }) => phase)).toEqual(["finished", "ready", "blocked"]);
  });

  test("a question puts the run in waiting_input, an answer resumes it", () => {
    const asks = record(
      "result",
      reported({ status: "needs_input", questions: ["Which format?"] }),
      "T-001",
      1,
    );
    const waiting = viewOf([...start, asks]);
    expect(waiting).toMatchObject({
      status: "waiting_input",
      steps: [{ phase: "waiting_input", questions: ["Which format?"] }],
    });
    const answered = viewOf([
      ...start,
      asks,
      record("input", { event: "answer", answers: ["ISO"] }, "T-001", 1),
    ]);
    expect(answered).toMatchObject({ status: "running", steps: [{ phase: "ready", questions: [] }] });
  });

  test("a run that failed leaves no task under way", () => {
    const closed = record("closed", { status: "failed", code: "ANT_VERIFY_CHECK_FAILED" });
    expect(viewOf([...start, closed])).toMatchObject({
      status: "failed",
      steps: [{ status: "failed", phase: "finished" }],
    });
  });

  test("run/R1: every prefix of a run's records gives a view that is a valid RunViewModel", () => {
    const records = [...start, ok, pass, landing, record("closed", { status: "succeeded" })];
    for (let n = 1; n <= records.length; n++) {
      expect(validate("RunViewModel", viewOf(records.slice(0, n)))).toMatchObject({ ok: true });
      for (const one of viewOf(records.slice(0, n)).steps)
        expect(validate("RunStep", one)).toMatchObject({ ok: true });
    }
  });

  test("run/R3: nothing changes after closed", () => {
    const records = [...start, record("closed", { status: "canceled" })];
    expect(viewOf([...records, ok, pass, landing])).toEqual(viewOf(records));
  });

  test("run/R2: a stale epoch changes nothing but the artifacts", () => {
    const second = [...start, record("dispatch", {}, "T-001", 2)];
    expect(step([...second, ok])).toEqual(step(second));
    expect(viewOf([...second, ok]).artifacts.length).toBe(viewOf(second).artifacts.length + 1);
  });

  test("each artifact names its kind and its place", () => {
    const patch = {
      bucket: "ANT_EVIDENCE_FILES",
      name: "sha256-x",
      digest: `sha256-${"A".repeat(43)}`,
      bytes: 12,
    };
    const withPatch = record("result", { ...reported({}), patch }, "T-001", 1);
    const { artifacts } = viewOf([...start, withPatch, pass]);
    expect(artifacts.map(({ kind }) => kind)).toEqual(["Plan", "Log", "Diff", "TestResults"]);
    for (const artifact of artifacts) expect(validate("RunArtifact", artifact)).toMatchObject({ ok: true });
  });
});

describe("answers and approvals", () => {
  const asks = (task: string) =>
    record("result", reported({ status: "needs_input", questions: ["Which?"] }), task, 1);
  const both = [
    record("intent", {}),
    routed({ "T-001": [], "T-002": [] }),
    ...["T-001", "T-002"].flatMap((task) => [record("dispatch", {}, task, 1), asks(task)]),
  ];

  test("an answer to one of two tasks leaves the other one waiting, and the run with it", () => {
    const answer = (task: string) =>
      record("input", { event: "answer", choice: undefined, answers: ["a"] }, task, 1);
    const one = viewOf([...both, answer("T-001")]);
    expect([one.status, one.steps.map(({ phase }) => phase)]).toEqual([
      "waiting_input",
      ["ready", "waiting_input"],
    ]);
    expect(one.steps[1]?.questions).toEqual(["Which?"]);
    expect(viewOf([...both, answer("T-001"), answer("T-002")]).status).toBe("running");
  });

  test("a rejected question shows who, when and why", () => {
    const no = record(
      "input",
      { event: "approval", choice: "reject", answers: [], by: "ann", reason: "no" },
      "T-001",
      1,
    );
    expect(step([...both, no])).toMatchObject({
      status: "failed",
      phase: "finished",
      code: "ANT_TASK_REJECTED",
      message: `rejected by ann at ${AT}: no`,
    });
  });
});

describe("a change that people have to approve", () => {
  const intent = (needed: number) => {
    const { body } = golden("journal.intent.v1") as { body: JournalBodies["intent"] };
    return record("intent", { principal: "ann", options: { ...body.options, approvals: { needed } } });
  };
  const pending = (needed: number) => [intent(needed), ...start.slice(1), ok, pass];
  const word = (n: number, choice: string, by: string, reason?: string) =>
    record(
      "approval",
      { task: "T-001", attempt: 1, verdict: pass.digest, choice, by, reason: reason ?? "fine" },
      null,
      n,
    );

  test("waits, and shows which verdict and which commit are to be decided", () => {
    const view = viewOf(pending(2));
    expect(view.status).toBe("waiting_input");
    expect(view.steps[0]).toMatchObject({
      status: "proposed",
      phase: "waiting_input",
      verdict: "PASS",
      questions: ["May commit 0123456789 land?"],
      approval: { state: "pending", verdict: pass.digest, commit: COMMIT, needed: 2, words: [] },
    });
    expect(view.steps[0]?.commit).toBeNull();
  });

  test("waits until enough different people have approved, and shows who did and when", () => {
    const records = [...pending(2), word(1, "approve", "ben"), word(2, "approve", "ben")];
    expect(step([...records, word(3, "approve", "ann")])).toMatchObject({ phase: "waiting_input" });
    const all = [...records, word(3, "approve", "cleo", "good")];
    expect(viewOf(all).status).toBe("running");
    expect(step(all)).toMatchObject({
      phase: "landing",
      questions: [],
      approval: {
        state: "approved",
        words: [
          { choice: "approve", by: "ben", at: AT },
          { choice: "approve", by: "cleo", at: AT, reason: "good" },
        ],
      },
    });
  });

  test("shows a reject with its reason, and another attempt when changes were asked for", () => {
    expect(step([...pending(1), word(1, "reject", "ben", "no")])).toMatchObject({
      status: "failed",
      code: "ANT_TASK_REJECTED",
      message: `rejected by ben at ${AT}: no`,
      approval: { state: "rejected" },
    });
    const changes = [...pending(1), word(1, "changes", "ben", "shorter")];
    expect(step(changes)).toMatchObject({
      status: "open",
      phase: "ready",
      code: "ANT_TASK_CHANGES_ASKED",
      approval: { state: "changes" },
    });
    expect(step([...changes, record("dispatch", {}, "T-001", 2)]).approval).toBeUndefined();
  });

  test("every prefix of its records gives a valid view", () => {
    const records = [...pending(1), word(1, "approve", "ben"), landing, record("closed", {})];
    for (let n = 1; n <= records.length; n++)
      for (const one of viewOf(records.slice(0, n)).steps)
        expect(validate("RunStep", one)).toMatchObject({ ok: true });
  });
});
