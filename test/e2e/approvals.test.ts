/** Approvals: a rejected change never lands, regardless of who rejects it and how. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunStep } from "@antiphon/contracts";
import { patient } from "../support/patience.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, fixing, makeProject, type Project } from "./support/project.ts";
import { eventually } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

let stack: Stack;
const projects: Project[] = [];

const [SHARED, ANN, BEN, CLEO] = [
  "deployment-s3cret",
  "ann-s-own-s3cret",
  "ben-s-own-s3cret",
  "cleo-s-own-s3cret",
] as const;
/** Each person has a token; the shared one is the deployment's. */
const TOKENS = { ANTIPHON_TOKEN: SHARED, ANTIPHON_TOKENS: `ann:${ANN},ben:${BEN},cleo:${CLEO}` };

beforeAll(async () => {
  stack = await startQuickStack({ env: TOKENS });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
});

/** Sends a person's event over HTTP: opens a session, then sends the event with its token. */
async function post(token: string, path: string, body?: unknown) {
  const opened = await stack.http("POST", "/sessions", undefined, { authorization: `Bearer ${token}` });
  expect(opened.status, JSON.stringify(opened.body)).toBe(201);
  const authorization = `Bearer ${String(opened.body["token"])}`;
  return stack.http("POST", path, body, { authorization });
}
const look = (path: string) =>
  stack.http("GET", path, undefined, { authorization: `Bearer ${SHARED}`, accept: "application/json" });
const say = (token: string, runId: string, body: object) => post(token, `/runs/${runId}/events`, body);
/** Runs the CLI with a person's own token. */
const as = (token: string) => ({ env: { ANTIPHON_TOKEN: token } });

const APPROVE = { event: "approval", choice: "approve" };
const REJECT = { event: "approval", choice: "reject", reason: "not this file" };

interface Begun {
  readonly runId: string;
  readonly project: Project;
}

/** A run that ann asks for. */
async function begin(
  agent: object,
  constraints: object = {},
  inputs: { land_on?: string } = {},
): Promise<Begun> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  if (inputs.land_on !== undefined) project.git("checkout", "--quiet", "-b", inputs.land_on);
  const all = { repo: project.path, agent, checks: [CHECK], ...inputs };
  const intent = await post(ANN, "/intents", { goal: "Fix the broken add", inputs: all, constraints });
  const started = await post(ANN, `/intents/${String(intent.body["intentId"])}/run`);
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  return { runId: String(started.body["runId"]), project };
}

const asks = { kind: "scripted", ask: "May I touch the calculator?", commands: [FIX] };
const fixes = { kind: "scripted", commands: [FIX] };

const OVER = ["succeeded", "failed", "canceled"];
const untilStatus = (runId: string, wanted: readonly string[]) =>
  eventually(`${runId} is ${wanted.join(" or ")}`, async () => {
    const { body } = await look(`/runs/${runId}`);
    return wanted.includes(String(body["status"])) ? body : null;
  });
const stepOf = (view: Record<string, unknown>): RunStep => (view["steps"] as RunStep[])[0]!;
const errorOf = ({ body }: { body: Record<string, unknown> }) => body["error"] as Record<string, unknown>;

interface Told {
  readonly type: string;
  readonly body: Record<string, unknown>;
}
const recordsOf = async (runId: string): Promise<Told[]> =>
  (await look(`/runs/${runId}/events`)).body["records"] as Told[];
const lastRecord = async (runId: string): Promise<Told> => (await recordsOf(runId)).at(-1)!;

describe("a program that asks a question", () => {
  const ASKS = [
    'case "$ANTIPHON_TASK" in',
    `*"use plus"*) ${FIX} ;;`,
    '*) echo unfinished >calc.py; echo "Which operator?" >"$ANTIPHON_QUESTION_FILE" ;;',
    "esac",
  ].join("\n");

  test("waits for a person without a check, and lands with the answer", async () => {
    const { runId, project } = await begin({ kind: "command", argv: ["sh", "-c", ASKS] });
    const asked = stepOf(await untilStatus(runId, ["waiting_input"]));
    expect(asked).toMatchObject({ questions: ["Which operator?"], attempts: 1 });
    const said = await stack.antiphon(["answer", runId, "use plus"], as(BEN));
    expect(said.code, said.stderr).toBe(0);
    await untilStatus(runId, ["succeeded"]);
    expect(project.landed(runId)).toHaveLength(1);
    const results = (await recordsOf(runId)).filter(({ type }) => type === "result");
    expect(results.map(({ body }) => (body["result"] as { status: string }).status)).toEqual([
      "needs_input",
      "ok",
    ]);
    const [first] = results.map(({ body }) => body["result"] as { commands_run: unknown[] });
    expect(first?.commands_run).toMatchObject([{ exit_code: null }]); // The program goes on in its container, and no check has run.
  });

  test("ends unlanded when a person rejects", async () => {
    const { runId, project } = await begin({ kind: "command", argv: ["sh", "-c", ASKS] });
    await untilStatus(runId, ["waiting_input"]);
    expect((await stack.antiphon(["answer", runId, "--reject"], as(BEN))).code).toBe(0);
    expect(await untilStatus(runId, OVER)).toMatchObject({ status: "failed" });
    expect(project.landed(runId)).toEqual([]);
  });
});

