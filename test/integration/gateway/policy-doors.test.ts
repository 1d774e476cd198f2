/**
 * Every way to a run against every rule of a policy profile: refused by name with nothing stored, and the honest twin
 * accepted. A real nats-server, Director and gateway; there is no Router, so what is accepted stays queued.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS, jsonSchemaOf, subjects } from "@antiphon/contracts";
import type { PolicyProfile, SessionEvent } from "@antiphon/contracts";
import { openDeadLetters, openKv } from "@antiphon/runtime";
import { POLICY_RULES } from "../../../services/gateway/src/policy/policy.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { closedRecord } from "../../support/closed-record.ts";
import { errorOf, openWorld } from "./gateway-world.ts";
import {
  BUDGET_RULES,
  cellsOf,
  diff,
  policyOf,
  ratesOf,
  rowsOf,
  RULES,
  RUN_RULES,
  WAYS,
} from "./policy-table.ts";
import type { Fields, Row, Side } from "./policy-table.ts";
import { ROUTES } from "../../../services/gateway/src/http/route-table.ts";
import type { Answer, World } from "./gateway-world.ts";

const PROFILE = jsonSchemaOf("PolicyProfile") as { properties: object };
const OF_VERDICT = "it says what a change must prove or who must approve it; the Director decides by it";
const OF_JUDGE = "it says who judges; a run that would bring another judge is refused by ANT_GATE_OWN_JUDGE";
const NO_RULE: Readonly<Record<string, string>> = {
  name: "it names the profile",
  limits: "its fields are rules of their own",
  requireProof: OF_VERDICT,
  minTrials: OF_VERDICT,
  autoLand: OF_VERDICT,
  gates: OF_VERDICT,
  judge: OF_JUDGE,
  ownJudges: OF_JUDGE,
};
/** Routes that start no work, decide nothing and change nothing of a repository. */
const NO_WAY: Readonly<Record<string, string>> = {
  "POST /sessions": "opens a session; its commands are ways",
  "POST /sessions/{id}/commands": "each command is a way of its own",
  "POST /sessions/{id}/approvals": "a push that rests on the approval is judged again",
  "POST /policy/check": "tells, and starts nothing",
  "POST /policy/simulate": "tells, and starts nothing",
  "POST /runs/{id}/pause": "starts nothing",
  "POST /runs/{id}/resume": "lets go on what was admitted",
  "POST /runs/{id}/replay": "repeats an admitted attempt with recorded answers, and lands nothing",
  "POST /runs/{id}/restore": "puts records back unchanged",
  "POST /runs/{id}/rebuild": "writes documents that follow from records",
  "POST /recordings": "stores answers that a run may name",
  "POST /models/test": "asks a host for its models, as an admin",
  "POST /images": "changes the deployment, as an admin",
};
const BIN = fileURLToPath(new URL("../../../bin/antiphon.mjs", import.meta.url));
let world: World;
let repo: string;

