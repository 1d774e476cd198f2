/**
 * The other ways in against every rule of the policy, cell by cell (policy-table.ts): a session's own token, each of its commands,
 * checks, a person's approval over HTTP and by a signed hook, and `start_run` of the MCP server. A real nats-server, Director and
 * gateway, with people who have tokens of their own.
 */
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS, COMMANDS } from "@antiphon/contracts";
import type { CommandName, PolicyProfile, SessionEvent } from "@antiphon/contracts";
import { openKv } from "@antiphon/runtime";
import { signHook } from "../../../services/gateway/src/hooks/hook-signature.ts";
import { closedRecord } from "../../support/closed-record.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, openWorld, type Answer, type World } from "./gateway-world.ts";
import { cellsOf, diff, isRate, OPEN, policyOf, ratesOf, rowsOf, textOf, WAYS } from "./policy-table.ts";
import type { Fields, Row, Side } from "./policy-table.ts";
import { untilDecision } from "./waiting-run.ts";

const BIN = fileURLToPath(new URL("../../../bin/antiphon.mjs", import.meta.url));
const HOOK = "the-secret-of-the-chat-hook";
const secretOf = (name: string): string => `the-secret-of-${name}-0123456789`;

let world: World;
let repo: string;
/** Headers of ann, who asks, and of ben, who decides: with a session's token for what they send. */
let ann: Fields;
let ben: Fields;

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const session = async (name: string, body?: object): Promise<{ id: string; headers: Fields }> => {
  const given = { headers: bearer(secretOf(name)), ...(body === undefined ? {} : { body }) };
  const opened = await world.call("POST", "/sessions", given);
  expect(opened.status, opened.text).toBe(201);
  return { id: String(opened.body["sessionId"]), headers: bearer(String(opened.body["token"])) };
};
const ofRepo = () => ({ repo: { name: "app", path: repo } });

