/** Intents without a repository: what they may read is decided before anything is stored, and read by the Director alone. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS, type BriefMaterial, type StoredRecord } from "@antiphon/contracts";
import { openBlobs, openKv } from "@antiphon/runtime";
import { MaterialRepository } from "../../../services/director/src/connectors/material-repository.ts";
import { FileBacklog } from "../../../services/director/src/work-items/file-backlog.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { issueServer, TOKEN, type IssueServer } from "../../support/issue-server.ts";
import { cleanUpRepos, makeRepo, rawGit, tempDir } from "../../support/repo.ts";
import { openWorld, type Answer, type World } from "./gateway-world.ts";

const SEED = { goal: "daily brief", inputs: { topics: ["infra"] }, constraints: {} };
const worlds: World[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
  cleanUpRepos();
});

async function worldWith(env: Record<string, string>): Promise<World> {
  const config = readDirectorConfig({ ANTIPHON_REPO_COPIES: tempDir(), ...env });
  const world = await openWorld({}, {}, config);
  worlds.push(world);
  return world;
}

const errorOf = ({ body }: Answer) => body["error"] as { code: string; path?: string; message: string };

async function started(world: World, intent: object): Promise<Answer> {
  const made = await world.call("POST", "/intents", { body: intent });
  if (made.status > 201) return made;
  return world.call("POST", `/intents/${String(made.body["intentId"])}/run`);
}

/** What the run starts from, as a Director that was never asked reads it. */
async function materialOf(world: World, { body }: Answer): Promise<BriefMaterial> {
  const [intent] = await world.journal.read(String(body["runId"]));
  const { base } = (intent as Extract<StoredRecord, { type: "intent" }>).body;
  const store = openBlobs(world.bus, BUCKETS.repos);
  const repo = await new MaterialRepository(`${tempDir()}/connectors.git`, store).open([base.commit]);
  return JSON.parse(rawGit(repo.gitDir, "show", `${base.commit}:entries.json`)) as BriefMaterial;
}

function backlog(directory: string, path: string, items: readonly object[]): void {
  const file = new FileBacklog(directory).pathOf({ name: "app", path });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ v: 1, items }));
}

describe("a deployment with a backlog in a file", () => {
  const directory = tempDir();
  const repo = makeRepo({ files: { a: "a\n" } });
  const other = makeRepo({ files: { a: "a\n" } });
  let world: World;

  beforeAll(async () => {
    backlog(directory, repo.path, [
      { id: "1", title: "Infra is slow", status: "open", assignee: "ada" },
      { id: "2", title: "Colours", status: "open" },
      { id: "3", title: "Old infra", status: "done" },
    ]);
    backlog(directory, other.path, [{ id: "1", title: "Other infra", status: "open" }]);
    world = await worldWith({ ANTIPHON_WORK_ITEMS: `file:${directory}`, ANTIPHON_BRIEF_PROJECTS: repo.path });
  });

  it("is read by no agent that nothing holds to the run's tools, also by none after the first one", async () => {
    const [held, free] = [{ kind: "scripted" }, { kind: "command", argv: ["true"] }];
    const constraints = { allowed_tools: ["read_file", "write_file"] };
    for (const agents of [{ agent: free }, { agent: held, next_agents: [free] }]) {
      const answer = await started(world, { ...SEED, inputs: { ...SEED.inputs, ...agents }, constraints });
      expect([answer.status, errorOf(answer).code]).toEqual([403, "ANT_AGENT_TOOL_REFUSED"]);
    }
    expect(
      (await started(world, { ...SEED, inputs: { ...SEED.inputs, agent: held }, constraints })).status,
    ).toBe(202);
  });

  it("runs the brief of the seed, without a repository and without an agent", async () => {
    const answer = await started(world, SEED);
    expect(answer.status).toBe(202);
    const material = await materialOf(world, answer);
    expect(material).toMatchObject({ topics: ["infra"], connectors: ["work-items"], projects: [repo.path] });
    expect(material.entries).toEqual([
      expect.objectContaining({ title: "Infra is slow", status: "open", assignee: "ada" }),
    ]);
  });

  it("reads the projects that the intent names instead", async () => {
    const inputs = { projects: [other.path, repo.path] };
    const { entries } = await materialOf(world, await started(world, { ...SEED, inputs }));
    expect(entries.map(({ title }) => title)).toEqual(["Other infra", "Infra is slow", "Colours"]);
  });

  it.each([
    ["a name that no run can use", { ...SEED, connectors: ["slack"] }, "ANT_INTENT_OPTIONS", '"slack"'],
    [
      "a connector without an adapter",
      { ...SEED, connectors: ["work-items", "pull-requests"] },
      "ANT_CONNECTOR_UNAVAILABLE",
      "pull-requests; it has work-items",
    ],
    [
      "a connector beside a repository",
      { ...SEED, inputs: { repo: repo.path, agent: { kind: "scripted" } }, connectors: ["work-items"] },
      "ANT_INTENT_OPTIONS",
      "reads git only",
    ],
  ])("refuses %s before anything is stored", async (_what, intent, code, says) => {
    const before = await world.stored();
    const answer = await world.call("POST", "/intents", { body: intent });
    expect([answer.status, errorOf(answer).code]).toEqual([422, code]);
    expect(errorOf(answer).message).toContain(says);
    expect(await world.stored()).toBe(before);
  });

  it("refuses a project that it does not serve, and no run begins", async () => {
    const answer = await started(world, { ...SEED, inputs: { projects: [tempDir()] } });
    expect([answer.status, errorOf(answer).code]).toEqual([422, "ANT_REPO_NOT_FOUND"]);
  });

  it("applies the policy of each project before it reads", async () => {
    const profile = (name: string, more: object = {}) => ({
      ...{ name, protectedBranches: [], requireTestsBeforePush: false, requireApprovalForPush: false },
      ...{ allowedWorkItemTransitions: [], ...more },
    });
    const profiles = { open: profile("open"), shut: profile("shut", { commandBlacklist: ["QueryBacklog"] }) };
    const rules = [{ repo: other.path, profile: "shut" }];
    const config = { profiles, rules, defaultProfile: "open", globalLimits: {} };
    const named = await started(world, { ...SEED, inputs: { projects: [other.path] } });
    const runs = [named, await started(world, SEED)].map(({ body }) => String(body["runId"]));
    const judged = await world.call("POST", "/policy/simulate", { body: { runs, policy: config } });
    expect(judged.body["runs"], "a simulation judges them the same").toMatchObject([
      { refusal: { profile: "shut" } },
      { profiles: ["open"], refusal: null },
    ]);
    await openKv(world.bus, BUCKETS.policies).put("config", config);
    try {
      const answer = await started(world, { ...SEED, inputs: { projects: [repo.path, other.path] } });
      expect(errorOf(answer)).toMatchObject({ code: "ANT_POLICY_REFUSED" });
      expect(errorOf(answer).message).toContain("profile shut");
      const body = { ...SEED, inputs: { projects: [other.path] } };
      const check = await world.call("POST", "/policy/check", { body });
      expect(check.body).toMatchObject({ allowed: false, refusal: { profile: "shut" } });
    } finally {
      await openKv(world.bus, BUCKETS.policies).delete("config");
    }
  });

  it("has no repository at the place of what connectors answered", async () => {
    const inputs = { repo: "connectors://run", agent: { kind: "scripted" } };
    const answer = await world.call("POST", "/intents", { body: { ...SEED, inputs } });
    expect(errorOf(answer).code).toBe("ANT_REPO_URL_INVALID");
  });
});

