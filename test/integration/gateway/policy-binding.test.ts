/** The bindings of a policy: a session to its repository, a caller to a call limit, a repository to its profile. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BUCKETS } from "@antiphon/contracts";
import type { PolicyConfig, SessionEvent } from "@antiphon/contracts";
import { openKv } from "@antiphon/runtime";
import { noHeaders } from "../../../runtime/src/nats/wire-headers.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld } from "./gateway-world.ts";
import type { Answer, World } from "./gateway-world.ts";

const TOKEN = "deployment-s3cret";
const PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n";
const profile = (name: string, more: object = {}) => ({
  name,
  protectedBranches: [],
  requireTestsBeforePush: false,
  requireApprovalForPush: false,
  allowedWorkItemTransitions: [],
  ...more,
});
const OPEN: PolicyConfig = { profiles: { open: profile("open") }, defaultProfile: "open", globalLimits: {} };

let world: World;
let ours: string;
let theirs: string;
let outside: string;

beforeAll(async () => {
  world = await openWorld({ token: TOKEN });
  ours = makeRepo({ files: { "a.txt": "a\n" } }).path;
  theirs = makeRepo({ files: { "a.txt": "a\n" } }).path;
  outside = mkdtempSync(join(tmpdir(), "antiphon-links-"));
});
beforeEach(() => enforce(OPEN));
afterAll(async () => {
  await world.close();
  cleanUpRepos();
  rmSync(outside, { recursive: true, force: true });
});

async function enforce(config: PolicyConfig): Promise<void> {
  await openKv(world.bus, BUCKETS.policies).put("config", config);
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
async function session(body?: object): Promise<{ id: string; token: string }> {
  const answer = await world.call("POST", "/sessions", {
    headers: bearer(TOKEN),
    ...(body === undefined ? {} : { body }),
  });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return { id: String(answer.body.sessionId), token: String(answer.body.token) };
}
const repoAt = (path: string) => ({ name: "app", path });
let sent = 0;
async function say(at: { id: string; token: string }, command: string, payload: object): Promise<Answer> {
  const commandId = `C-${(sent += 1)}`;
  const body = { command, commandId, correlation: { sessionId: at.id }, payload };
  return world.call("POST", `/sessions/${at.id}/commands`, { headers: bearer(at.token), body });
}
const eventsIn = ({ body }: Answer) => body.events as SessionEvent[];

describe("a session", () => {
  it("refuses a command about another repository, regardless of its name and whether it exists", async () => {
    const mine = await session({ repo: repoAt(ours) });
    const runs = async () => (await world.call("GET", "/runs", { headers: bearer(TOKEN) })).text;
    const before = await runs();
    symlinkSync(theirs, join(outside, "looks-like-ours"));
    const elsewhere = [
      theirs,
      join(outside, "looks-like-ours"),
      "/nowhere/at/all",
      `${ours}/../${theirs.split("/").at(-1)}`,
    ];
    for (const path of elsewhere) {
      const [event, ...rest] = eventsIn(
        await say(mine, "ApplyPatch", { repo: repoAt(path), patchContent: PATCH }),
      );
      expect(rest).toEqual([]);
      expect(event).toMatchObject({
        event: "CommandRejected",
        payload: {
          policyRule: "session.repo",
          reason: `${path} is not the repository of this session (profile open, rule session.repo)`,
        },
      });
    }
    expect(await runs()).toBe(before);
  });

  it("accepts its own repository by any path that leads there", async () => {
    const mine = await session({ repo: repoAt(ours) });
    symlinkSync(ours, join(outside, "another-way"));
    mkdirSync(join(ours, "sub"), { recursive: true });
    for (const path of [ours, join(outside, "another-way"), join(ours, "sub")]) {
      const [event] = eventsIn(await say(mine, "GetDiff", { repo: { name: "other", path } }));
      expect([path, event?.event]).toEqual([path, "CommandAccepted"]);
    }
  });

  it("accepts only a workspace of its own repository", async () => {
    const body = { repo: repoAt(ours), workspace: { path: theirs } };
    const answer = await world.call("POST", "/sessions", { headers: bearer(TOKEN), body });
    expect([answer.status, errorOf(answer).path]).toEqual([400, "/workspace/path"]);
  });

  it("gateway/G6: keeps its repository's profile even if it names a weaker one", async () => {
    await enforce({
      profiles: { open: profile("open"), strict: profile("strict", { protectedBranches: ["main"] }) },
      defaultProfile: "strict",
      globalLimits: {},
    });
    const mine = await session({ repo: repoAt(ours), policy: "open" });
    const [event] = eventsIn(await say(mine, "Push", { repo: repoAt(ours), branchName: "main" }));
    expect(event).toMatchObject({ event: "CommandRejected", payload: { policyRule: "protectedBranches" } });
  });

  it("issues a token that reaches only its repository", async () => {
    const all = await session();
    const [mine, other] = [await session({ repo: repoAt(ours) }), await session({ repo: repoAt(theirs) })];
    const start = async (token: string, repo: string): Promise<string> => {
      const made = await world.call("POST", "/intents", { headers: bearer(token), body: intentFor(repo) });
      const path = `/intents/${String(made.body.intentId)}/run`;
      return String((await world.call("POST", path, { headers: bearer(token) })).body.runId);
    };
    const [ourRun, theirRun] = [await start(mine.token, ours), await start(all.token, theirs)];
    expect([ourRun, theirRun]).toEqual([expect.stringMatching(/^run_/), expect.stringMatching(/^run_/)]);
    const theirIntent = await world.call("POST", "/intents", {
      headers: bearer(all.token),
      body: intentFor(ours, {}, { max_attempts: 2 }),
    });
    const ask = async (method: string, path: string, body?: object): Promise<[number, unknown]> => {
      const options = { headers: bearer(mine.token), ...(body === undefined ? {} : { body }) };
      const answer = await world.call(method, path, options);
      return [answer.status, errorOf(answer).code];
    };
    expect((await ask("GET", `/runs/${ourRun}`))[0]).toBe(200);
    for (const path of ["", "/evidence", "/events"]) {
      const absent = [404, "ANT_RUN_NOT_FOUND"];
      expect([path, await ask("GET", `/runs/${theirRun}${path}`)]).toEqual([path, absent]);
      expect([path, await ask("GET", `/runs/run_nobody${path}`)]).toEqual([path, absent]);
    }
    for (const verb of ["retry", "pause", "resume", "events"])
      expect([verb, await ask("POST", `/runs/${theirRun}/${verb}`)]).toEqual([
        verb,
        [404, "ANT_RUN_NOT_FOUND"],
      ]);
    for (const id of [String(theirIntent.body.intentId), "it_nobody"]) {
      expect(await ask("GET", `/intents/${id}`)).toEqual([404, "ANT_INTENT_NOT_FOUND"]);
      expect(await ask("POST", `/intents/${id}/run`)).toEqual([404, "ANT_INTENT_NOT_FOUND"]);
    }
    expect(await ask("GET", `/sessions/${other.id}/events`)).toEqual([404, "ANT_SESSION_NOT_FOUND"]);
    expect(await ask("GET", "/sessions/ses_nobody/events")).toEqual([404, "ANT_SESSION_NOT_FOUND"]);
    for (const repo of [theirs, "/nowhere/at/all"])
      expect(await ask("POST", "/intents", intentFor(repo))).toEqual([403, "ANT_POLICY_REFUSED"]);
    for (const [method, path] of [
      ["GET", "/runs"],
      ["GET", "/dead-letters"],
      ["POST", "/images"],
      ["POST", "/recordings"],
      ["POST", "/policy/check"],
      ["GET", `/runs/${ourRun}/journal`],
      ["POST", `/runs/${ourRun}/rebuild`],
      ["POST", `/runs/${ourRun}/restore`],
    ] as const)
      expect([path, await ask(method, path)]).toEqual([path, [403, "ANT_SESSION_SCOPE"]]);
  });
});

describe("a caller", () => {
  it("is limited over all routes and sessions together, and learns when to retry", async () => {
    const prompts = await session();
    const [one, two] = [await session({ repo: repoAt(ours) }), await session({ repo: repoAt(ours) })];
    await enforce({ ...OPEN, globalLimits: { callsPerMinute: 3 } });
    const post = (path: string, body?: object) =>
      world.call("POST", path, { headers: bearer(prompts.token), ...(body === undefined ? {} : { body }) });
    const made = await post("/intents", intentFor(ours, {}, { max_attempts: 4 }));
    expect(made.status).toBe(201);
    const path = `/intents/${String(made.body.intentId)}/run`;
    expect((await post(path)).status).toBe(202);
    const correlation = (id: string) => ({ sessionId: id, issuerAgentId: `agent-${id}` });
    const command = (at: { id: string; token: string }) =>
      world.call("POST", `/sessions/${at.id}/commands`, {
        headers: bearer(at.token),
        body: { command: "QueryBacklog", commandId: "C", correlation: correlation(at.id), payload: {} },
      });
    expect(eventsIn(await command(one))[0]?.event).toBe("CommandAccepted");
    expect(eventsIn(await command(two)).map(({ event }) => event)).toEqual(["Throttled", "CommandRejected"]);
    for (const door of ["/intents", path, "/runs/run_x/restore"]) {
      const refused = await post(door, door === "/intents" ? intentFor(ours) : undefined);
      expect([door, refused.status, errorOf(refused).code]).toEqual([door, 429, "ANT_POLICY_THROTTLED"]);
      const wait = Number(refused.headers["retry-after"]);
      expect(wait).toBeGreaterThan(30);
      expect(wait).toBeLessThanOrEqual(61);
      expect(errorOf(refused).rule).toBe("globalLimits.callsPerMinute");
    }
  });

  it("is held to the limits of a repository's profile on every route to a run", async () => {
    const { token } = await session();
    const post = (path: string, body?: object) =>
      world.call("POST", path, { headers: bearer(token), ...(body === undefined ? {} : { body }) });
    const made = await post("/intents", intentFor(theirs, {}, { max_attempts: 5 }));
    await enforce({
      profiles: { slow: profile("slow", { limits: { callsPerMinute: 1 } }) },
      defaultProfile: "slow",
      globalLimits: {},
    });
    const path = `/intents/${String(made.body.intentId)}/run`;
    expect((await post(path)).status).toBe(202);
    const refused = await post(path);
    expect([refused.status, errorOf(refused).rule]).toEqual([429, "limits.callsPerMinute"]);
  });
});

describe("a repository's profile", () => {
  it("depends on its real location, not on a name, a link, a sub-directory, a work tree or a symbolic ref", async () => {
    const git = (...args: string[]) => execFileSync("git", ["-C", theirs, ...args], { stdio: "pipe" });
    git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
    git("worktree", "add", "-q", join(outside, "tree"), "-b", "topic");
    mkdirSync(join(theirs, "sub"), { recursive: true });
    symlinkSync(theirs, join(outside, "link"));
    await enforce({
      profiles: { open: profile("open"), strict: profile("strict", { protectedBranches: ["main"] }) },
      defaultProfile: "strict",
      globalLimits: {},
      rules: [{ repo: outside, profile: "open" }],
    });
    const { token } = await session();
    const post = (path: string, body?: object) =>
      world.call("POST", path, { headers: bearer(token), ...(body === undefined ? {} : { body }) });
    const land = async (path: string, land_on: string): Promise<unknown> => {
      const repo = { name: "harmless", path };
      const made = await post("/intents", intentFor("", { repo, land_on }));
      const answer = made.status >= 400 ? made : await post(`/intents/${String(made.body.intentId)}/run`);
      return errorOf(answer).rule ?? answer.status;
    };
    for (const path of [theirs, join(theirs, "sub"), join(outside, "link"), join(outside, "tree")])
      expect([path, await land(path, "refs/heads/main")]).toEqual([path, "protectedBranches"]);
    expect(await land(theirs, "alias")).toBe("protectedBranches");
    expect(await land(theirs, "fresh")).toBe(202);
  });

  it("is refused by name if what people stored is not JSON: the advice is to correct it, and nothing is allowed meanwhile", async () => {
    const headers = bearer((await session()).token);
    const payload = Buffer.from('{"profiles": {},}');
    const subject = `$KV.${BUCKETS.policies}.config`;
    const out = { stream: `KV_${BUCKETS.policies}`, subject, payload, headers: noHeaders, group: false };
    expect(await world.bus.publish(out)).toMatchObject({ kind: "ok" });
    const answers = [
      await world.call("GET", "/policy?repo=/", { headers }), // Not the path is at fault, so it is not what is named.
      await world.call("POST", "/intents", { headers, body: intentFor(ours, {}) }),
    ];
    for (const answer of answers) {
      const { code, remedy, message } = errorOf(answer);
      expect([answer.status, code]).toEqual([500, "ANT_POLICY_INVALID"]);
      expect(message).toMatch(/ANT_POLICIES\/config is not JSON: .*position 16/);
      expect(remedy).toMatch(/^Correct them/);
    }
  });

  it("is strict if a deployment with a token has stored no policies", async () => {
    await openKv(world.bus, BUCKETS.policies).delete("config");
    const { token } = await session();
    const body = intentFor(ours, { land_on: "main" });
    const refused = await world.call("POST", "/intents", { headers: bearer(token), body });
    expect([refused.status, errorOf(refused).rule]).toEqual([403, "protectedBranches"]);
  });
});