describe("a task that asks for approval", () => {
  test("lands nothing after a rejection over HTTP; its run names the person, the time and the reason", async () => {
    const { runId, project } = await begin(asks);
    await untilStatus(runId, ["waiting_input"]);
    const said = await say(BEN, runId, REJECT);
    expect(said.status, JSON.stringify(said.body)).toBe(202);
    await untilStatus(runId, OVER);
    expect(project.landed(runId)).toEqual([]);
    const { type, body } = await lastRecord(runId);
    expect([type, body["status"], body["code"]]).toEqual(["closed", "failed", "ANT_TASK_REJECTED"]);
    expect(body["message"]).toMatch(/rejected by ben at 20\d\d-.*Z: not this file/);
    const late = await say(CLEO, runId, APPROVE);
    expect([late.status, errorOf(late)["code"]]).toEqual([409, "ANT_RUN_TERMINAL"]);
    expect(errorOf(late)["message"]).toMatch(/ben was first: reject at 20/);
  });

  test("lands nothing after a rejection with the CLI", async () => {
    const { runId, project } = await begin(asks);
    await untilStatus(runId, ["waiting_input"]);
    const said = await stack.antiphon(["answer", runId, "--reject"], as(BEN));
    expect(said.code, said.stderr).toBe(0);
    expect(said.stdout).toBe(`T-001 of ${runId} is rejected; see how it ends with: antiphon get ${runId}\n`);
    await untilStatus(runId, OVER);
    expect(project.landed(runId)).toEqual([]);
    expect((await lastRecord(runId)).body).toMatchObject({ status: "failed", code: "ANT_TASK_REJECTED" });
    const got = await stack.antiphon(["get", runId], as(BEN));
    expect(got.stdout).toMatch(/ANT_TASK_REJECTED: T-001 rejected by ben at .*no reason given/);
    const { code, stdout, stderr } = await stack.antiphon(["logs", runId], as(BEN));
    expect([code, stdout, stderr]).toEqual([0, "", "no output yet, or no command printed anything\n"]);
  });

  test("accepts only known choices, and stores nothing for any other", async () => {
    const { runId } = await begin(asks);
    await untilStatus(runId, ["waiting_input"]);
    const before = (await recordsOf(runId)).length;
    const wrong: [object, string][] = [
      [{ event: "approval", choice: "perhaps" }, "/choice"],
      [{ event: "approval" }, "/choice"],
      [{ event: "approval", choice: "changes" }, "/reason"],
      [{ event: "answer", answers: ["yes"], choice: "reject" }, "/choice"],
    ];
    for (const [body, path] of wrong) {
      const said = await say(BEN, runId, body);
      expect([said.status, errorOf(said)["code"], errorOf(said)["path"]]).toEqual([
        400,
        "ANT_CONTRACT_INVALID",
        path,
      ]);
    }
    expect(await recordsOf(runId)).toHaveLength(before);
    expect((await say(BEN, runId, APPROVE)).status).toBe(202);
    await untilStatus(runId, ["succeeded"]);
  });
});

