/**
 * A policy after a run began: it is asked again when a person approves a change, and it can be tried on runs on record
 * before it is stored. A real nats-server, Director and gateway; the test writes what Router and Associate would.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS } from "@antiphon/contracts";
import type { PolicyProfile } from "@antiphon/contracts";
import { openKv } from "@antiphon/runtime";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld, type Answer, type World } from "./gateway-world.ts";
import { untilDecision } from "./waiting-run.ts";

const OPEN: PolicyProfile = {
  name: "team",
  protectedBranches: [],
  requireTestsBeforePush: false,
  requireApprovalForPush: false,
  allowedWorkItemTransitions: [],
};
const configOf = (says: Partial<PolicyProfile>) => ({
  profiles: { team: { ...OPEN, ...says } },
  defaultProfile: "team",
  globalLimits: {},
});

let world: World;
let repo: string;

beforeAll(async () => {
  world = await openWorld();
  repo = makeRepo({ files: { "a.txt": "a\n" } }).path;
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

/** Besides the default profile, one for what is below `place`. */
const withOther = (says: Partial<PolicyProfile>, place: string) => ({
  profiles: { team: OPEN, other: { ...OPEN, ...says, name: "other" } },
  rules: [{ repo: place, profile: "other" }],
});

const store = (config: object): Promise<unknown> => openKv(world.bus, BUCKETS.policies).put("config", config);

async function enforce(says: Partial<PolicyProfile>): Promise<void> {
  await openKv(world.bus, BUCKETS.policies).put("config", configOf(says));
}

const post = (path: string, body?: unknown): Promise<Answer> =>
  world.call("POST", path, body === undefined ? {} : { body });

async function openRun(constraints: Record<string, unknown> = {}): Promise<string> {
  const intent = await post("/intents", intentFor(repo, {}, constraints));
  const started = await post(`/intents/${String(intent.body["intentId"])}/run`);
  expect(started.status, started.text).toBe(202);
  return String(started.body["runId"]);
}

/** A run whose verified change of `path` waits for an approval. */
async function waitingRun(path: string): Promise<string> {
  const runId = await openRun({ approvals: { needed: 1 } });
  await untilDecision(world, runId, path);
  const { body: view } = await world.call("GET", `/runs/${runId}`);
  expect(view["status"]).toBe("waiting_input");
  return runId;
}

const decide = (runId: string, choice: string): Promise<Answer> =>
  post(`/runs/${runId}/events`, { event: "approval", choice, reason: "because" });
const approvals = async (runId: string): Promise<number> =>
  (await world.journal.read(runId)).filter(({ type }) => type === "approval").length;

describe("a policy that became tighter while a change waits", () => {
  it("gateway/G1: refuses the approval by name and stores nothing; the change goes on waiting", async () => {
    await enforce({});
    const runId = await waitingRun("deploy/prod.yaml");
    await enforce({ protectedPaths: ["deploy/**"] });
    const refused = await decide(runId, "approve");
    expect([refused.status, errorOf(refused)]).toMatchObject([
      403,
      { code: "ANT_POLICY_REFUSED", profile: "team", rule: "protectedPaths", value: "deploy/prod.yaml" },
    ]);
    expect(await approvals(runId)).toBe(0);
    await enforce({});
    expect((await decide(runId, "approve")).status).toBe(202);
  });

  it("refuses by the run's options as well", async () => {
    await enforce({});
    const runId = await waitingRun("a.txt");
    await enforce({ allowedAgents: ["command"] });
    expect(errorOf(await decide(runId, "approve"))).toMatchObject({
      rule: "allowedAgents",
      value: "scripted",
    });
  });

  it("that asks for approvals makes the one stale that a gate asked for, instead of refusing it for want of one", async () => {
    await enforce({});
    const intent = await post("/intents", intentFor(repo, { land_on: "topic" }));
    const started = await post(`/intents/${String(intent.body["intentId"])}/run`);
    const runId = String(started.body["runId"]);
    await untilDecision(world, runId, "a.txt", { needed: 1, reasons: ["a.txt changes (gate all)"] });
    await enforce({ requireApprovalForPush: true });
    expect(errorOf(await decide(runId, "approve"))).toMatchObject({ code: "ANT_APPROVAL_STALE" });
    expect(await approvals(runId)).toBe(0);
  });

  it("keeps nobody from rejecting", async () => {
    await enforce({});
    const runId = await waitingRun("a.txt");
    await enforce({ protectedPaths: ["**"] });
    expect((await decide(runId, "reject")).status).toBe(202);
    expect(await approvals(runId)).toBe(1);
  });
});