it("a session of a repository reads no connectors", async () => {
  const token = "deployment-s3cret";
  const repo = makeRepo({ files: { a: "a\n" } });
  const env = { ANTIPHON_WORK_ITEMS: `file:${tempDir()}`, ANTIPHON_BRIEF_PROJECTS: repo.path };
  const world = await openWorld(
    { token },
    {},
    readDirectorConfig({ ANTIPHON_REPO_COPIES: tempDir(), ...env }),
  );
  worlds.push(world);
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const body = { repo: { name: "app", path: repo.path } };
  const opened = await world.call("POST", "/sessions", { body, headers: bearer(token) });
  const headers = bearer(String(opened.body["token"]));
  const answer = await world.call("POST", "/intents", { body: SEED, headers });
  expect(errorOf(answer)).toMatchObject({ code: "ANT_POLICY_REFUSED" });
});

it("a deployment without connectors says that the intent names no repository", async () => {
  const answer = await started(await worldWith({}), SEED);
  expect([answer.status, errorOf(answer).code]).toEqual([422, "ANT_INTENT_NO_REPO"]);
});

describe.each(["gitea", "github"] as const)("a deployment with a %s server", (kind) => {
  const repo = makeRepo({ files: { a: "a\n" } });
  let server: IssueServer;
  let world: World;

  beforeAll(async () => {
    server = await issueServer("acme/app", 2);
    const request = { title: "Faster infra", body: "", state: "open", assignees: [], labels: [] };
    server.pulls.push({ ...request, number: 7, draft: true, user: { login: "bob" }, head: { ref: "fast" } });
    const token = `${tempDir()}/token`;
    writeFileSync(token, `${TOKEN}\n`, { mode: 0o600 });
    world = await worldWith({
      ANTIPHON_WORK_ITEMS: `${kind}:${server.url}`,
      ANTIPHON_WORK_ITEMS_TOKEN: token,
      ANTIPHON_REPO_URLS: server.url,
      ANTIPHON_BRIEF_PROJECTS: `${server.url}/acme/app.git`,
    });
  });
  afterAll(() => server.close());

  it("reads issues and pull requests with the deployment's token, which is in nothing that is stored", async () => {
    const material = await materialOf(world, await started(world, { ...SEED, inputs: {} }));
    expect(material.entries.map(({ source, status, author }) => [source, status, author])).toEqual([
      ["work-items/app#1", "open", undefined],
      ["work-items/app#2", "open", undefined],
      ["pull-requests/app#7", "draft", "bob"],
    ]);
    expect(JSON.stringify(material)).not.toContain(TOKEN);
    expect(server.asked.every(({ authorization }) => authorization.endsWith(TOKEN))).toBe(true);
  });

  it("passes on why the server refuses, and no run begins", async () => {
    server.next = (response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end("{}");
    };
    const answer = await started(world, { ...SEED, inputs: {} });
    expect(errorOf(answer).code).toBe("ANT_WORK_ITEMS_CREDENTIALS");
  });

  it("reads no project of another server", async () => {
    const answer = await started(world, { ...SEED, inputs: { projects: [repo.path] } });
    expect(errorOf(answer).code).toBe("ANT_SESSION_REMOTE");
  });
});