beforeAll(async () => {
  world = await openWorld({
    token: "the-token-of-this-deployment",
    people: ["ann", "ben"].map((name) => ({ name, token: secretOf(name) })),
    directory: {
      roles: new Map([
        ["ann", ["submitter", "approver"]],
        ["ben", ["approver"]],
      ]),
      tenants: new Map(),
    },
    hooks: [{ name: "chat", secret: HOOK }],
  });
  repo = makeRepo({ files: { "a.txt": "a\n", "b.txt": "a\n" } }).path;
  [ann, ben] = [(await session("ann")).headers, (await session("ben")).headers];
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

const enforce = (says: Partial<PolicyProfile>, rate: string | null = null, command?: string) =>
  openKv(world.bus, BUCKETS.policies).put("config", policyOf(says, rate, command));
const post = (path: string, headers: Fields, body?: unknown): Promise<Answer> =>
  world.call("POST", path, {
    headers: headers as Record<string, string>,
    ...(body === undefined ? {} : { body }),
  });

let made = 0;
function intent({ inputs = {}, constraints = {} }: Side): Fields {
  const agent = { kind: "scripted", commands: ["true"] };
  return { goal: `Do it, ${(made += 1)}`, inputs: { repo, agent, ...inputs }, constraints };
}
async function storedIntent(side: Side, headers: Fields): Promise<string> {
  const answer = await post("/intents", headers, intent(side));
  expect(answer.status, answer.text).toBe(201);
  return String(answer.body["intentId"]);
}
async function openRun(side: Side, headers: Fields): Promise<string> {
  const answer = await post(`/intents/${await storedIntent(side, headers)}/run`, headers);
  expect(answer.status, answer.text).toBe(202);
  return String(answer.body["runId"]);
}

function isRefused(answer: Answer, { rule, value }: Row): void {
  expect([answer.status, errorOf(answer)], answer.text).toMatchObject([
    403,
    { code: "ANT_POLICY_REFUSED", profile: "strict", rule, value },
  ]);
}
function isThrottled(answer: Answer, rule: string): void {
  expect([answer.status, errorOf(answer)], answer.text).toMatchObject([
    429,
    { code: "ANT_POLICY_THROTTLED", rule },
  ]);
}

/** A call that is prepared by a session while everything is allowed. */
const BY_SESSION: readonly (readonly [string, (side: Side) => Promise<() => Promise<Answer>>])[] = [
  [
    "POST /intents by a session",
    async (side) => {
      const { headers } = await session("ann", ofRepo());
      return () => post("/intents", headers, intent(side));
    },
  ],
  [
    "POST /intents/:id/run by a session",
    async (side) => {
      const { headers } = await session("ann", ofRepo());
      const id = await storedIntent(side, headers);
      return () => post(`/intents/${id}/run`, headers);
    },
  ],
  [
    "POST /runs/:id/retry by a session",
    async (side) => {
      const { headers } = await session("ann", ofRepo());
      const runId = await openRun(side, headers);
      await world.journal.append(closedRecord(runId));
      return () => post(`/runs/${runId}/retry`, headers);
    },
  ],
];

describe.each(BY_SESSION)("%s", (way, ready) => {
  it.each(rowsOf(way))("is refused by $rule; the allowed variant passes", async (row) => {
    await enforce({});
    const [bad, good] = [await ready(row.bad), await ready(row.good)];
    await enforce(row.says);
    isRefused(await bad(), row);
    expect((await good()).status).toBeLessThan(300);
  });

  it.each(ratesOf(way))("is refused by %s", async (rule) => {
    await enforce({});
    const call = await ready({});
    await enforce({}, rule);
    isThrottled(await call(), rule);
  });
});

describe("a session's own profile", () => {
  it.each(rowsOf("POST /intents by a session"))(
    "refuses by $rule after the deployment's became looser",
    async (row) => {
      await enforce(row.says);
      const { headers } = await session("ann", ofRepo());
      await enforce({});
      isRefused(await post("/intents", headers, intent(row.bad)), row);
    },
  );
});

describe("POST /checks", () => {
  const BODIES: Readonly<Record<string, [Partial<PolicyProfile>, Fields]>> = {
    commandBlacklist: [{ commandBlacklist: ["RunTests"] }, { checks: ["true"] }],
    commandWhitelist: [{ commandWhitelist: ["ApplyPatch"] }, { checks: ["true"] }],
    maxFilesPerCommit: [{ maxFilesPerCommit: 1 }, { patch: textOf(diff("a.txt"), diff("b.txt")) }],
    maxLinesPerCommit: [{ maxLinesPerCommit: 2 }, { patch: textOf(diff("a.txt", 2)) }],
    protectedPaths: [{ protectedPaths: ["b.*"] }, { patch: textOf(diff("b.txt")) }],
    maxTimeBudgetS: [{ maxTimeBudgetS: 10 }, { time_budget_s: 11 }],
  };
  const check = (body: Fields): Promise<Answer> => post("/checks", ann, { repo, ...body });

  it.each(cellsOf("POST /checks").filter((rule) => !isRate(rule)))("is refused by %s", async (rule) => {
    const [says, body] = BODIES[rule] ?? [{}, {}];
    await enforce(says);
    const answer = await check(body);
    expect([answer.status, errorOf(answer)]).toMatchObject([403, { code: "ANT_POLICY_REFUSED", rule }]);
  });

  it.each(ratesOf("POST /checks"))("is refused by %s", async (rule) => {
    await enforce({}, rule);
    isThrottled(await check({ checks: ["true"] }), rule);
  });
});

type Approve = (run: string, verdict: string) => Promise<Answer>;
const APPROVALS: readonly (readonly [string, Approve])[] = [
  [
    "POST /runs/:id/events, approve",
    (run, verdict) => post(`/runs/${run}/events`, ben, { event: "approval", choice: "approve", verdict }),
  ],
  [
    "POST /hooks/:id/decisions, approve",
    (run, verdict) => {
      const reason = `look ${(made += 1)}`; // The same request again would be refused as a repeated one.
      const raw = JSON.stringify({ run, verdict, choice: "approve", by: "ben", reason });
      const at = String(Math.floor(Date.now() / 1000));
      const headers = { "antiphon-timestamp": at, "antiphon-signature": signHook(HOOK, at, raw) };
      return world.call("POST", "/hooks/chat/decisions", { raw, headers });
    },
  ],
];

describe.each(APPROVALS)("%s", (way, approve) => {
  it.each(rowsOf(way))("is refused by $rule and stores nothing; allowed again, it counts", async (row) => {
    await enforce({});
    const constraints = { approvals: { needed: 1 }, ...row.bad.constraints };
    const run = await openRun({ ...row.bad, constraints }, ann);
    const verdict = await untilDecision(world, run, "c.txt");
    await enforce(row.says);
    isRefused(await approve(run, verdict), row);
    const approvals = async () => (await world.journal.read(run)).filter(({ type }) => type === "approval");
    expect(await approvals()).toEqual([]);
    await enforce({});
    expect((await approve(run, verdict)).status).toBe(202);
    expect(await approvals()).toHaveLength(1);
  });
});

describe("mcp start_run", () => {
  let client: Client;
  beforeAll(async () => {
    const env = { ANTIPHON_GATEWAY_URL: world.url, ANTIPHON_TOKEN: secretOf("ann"), HOME: "/nonexistent" };
    client = new Client({ name: "test", version: "1" });
    const PATH = process.env["PATH"] ?? "";
    const args = [BIN, "mcp", "--no-start"];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env: { PATH, ...env } }),
    );
  });
  afterAll(() => client.close());

  async function refusal(given: Fields): Promise<string> {
    const agent = "patch" in given || "program" in given ? {} : { command: ["true"] };
    const answer = await client.callTool({
      name: "start_run",
      arguments: { goal: "Do it", repo, ...agent, ...given },
    });
    expect(answer.isError, JSON.stringify(answer)).toBe(true);
    return JSON.stringify(answer.content);
  }

  it.each(rowsOf("mcp start_run"))("is refused by $rule", async (row) => {
    await enforce(row.says);
    const said = await refusal(row.tool ?? {});
    expect(said).toContain("ANT_POLICY_REFUSED");
    expect(said).toContain(`(profile strict, rule ${row.rule})`);
  });

  it.each(ratesOf("mcp start_run"))("is refused by %s", async (rule) => {
    await enforce({}, rule);
    const said = await refusal({});
    expect(said).toContain("ANT_POLICY_THROTTLED");
    expect(said).toContain(rule.startsWith("limits") ? "(profile strict)" : "(the deployment)");
  });
});

