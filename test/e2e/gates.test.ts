/**
 * People asked by a policy's gate, by its class of risk, or by an approval node of a plan: the change waits with the
 * reason, lands with the decision and not before it, and other changes land by themselves.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PolicyProfile, RunStep } from "@antiphon/contracts";
import { patient } from "../support/patience.ts";
import { enforcePolicy, OPEN } from "./support/enforce-policy.ts";
import { eventually } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const [SHARED, ANN, BEN, CLEO] = [
  "deployment-s3cret",
  "ann-s-own-s3cret",
  "ben-s-own-s3cret",
  "cleo-s-own-s3cret",
] as const;

/** Also passes on the base, so it proves no fix. */
const DOCS_CHECK = "test -s test.js";

let stack: Stack;
const projects: Project[] = [];

beforeAll(async () => {
  stack = await startQuickStack({
    env: { ANTIPHON_TOKEN: SHARED, ANTIPHON_TOKENS: `ann:${ANN},ben:${BEN},cleo:${CLEO}` },
  });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
});

const enforce = (says: Partial<PolicyProfile>): Promise<void> => enforcePolicy(stack, says);

const as = (token: string) => ({ env: { ANTIPHON_TOKEN: token } });

async function begin(...more: readonly string[]): Promise<{ runId: string; project: Project }> {
  const project = makeProject({ ...BROKEN_CALCULATOR, "docs/a.md": "old\n" });
  projects.push(project);
  const { document } = await stack.json<{ runId: string }>(
    ["run", "Change it", "--repo", project.path, "--detach", ...more],
    as(ANN),
  );
  return { runId: document.runId, project };
}

const OVER = ["succeeded", "failed", "canceled"];

/** Fails at once if the run ended otherwise. */
const untilStatus = (runId: string, wanted: string) =>
  eventually(
    `${runId} is ${wanted}`,
    async () => {
      const { body } = await stack.http("GET", `/runs/${runId}`, undefined, {
        authorization: `Bearer ${SHARED}`,
      });
      const status = String(body["status"]);
      if (status !== wanted && OVER.includes(status)) expect(body).toBe(wanted);
      return status === wanted ? (body["steps"] as RunStep[]) : null;
    },
    patient(60_000),
  );

describe("a policy with a gate and a class of risk", () => {
  test("lets a change of the class land by itself", async () => {
    await enforce({
      autoLand: { paths: ["docs/**"], maxLines: 10 },
      gates: [{ name: "code", paths: ["*.js"] }],
    });
    const { runId, project } = await begin("--command", "echo new >docs/a.md", "--check", DOCS_CHECK);
    await untilStatus(runId, "succeeded");
    expect(project.landed(runId)).toHaveLength(1);
  });

  test("makes every other change wait for as many people as the gate names, with the reasons", async () => {
    await enforce({
      autoLand: { paths: ["docs/**"] },
      gates: [{ name: "code", paths: ["*.js"], needed: 2 }],
    });
    const { runId, project } = await begin("--command", FIX, "--check", CHECK);
    const [step] = await untilStatus(runId, "waiting_input");
    expect(step?.approval).toMatchObject({
      needed: 2,
      reasons: [
        "add.js does not change without people (policy team, rule autoLand)",
        "add.js changes (policy team, gate code)",
      ],
    });
    const shown = await stack.antiphon(["get", runId], as(BEN));
    expect(shown.stdout).toContain("because add.js changes (policy team, gate code)");
    const own = await stack.antiphon(["approve", runId], as(ANN));
    expect(own.stderr).toContain("ANT_APPROVAL_OWN");
    expect((await stack.antiphon(["approve", runId], as(BEN))).code).toBe(0);
    await untilStatus(runId, "waiting_input");
    expect(project.landed(runId)).toEqual([]);
    expect((await stack.antiphon(["approve", runId], as(CLEO))).code).toBe(0);
    await untilStatus(runId, "succeeded");
    expect(project.landed(runId)).toHaveLength(1);
  });

  test("waits while the checks prove less than the class demands", async () => {
    await enforce({ autoLand: { proof: "fail-to-pass" } });
    const weak = await begin(
      "--command",
      "echo new >docs/a.md",
      "--check",
      DOCS_CHECK,
      "--workflow",
      "BUILD",
    );
    const [step] = await untilStatus(weak.runId, "waiting_input");
    expect(step?.approval?.reasons?.[0]).toContain("fail-to-pass is needed to land without people");
    const strong = await begin("--command", FIX, "--check", CHECK);
    await untilStatus(strong.runId, "succeeded");
    const rejected = await stack.antiphon(["reject", weak.runId, "--reason", "no"], as(BEN));
    expect(rejected.code, rejected.stderr).toBe(0);
    await untilStatus(weak.runId, "failed");
    expect(weak.project.landed(weak.runId)).toEqual([]);
  });
});