describe("a run whose change people have to approve", () => {
  const held = async (
    needed: number,
    agent: object = fixes,
    more: object = {},
    inputs: { land_on?: string } = {},
  ) => {
    const begun = await begin(agent, { approvals: { needed }, ...more }, inputs);
    const view = await untilStatus(begun.runId, ["waiting_input"]);
    return { ...begun, step: stepOf(view) };
  };

  test("waits, shows what to decide, and lands after enough other people have approved it", async () => {
    const { runId, project, step } = await held(2);
    expect(step).toMatchObject({ phase: "waiting_input", verdict: "PASS", approval: { state: "pending" } });
    expect(project.landed(runId)).toEqual([]);
    const got = await stack.antiphon(["get", runId], as(BEN));
    expect(got.stdout).toContain(`antiphon approve ${runId} --verdict ${step.approval?.verdict}`);
    const own = await say(ANN, runId, APPROVE);
    expect([own.status, errorOf(own)["code"]]).toEqual([403, "ANT_APPROVAL_OWN"]);
    const shared = await say(SHARED, runId, APPROVE);
    expect([shared.status, errorOf(shared)["code"]]).toEqual([403, "ANT_APPROVAL_OWN"]);
    const first = await stack.antiphon(["approve", runId, "--reason", "looks right"], as(BEN));
    expect(first.code, first.stderr).toBe(0);
    const again = await say(BEN, runId, APPROVE);
    expect(again.body).toMatchObject({ accepted: true, already: true });
    expect(project.landed(runId)).toEqual([]);
    expect((await say(CLEO, runId, { ...APPROVE, verdict: step.approval?.verdict })).status).toBe(202);
    const view = await untilStatus(runId, ["succeeded"]);
    expect(project.landed(runId)).toEqual([step.approval?.commit]);
    expect(stepOf(view).approval?.words.map(({ by, reason }) => [by, reason])).toEqual([
      ["ben", "looks right"],
      ["cleo", undefined],
    ]);
    const told = await stack.antiphon(["events", runId], as(BEN));
    expect(told.stdout).toContain("approved by ben: looks right");
  });

  test("is not approved by who answered its question, by whatever way; another person can", async () => {
    const argv = [
      "sh",
      "-c",
      `case "$ANTIPHON_TASK" in *"use plus"*) ${FIX} ;; *) echo Which? >"$ANTIPHON_QUESTION_FILE" ;; esac`,
    ];
    const { runId, project } = await begin({ kind: "command", argv }, { approvals: { needed: 1 } });
    await untilStatus(runId, ["waiting_input"]);
    expect((await say(BEN, runId, { event: "answer", answers: ["use plus"] })).status).toBe(202);
    await eventually("the change waits", async () => {
      const now = stepOf((await look(`/runs/${runId}`)).body);
      return now.approval?.state === "pending" ? now : null;
    });
    const own = await say(BEN, runId, APPROVE);
    expect([own.status, errorOf(own)["code"]]).toEqual([403, "ANT_APPROVAL_OWN"]);
    const typed = await stack.antiphon(["approve", runId], as(BEN));
    expect([typed.code, typed.stderr]).toEqual([2, expect.stringContaining("ANT_APPROVAL_OWN")]);
    expect(project.landed(runId)).toEqual([]);
    expect((await say(CLEO, runId, APPROVE)).status).toBe(202);
    await untilStatus(runId, ["succeeded"]);
    expect(project.landed(runId)).toHaveLength(1);
  });

  test("lands nothing if a person rejects it after a first approval", async () => {
    const { runId, project } = await held(2);
    expect((await say(BEN, runId, APPROVE)).status).toBe(202);
    const no = await stack.antiphon(["reject", runId, "--reason", "not this file"], as(CLEO));
    expect(no.code, no.stderr).toBe(0);
    await untilStatus(runId, OVER);
    expect(project.landed(runId)).toEqual([]);
    expect((await lastRecord(runId)).body).toMatchObject({
      status: "failed",
      code: "ANT_TASK_REJECTED",
      commit: null,
    });
  });

  test("is retried with the reason after a request for changes; the old verdict can no longer be approved", async () => {
    const { runId, project, step } = await held(1);
    const sent = await stack.antiphon(["changes", runId, "--reason", "say why"], as(BEN));
    expect(sent.code, sent.stderr).toBe(0);
    const next = await eventually("the next attempt waits", async () => {
      const now = stepOf((await look(`/runs/${runId}`)).body);
      return now.epoch === 2 && now.phase === "waiting_input" ? now : null;
    });
    const dispatches = (await recordsOf(runId)).filter(({ type }) => type === "dispatch");
    expect(dispatches.at(-1)?.body["feedback"]).toMatchObject([
      { epoch: 1, code: "ANT_TASK_CHANGES_ASKED", message: "ben asks for changes: say why" },
    ]);
    const stale = await say(BEN, runId, { ...APPROVE, verdict: step.approval?.verdict });
    expect([stale.status, errorOf(stale)["code"]]).toEqual([409, "ANT_APPROVAL_STALE"]);
    expect(project.landed(runId)).toEqual([]);
    expect((await say(BEN, runId, { ...APPROVE, verdict: next.approval?.verdict })).status).toBe(202);
    await untilStatus(runId, ["succeeded"]);
    expect(project.landed(runId)).toHaveLength(1);
  });

  test("lands on a branch that did not move, but not as another commit on a branch that did", async () => {
    const still = await held(1, fixes, {}, { land_on: "topic" });
    const moved = await held(1, fixes, {}, { land_on: "topic" });
    moved.project.write("other.txt", "other\n");
    const other = moved.project.commitAll("Somebody else's");
    for (const { runId } of [still, moved]) expect((await say(BEN, runId, APPROVE)).status).toBe(202);
    await untilStatus(still.runId, ["succeeded"]);
    expect(still.project.git("rev-parse", "topic").trim()).toBe(still.step.approval?.commit);
    await untilStatus(moved.runId, OVER);
    expect((await lastRecord(moved.runId)).body).toMatchObject({
      status: "failed",
      code: "ANT_APPROVAL_STALE",
      commit: moved.step.approval?.commit,
    });
    expect(moved.project.git("rev-parse", "topic").trim()).toBe(other);
  });

  test("cannot require more approvers than there are people", async () => {
    const inputs = { repo: "/nowhere", agent: fixes };
    const body = { goal: "x", inputs, constraints: { approvals: { needed: 3 } } };
    const intent = await post(ANN, "/intents", body);
    const refused = await post(ANN, `/intents/${String(intent.body["intentId"])}/run`);
    expect([refused.status, errorOf(refused)["path"]]).toEqual([422, "/constraints/approvals/needed"]);
  });

  test("waits with --require-approval, and a follower exits with code 3", async () => {
    const project = makeProject(BROKEN_CALCULATOR);
    projects.push(project);
    const { code, document } = await stack.json<{ runId: string; status: string }>(
      [...fixing(project), "--require-approval"],
      as(ANN),
    );
    expect([code, document.status]).toEqual([3, "waiting_input"]);
    expect(project.landed(document.runId)).toEqual([]);
    const canceled = await stack.antiphon(["cancel", document.runId], as(ANN));
    expect(canceled.code).toBe(0);
    expect(canceled.stdout).toContain("is being canceled");
    await untilStatus(document.runId, ["canceled"]);
    expect(project.landed(document.runId)).toEqual([]);

    const got = (await stack.antiphon(["get", document.runId], as(ANN))).stdout;
    expect(got).toMatch(/commit \w{10} was not decided, 0 of 1;/);
    expect(got).toContain(`\`antiphon retry ${document.runId}\``);
    const late = await stack.antiphon(["approve", document.runId], as(BEN));
    expect([late.code, late.stderr]).toEqual([2, expect.stringMatching(/^error ANT_RUN_TERMINAL: /)]);
    const again = await stack.antiphon(["cancel", document.runId], as(ANN));
    expect([again.code, again.stdout.trim()]).toEqual([
      0,
      `${document.runId} was canceled before; see how it ends with: antiphon get ${document.runId}`,
    ]);
  });

  test("lands also while it is paused; what starts an attempt waits, and who sends it is told", async () => {
    const [approved, sentBack, question] = [await held(1), await held(1), await begin(asks)];
    await untilStatus(question.runId, ["waiting_input"]);
    for (const { runId } of [approved, sentBack, question])
      expect((await stack.antiphon(["pause", runId], as(BEN))).code).toBe(0);

    const told = await stack.antiphon(["approve", approved.runId], as(BEN));
    expect([told.code, told.stdout]).toEqual([0, expect.not.stringContaining("paused")]);
    await untilStatus(approved.runId, ["succeeded"]);

    const after = (runId: string): unknown =>
      expect.stringMatching(new RegExp(`paused; it continues after: antiphon resume ${runId}\n$`));
    const changes = ["changes", sentBack.runId, "--reason", "add it once more"];
    expect((await stack.antiphon(changes, as(BEN))).stdout).toEqual(after(sentBack.runId));
    const answer = await stack.antiphon(["answer", question.runId, "yes"], as(BEN));
    expect(answer.stdout).toEqual(after(question.runId));
    expect(stepOf((await look(`/runs/${question.runId}`)).body).phase).toBe("paused");
    expect((await stack.antiphon(["resume", question.runId], as(BEN))).code).toBe(0);
    await untilStatus(question.runId, ["succeeded"]);
    await stack.antiphon(["cancel", sentBack.runId], as(ANN));
  });

  test("says which of its tasks waits if another one is named", async () => {
    const { runId } = await held(1);
    const told = await stack.antiphon(["reject", runId, "--task", "T-009"], as(BEN));
    expect([told.code, told.stderr]).toEqual([
      2,
      expect.stringContaining("T-009 is not waiting for a decision; T-001 is"),
    ]);
    await stack.antiphon(["cancel", runId], as(ANN));
  });

  test("still waits after every process was killed, and can then be decided", async () => {
    const { runId, project, step } = await held(1);
    for (const name of ["director", "gateway", "nats-server"]) {
      const before = stack.pid(name);
      process.kill(before, "SIGKILL");
      await eventually(`${name} is back`, () => (stack.pid(name) === before ? null : true), 60_000);
    }
    const view = await eventually(
      "the run can be seen",
      async () => {
        const seen = await look(`/runs/${runId}`).catch(() => null);
        return seen?.status === 200 ? seen.body : null;
      },
      patient(60_000),
    );
    expect(stepOf(view).approval).toEqual(step.approval);
    await eventually("it is approved", async () =>
      (await say(BEN, runId, APPROVE).catch(() => null))?.status === 202 ? true : null,
    );
    await untilStatus(runId, ["succeeded"]);
    expect(project.landed(runId)).toEqual([step.approval?.commit]);
  });
});
