import type { IntentBody } from "@antiphon/contracts";
import { MATERIAL } from "@antiphon/contracts/runs/connectors";
import { runOptions } from "@antiphon/contracts/testing/records";
import { expect, test } from "vitest";
import type { RunRecord } from "@antiphon/client";
import { pastBody } from "./past-runs.ts";
import { askedAnew, heatOf, mostUsdMicro, pastTask } from "./past-task.ts";

const AGENT = { kind: "command" as const, argv: ["b"] };
const COMMIT = "c".repeat(40);
const repo = { name: "app", path: "/srv/app" };

function body(more: Partial<IntentBody["intent"]> = {}, options: object = {}): IntentBody {
  return {
    ...{ intentId: "it_1", principal: "ann", base: { repo, ref: "refs/heads/main", commit: COMMIT } },
    intent: {
      goal: "Fix it",
      inputs: {
        repo: "/srv/app",
        checks: ["npm test"],
        land_on: "main",
        race: "race_x",
        agent: { kind: "a" },
      },
      constraints: { max_attempts: 2, approvals: { needed: 1 } },
      ...more,
    },
    options: runOptions({ repo, ...options }),
  };
}

test("has the goal, checks and commit of the past run, and the other agent; nothing moves a branch of people", () => {
  expect(pastTask(body(), AGENT, null)).toEqual({
    goal: "Fix it",
    inputs: { repo, base_ref: COMMIT, agent: AGENT, checks: ["npm test"] },
    constraints: { max_attempts: 2, allow_dirty: true },
  });
});

test("has the tasks of the past run without their agents, and its model budget or the one that is given", () => {
  const tasks = [{ id: 1, description: "a", dependencies: [], agent: AGENT, approvals: { needed: 1 } }];
  const past = body({}, { tasks, model_budget: { tokens: 5 } });
  const again = pastTask(past, AGENT, null);
  expect(again?.inputs["tasks"]).toEqual([{ id: 1, description: "a", dependencies: [] }]);
  expect(again?.constraints).toMatchObject({ model_budget: { tokens: 5 }, egress: { mode: "allowlist" } });
  expect(pastTask(past, AGENT, 7)?.constraints["model_budget"]).toEqual({ usd_micro: 7 });
});

test("has the checks and the option that people answered, also of a run that had them from the one it retried", () => {
  const past = body({}, { checks: ["npm test", "make all"], allow_unverified: true });
  const again = pastTask(past, AGENT, null);
  expect(again?.inputs["checks"]).toEqual(["npm test", "make all"]);
  expect(again?.constraints).toMatchObject({ allow_unverified: true });
});

test("asks nobody again what people have answered about the proof of the past run", () => {
  const records = (answer: object) =>
    [
      { type: "intent", body: body({ inputs: { repo: "/srv/app" } }) },
      {
        ...{ type: "verdict", taskId: "T-001", epoch: 1 },
        body: { verdict: "UNVERIFIABLE", asks: [{ question: "Which?", tasks: ["T-001"] }] },
      },
      { type: "input", taskId: "T-001", epoch: 1, body: { event: "answer", ...answer } },
    ].map((one, i) => ({ ...one, seq: i + 1 })) as unknown as RunRecord[];
  const again = (answer: object) => {
    const past = pastBody(records(answer));
    return past === null ? null : pastTask(past, AGENT, null);
  };
  expect(again({ answers: ["make test"] })?.inputs["checks"]).toEqual(["make test"]);
  expect(again({ answers: ["unverified"] })?.constraints).toMatchObject({ allow_unverified: true });
  const turnedDown = again({ event: "approval", choice: "reject", answers: ["no"] });
  expect(turnedDown?.inputs).not.toHaveProperty("checks");
  expect(pastBody([])).toBeNull();
});

test("is none for a run that had no repository, also one whose connectors the deployment chose", () => {
  const brief = { ...body(), base: { repo: MATERIAL, ref: "refs/heads/main", commit: COMMIT } };
  expect(brief.intent.connectors).toBeUndefined();
  expect(pastTask(brief, AGENT, null)).toBeNull();
});

test("of a run that was a heat itself is that run's task, and the new heat says so", () => {
  const intent = pastTask(body({ inputs: { repo: "/srv/app", again_of: "run_old" } }), AGENT, null);
  expect(intent?.inputs["again_of"]).toBeUndefined();
  expect(intent === null ? null : heatOf(intent, "run_new").inputs).toMatchObject({
    ...{ again_of: "run_new", base_ref: COMMIT },
  });
});

test("of a run that was a fork begins at the commit, and not in the middle of a recording", () => {
  const fork = { run: "run_a", task: "T-001", epoch: 1, calls: 0, feedback: [] };
  const forked = body({ inputs: { repo: "/srv/app", fork } }, { fork });
  expect(pastTask(forked, AGENT, null)?.inputs["fork"]).toBeUndefined();
});

test("is judged by the agent that judged the past run, and never by the agent that does it", () => {
  const agent = { kind: "command" as const, argv: ["past"] };
  const gates = { skills: ["reviewer" as const] };
  const gatesOf = (past: Parameters<typeof pastTask>[0]) => pastTask(past, AGENT, null)?.inputs["gates"];
  expect(gatesOf(body({}, { agent, gates }))).toEqual({ skills: ["reviewer"], agent });
  const judge = { kind: "command" as const, argv: ["judge"] };
  const named = { ...gates, agent: judge };
  expect(gatesOf(body({}, { agent, gates: named }))).toEqual(named);
  const policy = { profiles: ["p"], gates: [{ name: "reviewed", skill: "reviewer" as const }] };
  expect(gatesOf({ ...body({}, { agent }), policy })).toEqual({ skills: [], agent });
  expect(gatesOf(body({}, { agent }))).toBeUndefined();
});

test("what all of them may cost together is known if each has a budget in dollars", () => {
  const costing = (model_budget?: object) => ({ goal: "g", inputs: {}, constraints: { model_budget } });
  expect(mostUsdMicro([costing({ usd_micro: 5 }), costing({ usd_micro: 7 })])).toBe(12);
  expect(mostUsdMicro([costing({ usd_micro: 5 }), costing({ tokens: 7 })])).toBeNull();
  expect(mostUsdMicro([costing({ usd_micro: 5 }), costing()])).toBeNull();
});

test("asks an agent that compiles anew, because an answer of before costs nothing", () => {
  const program = { name: "own", install: [], tools: [], path: [], argv: ["own"], env: {}, junk: [] };
  const pack = { kind: "pack" as const, ...program, prompt: "compile" as const };
  expect(askedAnew(pack, "s")).toEqual({ ...pack, seed: "s" });
  for (const other of [AGENT, { ...pack, prompt: "stdin" as const }])
    expect(askedAnew(other, "s")).toBe(other);
});