beforeAll(async () => {
  world = await openWorld();
  repo = makeRepo({ files: { "a.txt": "a\n", "b.txt": "a\n" } }).path;
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

/** Sets the deployment's policy to a single profile with these fields. */
async function enforce(says: Partial<PolicyProfile>, rate: string | null = null): Promise<void> {
  await openKv(world.bus, BUCKETS.policies).put("config", policyOf(says, rate));
}

/** Counts messages that a caller can cause; timers of earlier runs may be set at any time and do not count. */
async function stored(): Promise<number> {
  let messages = 0;
  for await (const { config, state } of world.bus.jsm.streams.list())
    if (/^(ANT_JOURNAL_|ANT_SESSIONS|ANT_DLQ|KV_ANT_INTENTS)/.test(config.name)) messages += state.messages;
  return messages;
}

let made = 0;
function intent({ inputs = {}, constraints = {} }: Side): Fields {
  const agent = { kind: "scripted", commands: ["true"] };
  return { goal: `Do it, ${(made += 1)}`, inputs: { repo, agent, ...inputs }, constraints };
}

async function post(path: string, body?: unknown): Promise<Answer> {
  return world.call("POST", path, body === undefined ? {} : { body });
}

async function storedIntent(side: Side): Promise<string> {
  const answer = await post("/intents", intent(side));
  expect(answer.text).toContain("intentId");
  return String(answer.body.intentId);
}

async function openRun(side: Side): Promise<string> {
  const answer = await post(`/intents/${await storedIntent(side)}/run`);
  expect(answer.text).toContain("runId");
  return String(answer.body.runId);
}

async function failedRun(side: Side): Promise<string> {
  const runId = await openRun(side);
  await world.journal.append(closedRecord(runId));
  return runId;
}

/** A run whose intent became a dead letter of the Router. */
async function deadLetter(side: Side): Promise<string> {
  const runId = await openRun(side);
  const [record] = await world.journal.read(runId);
  if (record === undefined) throw new Error(`${runId} has no record`);
  const origin = {
    subject: subjects.journal(record, world.bus.partitions),
    seq: record.seq,
    stream: "ANT_JOURNAL_0",
  };
  const given = { consumer: "router", code: "ANT_INTERNAL", detail: "given up", deliveries: 3 };
  await openDeadLetters(world.bus).bury({ ...given, origin, data: new Uint8Array() });
  const { body } = await world.call("GET", "/dead-letters?limit=1000");
  const letters = body.letters as { id: string; runId: string }[];
  return letters.find((letter) => letter.runId === runId)?.id ?? "";
}

/** A route to a run: prepared while everything is allowed, tried under the policy. */
interface Door {
  readonly name: string;
  ready(side: Side): Promise<() => Promise<Answer>>;
  readonly accepts: number;
}

const DOORS: readonly Door[] = [
  {
    name: "POST /intents",
    ready: (side) => Promise.resolve(() => post("/intents", intent(side))),
    accepts: 201,
  },
  {
    name: "POST /intents/:id/run",
    ready: async (side) => {
      const id = await storedIntent(side);
      return () => post(`/intents/${id}/run`);
    },
    accepts: 202,
  },
  {
    name: "POST /runs/:id/retry",
    ready: async (side) => {
      const runId = await failedRun(side);
      return () => post(`/runs/${runId}/retry`);
    },
    accepts: 202,
  },
  {
    name: "POST /dead-letters/:id/requeue",
    ready: async (side) => {
      const id = await deadLetter(side);
      return () => post(`/dead-letters/${id}/requeue`);
    },
    accepts: 202,
  },
];

describe("the table of ways and rules", () => {
  it("has a row for every rule that a run can break, in the order of evaluation", () => {
    const rules = POLICY_RULES.filter((rule) => rule !== "allowedWorkItemTransitions");
    expect(RUN_RULES.map(({ rule }) => rule)).toEqual(rules);
  });

  it("has every field of a profile as a rule, or says why it refuses nothing", () => {
    const fields = Object.keys(PROFILE.properties);
    expect(fields.filter((field) => !POLICY_RULES.includes(field) && !(field in NO_RULE))).toEqual([]);
  });

  it("has every route that acts as a way, or says why it is none", () => {
    const routes = ROUTES.filter(({ method }) => method === "post").map(({ path }) => `POST ${path}`);
    const ways = Object.keys(WAYS).map((way) => way.replaceAll(/:(\w+)/g, "{$1}").replace(/(,| by ).*$/, ""));
    expect(routes.filter((route) => !ways.includes(route) && !(route in NO_WAY))).toEqual([]);
  });

  it("has more than two hundred cells, and each other one has a reason", () => {
    const ways = Object.keys(WAYS);
    const cells = ways.reduce((sum, way) => sum + cellsOf(way).length, 0);
    const reasons = ways.flatMap((way) => Object.entries(WAYS[way] ?? {}));
    expect(cells + reasons.length).toBe(ways.length * RULES.length);
    expect(reasons.filter(([rule, reason]) => !RULES.includes(rule) || reason === "")).toEqual([]);
    expect(cells).toBeGreaterThanOrEqual(200);
    console.log(
      `${ways.length} ways x ${RULES.length} rules: ${cells} cells, ${reasons.length} cannot exist`,
    );
  });
});

describe.each(DOORS)("$name", (door) => {
  it.each(rowsOf(door.name))(
    "gateway/G1: refuses by $rule and stores nothing; the allowed variant passes",
    async (row) => {
      await enforce({});
      const [bad, good] = [await door.ready(row.bad), await door.ready(row.good)];
      await enforce(row.says);
      const before = await stored();
      const refusal = await bad();
      expect([refusal.status, errorOf(refusal)]).toMatchObject([
        403,
        { code: "ANT_POLICY_REFUSED", profile: "strict", rule: row.rule, value: row.value },
      ]);
      expect(errorOf(refusal).message).toContain(`(profile strict, rule ${row.rule})`);
      expect(await stored()).toBe(before);
      const twin = await good();
      expect([twin.status, twin.text]).toEqual([door.accepts, twin.text]);
    },
  );
});

describe("a retry under a policy that allows less by now", () => {
  const rows = RUN_RULES.filter(({ rule }) => BUDGET_RULES.includes(rule));

  it.each(rows)("has its budgets narrowed by $rule, and its answer and its record say so", async (row) => {
    await enforce({});
    const runId = await failedRun(row.bad);
    await enforce(row.says);
    const retried = await post(`/runs/${runId}/retry`);
    expect(retried.status, retried.text).toBe(202);
    const is = row.says[row.rule as "maxAttempts"] ?? 0;
    expect(retried.body.narrowed).toMatchObject([{ was: row.value, is }]);
    expect((await post(`/runs/${runId}/retry`)).body).toEqual({ ...retried.body, replayed: true });
    const record = await world.journal.find("intent", String(retried.body.runId), null, 0);
    if (record?.type !== "intent") throw new Error("a run has an intent");
    const { narrowed, options } = record.body;
    expect(narrowed).toEqual(retried.body.narrowed);
    const { model_budget = {} } = options;
    const budget = narrowed?.[0]?.budget ?? "";
    const now = { ...options, model_tokens: model_budget.tokens, model_usd_micro: model_budget.usd_micro };
    expect(now).toMatchObject({ [budget]: is });
  });

  it("says nothing of budgets that its run left open", async () => {
    await enforce({});
    const runId = await failedRun({});
    await enforce({ maxAttempts: 1, maxTimeBudgetS: 60 });
    expect((await post(`/runs/${runId}/retry`)).body).not.toHaveProperty("narrowed");
  });
});

describe.each(DOORS)("$name", (door) => {
  it.each(ratesOf(door.name))("is refused by %s, with the time of the next call", async (rule) => {
    await enforce({});
    const call = await door.ready({});
    await enforce({}, rule);
    const before = await stored();
    const refusal = await call();
    expect([refusal.status, errorOf(refusal)]).toMatchObject([429, { code: "ANT_POLICY_THROTTLED", rule }]);
    expect(Number(refusal.headers["retry-after"])).toBeGreaterThan(0);
    expect(await stored()).toBe(before);
  });
});

describe("a session's command", () => {
  let session: string;
  const of = () => ({ name: "app", path: repo });
  const say = async (command: string, payload: Fields): Promise<SessionEvent[]> => {
    const correlation = { sessionId: session };
    const body = { command, commandId: `C-${(made += 1)}`, correlation, payload };
    return (await post(`/sessions/${session}/commands`, body)).body.events as SessionEvent[];
  };
  const patch = (...files: { diff: string }[]): [string, Fields] => [
    "ApplyPatch",
    { patchContent: files.map((file) => file.diff).join("") },
  ];
  const push = (branchName: string): [string, Fields] => ["Push", { branchName }];
  const ticket = (state: string): [string, Fields] => ["TransitionTicket", { item: { id: "1" }, state }];
  type Case = [string, Partial<PolicyProfile>, [string, Fields], [string, Fields]];
  const CASES: Case[] = [
    ["commandBlacklist", { commandBlacklist: ["Push"] }, push("topic"), ["GetDiff", {}]],
    ["commandWhitelist", { commandWhitelist: ["GetDiff"] }, push("topic"), ["GetDiff", {}]],
    ["protectedBranches", { protectedBranches: ["main"] }, push("heads/MAIN"), push("topic")],
    ["requireTestsBeforePush", { requireTestsBeforePush: true }, push("topic"), ["GetDiff", {}]],
    ["requireApprovalForPush", { requireApprovalForPush: true }, push("topic"), ["GetDiff", {}]],
    ["allowedWorkItemTransitions", { allowedWorkItemTransitions: ["open"] }, ticket("done"), ticket("open")],
    [
      "maxFilesPerCommit",
      { maxFilesPerCommit: 1 },
      patch(diff("a.txt"), diff("b.txt")),
      patch(diff("a.txt")),
    ],
    ["maxLinesPerCommit", { maxLinesPerCommit: 2 }, patch(diff("a.txt", 2)), patch(diff("a.txt"))],
    ["protectedPaths", { protectedPaths: ["b.*"] }, patch(diff("b.txt")), patch(diff("a.txt"))],
  ];

  it.each(CASES)(
    "gateway/G6: is rejected by %s, also in an earlier session; the allowed variant is accepted",
    async (...row) => {
      const [rule, says, [badName, badPayload], [goodName, goodPayload]] = row;
      await enforce({});
      session = String((await post("/sessions", { repo: of() })).body.sessionId);
      await enforce(says);
      const withRepo = (name: string, payload: Fields): Fields =>
        name === "TransitionTicket" ? payload : { repo: of(), ...payload };
      const [rejected, ...rest] = await say(badName, withRepo(badName, badPayload));
      expect(rest).toEqual([]);
      expect(rejected).toMatchObject({ event: "CommandRejected", payload: { policyRule: rule } });
      expect(JSON.stringify(rejected)).toContain(`(profile strict, rule ${rule})`);
      const [accepted] = await say(goodName, withRepo(goodName, goodPayload));
      expect(accepted?.event).toBe("CommandAccepted");
    },
  );
});

describe("antiphon run", () => {
  async function antiphon(
    args: readonly string[],
  ): Promise<{ code: number | null; err: string; out: string }> {
    const env = { PATH: process.env.PATH, ANTIPHON_GATEWAY_URL: world.url, HOME: "/nonexistent" };
    const child = spawn(process.execPath, [BIN, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, err, out };
  }
  const run = (row: Row): string[] => {
    const [flag, content] = row.cli ?? [];
    const given = flag === "--patch" ? [flag, patchFile(String(content))] : (row.cli ?? []);
    const agent = flag === "--program" || flag === "--patch" ? [] : ["--command", "true"];
    return ["run", "Do it", "--repo", repo, "--detach", ...agent, ...given];
  };
  const patchFile = (content: string): string => {
    const file = join(makeRepo().path, "p.diff");
    writeFileSync(file, content);
    return file;
  };

  it.each(rowsOf("antiphon run"))("is refused by $rule, and reports it", async (row) => {
    await enforce(row.says);
    const before = await stored();
    const { code, err } = await antiphon(run(row));
    expect([code, err]).toEqual([2, err]);
    expect(err).toContain("ANT_POLICY_REFUSED");
    expect(err).toContain(`(profile strict, rule ${row.rule})`);
    expect(await stored()).toBe(before);
  });

  it.each(ratesOf("antiphon run"))("is refused by %s, and reports it", async (rule) => {
    await enforce({}, rule);
    const { code, err, out } = await antiphon([
      "run",
      "Do it",
      "--repo",
      repo,
      "--command",
      "true",
      "--json",
    ]);
    expect([code, err]).toEqual([4, err]);
    expect(`${out}${err}`).toContain("ANT_POLICY_THROTTLED");
    expect(JSON.parse(out)).toMatchObject({ error: { rule } });
  });

  it("explains the policy of a repository, and checks an intent in advance", async () => {
    await enforce({ protectedBranches: ["main"] });
    const patch = join(makeRepo().path, "p.diff");
    writeFileSync(patch, diff("a.txt").diff);
    const before = await stored();
    const refused = await antiphon([
      "policy",
      "check",
      "Do it",
      "--repo",
      repo,
      "--patch",
      patch,
      "--land",
      "main",
    ]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("main is protected (profile strict, rule protectedBranches)");
    const allowed = await antiphon(["policy", "check", "Do it", "--repo", repo, "--patch", patch, "--json"]);
    expect([allowed.code, JSON.parse(allowed.out)]).toMatchObject([0, { allowed: true, refusal: null }]);
    const explained = await antiphon(["policy", "explain", "--repo", repo]);
    expect([explained.code, explained.out]).toEqual([0, explained.out]);
    expect(explained.out).toContain("strict");
    expect(explained.out).toContain("protectedBranches");
    expect(await stored()).toBe(before);
  });
});

describe("POST /checks", () => {
  const check = (body: Fields): Promise<Answer> => post("/checks", { repo, ...body });

  it("is refused as a run that only reads, before a Director is asked for a sandbox", async () => {
    const before = await stored();
    const rules: Partial<PolicyProfile>[] = [
      { commandBlacklist: ["RunTests"] },
      { commandWhitelist: ["ApplyPatch"] },
    ];
    for (const says of rules) {
      await enforce(says);
      const refusal = await check({ checks: ["true"] });
      expect([refusal.status, errorOf(refusal)]).toMatchObject([
        403,
        { code: "ANT_POLICY_REFUSED", profile: "strict", value: "RunTests" },
      ]);
    }
    await enforce({ maxFilesPerCommit: 1 });
    const large = await check({ patch: [diff("a.txt"), diff("b.txt")].map((file) => file.diff).join("") });
    expect([large.status, errorOf(large)]).toMatchObject([403, { rule: "maxFilesPerCommit" }]);
    await enforce({ maxTimeBudgetS: 10 });
    expect(errorOf(await check({ time_budget_s: 11 }))).toMatchObject({ rule: "maxTimeBudgetS" });
    expect(await stored()).toBe(before);
  });

  it("counts as a call", async () => {
    await enforce({ limits: { callsPerMinute: 1 } });
    await check({ repo: join(repo, "missing") });
    const statuses = [await check({ checks: [] }), await check({ checks: [] })].map(({ status }) => status);
    expect(statuses.at(-1)).toBe(429);
  });

  it.each([
    [{ repo: "relative" }, 400, "ANT_CONTRACT_INVALID"],
    [{ patch: "no diff" }, 422, "ANT_PATCH_MALFORMED"],
    [{ repo: "/nonexistent" }, 422, "ANT_REPO_NOT_FOUND"],
    [{ base_ref: "no-such-branch" }, 422, "ANT_REPO_REF_NOT_FOUND"],
  ])("refuses %j before it answers 200", async (body, status, code) => {
    await enforce({});
    const answer = await check(body);
    expect([answer.status, errorOf(answer).code]).toEqual([status, code]);
  });

  it("answers a failure of the check itself in the body of its 200", async () => {
    await enforce({});
    const link =
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n";
    const answer = await check({ patch: link, checks: ["true"] });
    expect([answer.status, errorOf(answer).code]).toEqual([200, "ANT_PATCH_SYMLINK"]);
  });
});