const ITEM = { id: "1" };
const PAYLOADS: Readonly<Record<CommandName, () => Fields>> = {
  CreateBranch: () => ({ ...ofRepo(), branchName: "topic" }),
  ApplyPatch: () => ({ ...ofRepo(), patchContent: textOf(diff("a.txt")) }),
  RunTests: () => ofRepo(),
  Commit: () => ({ ...ofRepo(), message: "Change it", includePaths: ["a.txt"] }),
  Push: () => ({ ...ofRepo(), branchName: "topic" }),
  GetDiff: () => ofRepo(),
  BuildProject: () => ({ ...ofRepo(), projectPath: "package.json" }),
  TransitionTicket: () => ({ item: ITEM, state: "done" }),
  Comment: () => ({ item: ITEM, body: "A comment" }),
  SetAssignee: () => ({ item: ITEM, assignee: "ada" }),
  UploadArtifact: () => ({ name: "a.txt", contentType: "text/plain", content: "YQ==" }),
  RequestApproval: () => ({ reason: "Look at it", requiredActions: [] }),
  QueryBacklog: () => ({}),
  QueryWorkItem: () => ({ item: ITEM }),
};

/** What breaks a rule by a command's own fields: the profile, and the fields of the payload. */
const BROKEN: Readonly<Record<string, [Partial<PolicyProfile>, Fields]>> = {
  "CreateBranch protectedBranches": [{ protectedBranches: ["main"] }, { branchName: "main" }],
  "ApplyPatch maxFilesPerCommit": [
    { maxFilesPerCommit: 1 },
    { patchContent: textOf(diff("a.txt"), diff("b.txt")) },
  ],
  "ApplyPatch maxLinesPerCommit": [{ maxLinesPerCommit: 2 }, { patchContent: textOf(diff("a.txt", 2)) }],
  "ApplyPatch protectedPaths": [{ protectedPaths: ["A.*"] }, {}],
  "RunTests maxTimeBudgetS": [{ maxTimeBudgetS: 60 }, { timeout: "PT61S" }],
  "BuildProject maxTimeBudgetS": [{ maxTimeBudgetS: 60 }, { timeout: "PT61S" }],
  "Commit maxFilesPerCommit": [{ maxFilesPerCommit: 1 }, { includePaths: ["a.txt", "b.txt"] }],
  "Commit protectedPaths": [{ protectedPaths: ["a.*"] }, {}],
  "Push protectedBranches": [{ protectedBranches: ["main"] }, { branchName: "heads/MAIN" }],
  "Push requireTestsBeforePush": [{ requireTestsBeforePush: true }, {}],
  "Push requireApprovalForPush": [{ requireApprovalForPush: true }, {}],
  "TransitionTicket allowedWorkItemTransitions": [{ allowedWorkItemTransitions: ["open"] }, {}],
};