describe("run/R10: an approval is bound to the policy that its run began under", () => {
  const NARROW: Partial<PolicyProfile> = { maxAttempts: 50 };

  it("is stale when the policy has changed, also over a restart, and names it; nothing is stored", async () => {
    await enforce({});
    const runId = await waitingRun("a.txt");
    await world.restartGateway();
    await enforce(NARROW);
    await world.restartGateway();
    const stale = await decide(runId, "approve");
    expect([stale.status, errorOf(stale)]).toMatchObject([
      409,
      { code: "ANT_APPROVAL_STALE", policy: ["team"] },
    ]);
    expect(stale.text).toContain(`the policy of ${repo} (now team) has changed`);
    expect(await approvals(runId)).toBe(0);
    const { body: view } = await world.call("GET", `/runs/${runId}`);
    expect(view["status"]).toBe("waiting_input");
    await enforce({});
    expect((await decide(runId, "approve")).status).toBe(202);
  });

  it("is stale when the policy became wider, or another profile applies to the repository", async () => {
    await enforce(NARROW);
    const runId = await waitingRun("a.txt");
    await enforce({});
    expect(errorOf(await decide(runId, "approve"))["code"]).toBe("ANT_APPROVAL_STALE");
    await store({ ...configOf(NARROW), ...withOther(NARROW, repo) });
    const other = await decide(runId, "approve");
    expect([errorOf(other)["code"], errorOf(other)["policy"]]).toEqual(["ANT_APPROVAL_STALE", ["other"]]);
    expect((await decide(runId, "reject")).status).toBe(202);
  });

  it("counts when only the profile of another repository, or a limit of the deployment, has changed", async () => {
    await enforce({});
    const runId = await waitingRun("a.txt");
    await store({ ...configOf({}), ...withOther({}, "/srv/elsewhere"), globalLimits: { burst: 900 } });
    await store({ ...configOf({}), ...withOther(NARROW, "/srv/elsewhere"), globalLimits: {} });
    await world.restartGateway();
    const approved = await decide(runId, "approve");
    expect([approved.status, approved.text]).toEqual([202, approved.text]);
  });

  it("counts as before if the run's record is older than such digests", async () => {
    await enforce({});
    const source = await waitingRun("a.txt");
    const [first] = await world.journal.read(source);
    if (first?.type !== "intent" || first.body.policy === undefined) throw new Error("no intent record");
    const { digest, ...older } = first.body.policy;
    expect(digest).toMatch(/^sha256-/);
    const runId = `${source}old`;
    const { taskId, epoch, cause, body } = first;
    await world.journal.append({
      type: "intent",
      runId,
      taskId,
      epoch,
      cause,
      body: { ...body, policy: older },
    });
    await untilDecision(world, runId, "a.txt");
    await enforce(NARROW);
    const approved = await decide(runId, "approve");
    expect([approved.status, approved.text]).toEqual([202, approved.text]);
  });
});

describe("a simulation", () => {
  it("names the runs that a policy would have refused, with profile, rule and value, and stores nothing", async () => {
    await enforce({});
    const [one, other] = [await waitingRun("deploy/prod.yaml"), await waitingRun("a.txt")];
    const records = async () =>
      [await world.journal.read(one), await world.journal.read(other)].flat().length;
    const before = await records();
    const policy = configOf({ protectedPaths: ["deploy/**"] });
    const judged = await post("/policy/simulate", { runs: [one, other, one], policy });
    expect(judged.body["runs"]).toMatchObject([
      { runId: one, principal: "local", profiles: ["team"], refusal: { rule: "protectedPaths" } },
      { runId: other, refusal: null },
    ]);
    const stored = await post("/policy/simulate", { runs: [one] });
    expect(stored.body["runs"]).toMatchObject([{ runId: one, refusal: null }]);
    expect(await records()).toBe(before);
  });

  it.each<[string, unknown, number, string]>([
    ["without runs", { runs: [] }, 400, "ANT_CONTRACT_INVALID"],
    ["of more runs than one request judges", { runs: Array(101).fill("run_a") }, 400, "ANT_CONTRACT_INVALID"],
    [
      "by something that is no policy",
      { runs: ["run_a"], policy: { profiles: 1 } },
      400,
      "ANT_CONTRACT_INVALID",
    ],
    ["of a run that does not exist", { runs: ["run_absent"] }, 404, "ANT_RUN_NOT_FOUND"],
  ])("%s is refused", async (_title, body, status, code) => {
    const answer = await post("/policy/simulate", body);
    expect([answer.status, errorOf(answer)["code"]], answer.text).toEqual([status, code]);
  });
});