describe("a policy that becomes tighter", () => {
  test("is asked again when a person approves: what it forbids now does not land", async () => {
    await enforce({ gates: [{ name: "code", paths: ["*.js"] }] });
    const { runId, project } = await begin("--command", FIX, "--check", CHECK);
    await untilStatus(runId, "waiting_input");
    await enforce({ gates: [{ name: "code", paths: ["*.js"] }], protectedPaths: ["add.js"] });
    const refused = await stack.antiphon(["approve", runId], as(BEN));
    expect(refused.stderr).toContain("ANT_POLICY_REFUSED");
    expect(refused.stderr).toContain("protectedPaths");
    await untilStatus(runId, "waiting_input");
    expect(project.landed(runId)).toEqual([]);
    await enforce({ gates: [{ name: "code", paths: ["*.js"] }] });
    expect((await stack.antiphon(["approve", runId], as(BEN))).code).toBe(0);
    await untilStatus(runId, "succeeded");
  });

  test("shows which past runs it would have refused before it is stored, and the page of one opens", async () => {
    await enforce({});
    const { runId, project } = await begin("--command", FIX, "--check", CHECK);
    await untilStatus(runId, "succeeded");
    const tighter = { ...OPEN, protectedPaths: ["add.js"] };
    const policy = { profiles: { tight: tighter }, defaultProfile: "tight", globalLimits: {} };
    project.write("tighter.json", JSON.stringify(policy));
    const simulate = ["policy", "simulate", "--runs", `repo=${project.path},since=1h`];
    const now = await stack.json(simulate, as(BEN));
    expect(now.document).toMatchObject({ judged: 1, refused: 0 });
    const then = await stack.json([...simulate, "--policy", join(project.path, "tighter.json")], as(BEN));
    expect(then.document).toMatchObject({
      ...{ judged: 1, refused: 1 },
      runs: [
        { runId, principal: "ann", refusal: { profile: "team", rule: "protectedPaths", value: "add.js" } },
      ],
    });
    const wrong = await stack.antiphon(["policy", "simulate", "--runs", "colour=red"], as(BEN));
    expect(wrong).toMatchObject({ code: 2 });
    const shown = await stack.antiphon(["open", runId, "--print"], as(BEN));
    expect(shown.stdout.trim()).toBe(`${stack.ready.gateway.replace(/\/$/, "")}/#/runs/${runId}`);
    expect((await stack.antiphon(["open", "run_absent"], as(BEN))).stderr).toContain("ANT_RUN_NOT_FOUND");
  });
});

describe("a change that the policy refuses", () => {
  test("is rejected with the path that it may not touch, which the next attempt is told and keeps to", async () => {
    await enforce({ protectedPaths: ["docs/**"] });
    const script = [
      FIX,
      // The brief of the first attempt names no path.
      `case "$ANTIPHON_TASK" in *docs/secret.md*) ;; *) mkdir -p docs; echo new > docs/secret.md ;; esac`,
    ].join("; ");
    const flags = ["--check", CHECK, "--attempts", "2", "--agent", "command", "--", "sh", "-c", script];
    const { runId, project } = await begin(...flags);
    const [step] = await untilStatus(runId, "succeeded");
    expect(step).toMatchObject({ attempts: 2, verdict: "PASS" });
    const [landed] = project.landed(runId);
    expect(project.git("show", "--format=", "--name-only", landed ?? "").trim()).toBe("add.js");
    const { body } = await stack.http("GET", `/runs/${runId}/events`, undefined, {
      ...{ accept: "application/json", authorization: `Bearer ${ANN}` },
    });
    const records = body["records"] as { type: string; epoch: number; body: Record<string, unknown> }[];
    const told = records.find(({ type, epoch }) => type === "dispatch" && epoch === 2)?.body["feedback"];
    expect(told).toMatchObject([{ epoch: 1, message: expect.stringContaining("docs/secret.md") as string }]);
  });
});

describe("an approval node of a Plan.v0", () => {
  const plan = {
    nodes: [
      { id: "1", kind: "compute", deps: [] },
      { id: "signed off", kind: "approval", deps: ["1"] },
      { id: "2", kind: "io", deps: ["signed off"] },
    ],
  };

  async function carryOut(): Promise<{ runId: string; project: Project }> {
    const project = makeProject(BROKEN_CALCULATOR);
    projects.push(project);
    const opened = await stack.http("POST", "/sessions", undefined, { authorization: `Bearer ${ANN}` });
    const authorization = { authorization: `Bearer ${String(opened.body["token"])}` };
    const agent = { kind: "scripted", commands: [`grep -q 'a + b' add.js || ${FIX}`] };
    const inputs = { repo: project.path, agent, checks: [CHECK], plan };
    const intent = await stack.http(
      "POST",
      "/intents",
      { goal: "Plan", inputs, constraints: {} },
      authorization,
    );
    const path = `/intents/${String(intent.body["intentId"])}/run`;
    const { body } = await stack.http("POST", path, undefined, authorization);
    return { runId: String(body["runId"]), project };
  }

  test("holds the node behind it until a person approves the change before it", async () => {
    await enforce({});
    const { runId, project } = await carryOut();
    const [first, second] = await untilStatus(runId, "waiting_input");
    expect(first?.approval?.reasons).toEqual(["the plan asks people about this task"]);
    expect(second).toMatchObject({ phase: "blocked", epoch: 0 });
    expect((await stack.antiphon(["get", runId], as(BEN))).stdout).toContain("2 (after T-001)");
    expect((await stack.antiphon(["approve", runId], as(BEN))).code).toBe(0);
    await untilStatus(runId, "succeeded");
    expect(project.landed(runId)).toHaveLength(1);
  });

  test("that a person rejects ends the run: nothing lands, and the node behind it never starts", async () => {
    const { runId, project } = await carryOut();
    await untilStatus(runId, "waiting_input");
    expect((await stack.antiphon(["reject", runId, "--reason", "not now"], as(BEN))).code).toBe(0);
    const [, second] = await untilStatus(runId, "failed");
    expect(second?.epoch).toBe(0);
    expect(project.landed(runId)).toEqual([]);
  });
});