describe.each(Object.keys(COMMANDS) as CommandName[])("command %s", (command) => {
  const way = `command ${command}`;
  let said = 0;
  async function say(fields: Fields = {}): Promise<SessionEvent[]> {
    const { id, headers } = await session("ann", ofRepo());
    const about = { command, commandId: `C-${(said += 1)}`, correlation: { sessionId: id } };
    const body = { ...about, payload: { ...PAYLOADS[command](), ...fields } };
    const answer = await post(`/sessions/${id}/commands`, headers, body);
    expect(answer.status, answer.text).toBe(202);
    return answer.body["events"] as SessionEvent[];
  }

  it("is accepted where nothing forbids it", async () => {
    await enforce({});
    expect((await say())[0]?.event).toBe("CommandAccepted");
  });

  it.each(cellsOf(way).filter((rule) => !isRate(rule)))("is rejected by %s", async (rule) => {
    const named: Readonly<Record<string, Partial<PolicyProfile>>> = {
      commandBlacklist: { commandBlacklist: [command] },
      commandWhitelist: { commandWhitelist: Object.keys(COMMANDS).filter((one) => one !== command) },
    };
    const [says, fields] =
      named[rule] === undefined ? (BROKEN[`${command} ${rule}`] ?? [{}, {}]) : [named[rule], {}];
    await enforce(says);
    const events = await say(fields);
    expect(events).toMatchObject([{ event: "CommandRejected", payload: { policyRule: rule } }]);
    expect(JSON.stringify(events)).toContain(`(profile strict, rule ${rule})`);
  });

  it.each(ratesOf(way))("is rejected by %s", async (rule) => {
    await enforce({}, rule, command);
    const events = await say();
    const last = events.at(-1);
    expect(last).toMatchObject({ event: "CommandRejected", payload: { policyRule: rule } });
    const isCap = rule.endsWith("perCommandCaps");
    expect(events.map(({ event }) => event)).toEqual([...(isCap ? [] : ["Throttled"]), "CommandRejected"]);
  });
});

it("every way of the table is tested here or in policy-doors.test.ts", () => {
  const doors = ["POST /intents", "POST /intents/:id/run", "POST /runs/:id/retry"];
  const there = [...doors, "POST /dead-letters/:id/requeue", "antiphon run"];
  const here = [
    ...BY_SESSION.map(([way]) => way),
    ...APPROVALS.map(([way]) => way),
    "POST /checks",
    "mcp start_run",
  ];
  const commands = Object.keys(COMMANDS).map((command) => `command ${command}`);
  expect(Object.keys(WAYS).sort()).toEqual([...there, ...here, ...commands].sort());
  expect(OPEN.name).toBe("strict");
});
