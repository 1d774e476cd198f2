/**
 * A whole session as its people see it: all fourteen commands in sequence, from the ticket to the push over http with the
 * deployment's password, and all ten events by what really happened. The sandbox gets neither the password nor the way to the server.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BUCKETS, validate, type CommandName, type SessionEvent } from "@antiphon/contracts";
import { connectBus, createLogger, openKv, readNatsUser } from "@antiphon/runtime";
import { SseParser } from "../../cli/src/gateway/sse-parser.ts";
import { sessionView } from "../../services/gateway/src/sessions/session-view.ts";
import { gitHttp, publish, type HttpGitServer } from "../support/git-servers.ts";
import { issueServer, send, TOKEN, type IssueServer } from "../support/issue-server.ts";
import { patient } from "../support/patience.ts";
import { cleanUpRepos, tempDir } from "../support/repo.ts";
import { eventually } from "./support/program.ts";
import { makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const [USER, PASSWORD] = ["antiphon-bot", "s3cret-of-the-deployment"];
const [ANN, BEN] = ["ann-s-own-s3cret", "ben-s-own-s3cret"];
const PATCH =
  "--- a/add.js\n+++ b/add.js\n@@ -1 +1 @@\n-module.exports = (a, b) => a - b;\n+module.exports = (a, b) => a + b;\n";

let git: HttpGitServer;
let issues: IssueServer;
/** One address for both, as a Gitea has. */
let front: Server;
let origin: string;
let stack: Stack;
let project: Project;
/** Its origin is a server that the deployment does not name. */
let other: Project;
let bare: string;

/** Says all that a program in the sandbox can find out about secrets, and tries to reach the server. */
const probe = (server: string): string => `
const { test } = require("node:test");
const assert = require("node:assert");
const { execSync } = require("node:child_process");
const add = require("./add.js");
test("adds two", () => assert.equal(add(2, 2), 4));
test("reaches no server", async () => {
  console.log(execSync("env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline ~/.git* ~/.netrc .git/config 2>/dev/null; true").toString());
  await assert.rejects(fetch(${JSON.stringify(server)}));
});
`;

beforeAll(async () => {
  const served = tempDir();
  git = await gitHttp(served, USER, PASSWORD);
  issues = await issueServer("acme/calculator", 3);
  front = createServer((incoming, outgoing) => {
    const { method, headers, url = "" } = incoming;
    const target = new URL(url, url.startsWith("/api/") ? issues.url : git.url);
    const onward = request(target, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  project = makeProject({
    "add.js": "module.exports = (a, b) => a - b;\n",
    "add.test.js": probe(origin),
    "package.json":
      '{"scripts":{"test":"node --test","build":"node -e \\"require(\'./add.js\')\\" && echo built"}}\n',
  });
  bare = publish(project.path, join(served, "acme"), "calculator.git");
  project.git("remote", "add", "origin", `${origin}/acme/calculator.git`);
  const [credentials, token] = [join(tempDir(), "git-credentials"), join(tempDir(), "token")];
  writeFileSync(credentials, `${origin.replace("//", `//${USER}:${PASSWORD}@`)}\n`, { mode: 0o600 });
  writeFileSync(token, TOKEN, { mode: 0o600 });
  stack = await startQuickStack({
    env: {
      ...{ ANTIPHON_REPO_URLS: `${origin}/acme`, ANTIPHON_GIT_CREDENTIALS: credentials },
      ...{ ANTIPHON_WORK_ITEMS: `gitea:${origin}`, ANTIPHON_WORK_ITEMS_TOKEN: token },
      ...{ ANTIPHON_PULL_REQUESTS: "push", ANTIPHON_BUILD_ADAPTER: "sandbox" },
      ...{ ANTIPHON_TOKEN: "deployment-s3cret", ANTIPHON_TOKENS: `ann:${ANN},ben:${BEN}` },
    },
  });
  other = makeProject({ "a.txt": "a\n" });
  other.git("remote", "add", "origin", `${git.url}/elsewhere/calculator.git`);
  const guarded = {
    ...{ name: "guarded", protectedBranches: ["main"], allowedWorkItemTransitions: ["closed"] },
    ...{ requireTestsBeforePush: true, requireApprovalForPush: true },
  };
  const free = { ...guarded, name: "free", requireTestsBeforePush: false, requireApprovalForPush: false };
  const bus = await connectBus({
    servers: stack.ready.nats,
    user: readNatsUser("admin", join(stack.stateDir, "nats-users/admin.nk")),
    name: "policy",
    log: createLogger("policy", { level: "error" }),
  });
  const rules = [{ repo: other.path, profile: "free" }];
  const config = { profiles: { guarded, free }, rules, defaultProfile: "guarded", globalLimits: {} };
  await openKv(bus, BUCKETS.policies).put("config", config);
  await bus.close();
});
afterAll(async () => {
  await stack.stop();
  front.closeAllConnections();
  await new Promise((resolve) => front.close(resolve));
  await git.close();
  await issues.close();
  project.remove();
  other.remove();
  cleanUpRepos();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const events = async (id: string, token: string): Promise<SessionEvent[]> =>
  (await stack.http("GET", `/sessions/${id}/events`, undefined, bearer(token))).body[
    "events"
  ] as SessionEvent[];

async function openedBy(person: string, body?: object): Promise<{ id: string; token: string }> {
  const opened = await stack.http("POST", "/sessions", body, bearer(person));
  expect([opened.status, opened.body["code"]]).toEqual([201, undefined]);
  return { id: String(opened.body["sessionId"]), token: String(opened.body["token"]) };
}

/** Reads the stream until `last` has ended. */
async function streamed(id: string, token: string, last: string): Promise<SessionEvent[]> {
  const headers = { ...bearer(token), accept: "text/event-stream" };
  const { body } = await fetch(`${stack.ready.gateway}/sessions/${id}/events`, { headers });
  const [parser, decoder, seen] = [new SseParser(), new TextDecoder(), [] as SessionEvent[]];
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    for (const { data } of parser.push(decoder.decode(chunk, { stream: true })))
      seen.push(JSON.parse(data) as SessionEvent);
    if (seen.some(({ event, correlation }) => event === "CommandCompleted" && correlation.commandId === last))
      return seen;
  }
  throw new Error("the stream has ended");
}

describe("a session of a person", () => {
  let session: { id: string; token: string };
  let live: Promise<SessionEvent[]>;
  const repo = () => ({ repo: { name: "app", path: project.path } });

  async function send14(command: CommandName, payload: object, commandId: string): Promise<void> {
    const body = { command, commandId, correlation: { sessionId: session.id }, payload };
    const path = `/sessions/${session.id}/commands`;
    const sent = await stack.http("POST", path, body, bearer(session.token));
    expect([sent.status, sent.body["code"]]).toEqual([202, undefined]);
  }

  /** The last event of a command, with its payload. */
  async function end(
    command: CommandName,
    payload: object,
    commandId: string = command,
  ): Promise<SessionEvent> {
    await send14(command, payload, commandId);
    return eventually(`${commandId} ends`, async () => {
      const own = (await events(session.id, session.token)).filter(
        ({ correlation }) => correlation.commandId === commandId,
      );
      return own.find(({ event }) => event === "CommandCompleted" || event === "CommandRejected") ?? null;
    });
  }
  const succeeded = { event: "CommandCompleted", payload: { outcome: "Success" } };

  test(
    "goes from its ticket to a pushed branch by all fourteen commands",
    async () => {
      session = await openedBy(ANN, { ...repo(), workItem: { id: "2" } });
      live = streamed(session.id, session.token, "Last");
      const item = { item: { id: "2" } };

      expect(await end("QueryBacklog", {})).toMatchObject(succeeded);
      expect(await end("QueryWorkItem", item)).toMatchObject(succeeded);
      expect(await end("SetAssignee", { ...item, assignee: "ada" })).toMatchObject(succeeded);
      expect(await end("CreateBranch", { ...repo(), branchName: "fix-add" })).toMatchObject(succeeded);
      expect(
        await end("ApplyPatch", { ...repo(), patchContent: PATCH.replaceAll("a - b", "a / b") }, "Stale"),
      ).toMatchObject({
        payload: { errorCode: "ANT_PATCH_DOES_NOT_APPLY" },
      });
      expect(await end("ApplyPatch", { ...repo(), patchContent: PATCH })).toMatchObject(succeeded);
      expect(await end("GetDiff", repo())).toMatchObject(succeeded);
      expect(await end("RunTests", { ...repo(), filter: "adds two" }, "Filtered")).toMatchObject(succeeded);
      expect(await end("RunTests", repo())).toMatchObject(succeeded);
      expect(await end("BuildProject", { ...repo(), projectPath: "package.json" })).toMatchObject(succeeded);
      expect(await end("Commit", { ...repo(), message: "Add adds", includePaths: [] })).toMatchObject(
        succeeded,
      );
      const content = Buffer.from("measured: 3 ms\n").toString("base64");
      const upload = { name: "bench.txt", contentType: "text/plain", content };
      expect(await end("UploadArtifact", upload)).toMatchObject(succeeded);

      expect(await end("Push", { ...repo(), branchName: "fix-add" }, "Early")).toMatchObject({
        event: "CommandRejected",
        payload: { policyRule: "requireApprovalForPush" },
      });
      await send14("RequestApproval", { reason: "ready", requiredActions: ["read it"] }, "RequestApproval");
      await decide("approve");
      expect(await end("Push", { ...repo(), branchName: "fix-add" })).toMatchObject(succeeded);
      expect(await end("Comment", { ...item, body: "Pushed" })).toMatchObject(succeeded);
      issues.next = (response) => send(response, 429, { message: "slow down" }, { "retry-after": "120" });
      expect(await end("QueryBacklog", {}, "Throttled")).toMatchObject({
        payload: { errorCode: "ANT_WORK_ITEMS_THROTTLED" },
      });
      expect(await end("TransitionTicket", { ...item, state: "closed" }, "Last")).toMatchObject(succeeded);
    },
    patient(120_000),
  );

  async function decide(choice: string): Promise<void> {
    const ben = await openedBy(BEN);
    const at = `/sessions/${session.id}/approvals`;
    const request = await eventually("the request waits", async () => {
      const { body } = await stack.http("GET", at, undefined, bearer(BEN));
      return (body["approvals"] as { commandId: string; digest: string }[])[0] ?? null;
    });
    const body = { ...{ commandId: request.commandId, digest: request.digest }, choice };
    const own = await stack.http("POST", at, body, bearer((await openedBy(ANN)).token));
    expect(own.body["code"], "not by the person who works in it").toBe("ANT_APPROVAL_OWN");
    expect((await stack.http("POST", at, body, bearer(ben.token))).status).toBe(200);
  }

  test("has really done all of it: at the git server, at the issues and in the pull request", () => {
    const show = (...args: string[]) =>
      execFileSync("git", ["-C", bare, ...args], { encoding: "utf8" }).trim();
    expect(show("show", "fix-add:add.js")).toContain("a + b");
    expect(show("rev-parse", "fix-add")).toBe(project.git("rev-parse", "fix-add").trim());
    expect(show("rev-parse", "main")).toBe(project.git("rev-parse", "main").trim());
    expect(issues.issues[1]).toMatchObject({ state: "closed", assignees: [{ login: "ada" }] });
    expect(issues.comments.get(2)).toEqual([expect.stringMatching(/^Pushed\n/)]);
    expect(issues.pulls.map(({ title, head }) => [title, head.ref])).toEqual([["Add adds", "fix-add"]]);
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("is told by all ten events, pushed once each, and their replay is the session", async () => {
    const seen = await live;
    for (const event of seen) expect(validate("SessionEvent", event)).toMatchObject({ ok: true });
    expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, i) => i + 1));
    expect(new Set(seen.map(({ event }) => event))).toEqual(
      new Set([
        ...["SessionStatusChanged", "PlanUpdated", "CommandAccepted", "CommandRejected", "CommandCompleted"],
        ...["ArtifactAvailable", "ConflictDetected", "BacklogQueried", "WorkItemQueried", "Throttled"],
      ]),
    );
    const { body } = await stack.http("GET", `/sessions/${session.id}`, undefined, bearer(session.token));
    const { config, ...shown } = body;
    expect(config).toMatchObject({ workItem: { id: "2" } });
    expect(sessionView(seen)).toEqual(shown);
  });

  test("never had the deployment's password or token in its sandbox, where the server was out of reach", async () => {
    const all = await events(session.id, session.token);
    const results = all.flatMap((one) =>
      one.event === "ArtifactAvailable" && one.payload.kind === "TestResults" ? [one.payload] : [],
    );
    const texts = await Promise.all(
      results.map(async ({ downloadUri = "" }) => {
        const answer = await fetch(`${stack.ready.gateway}${downloadUri}`, {
          headers: bearer(session.token),
        });
        return answer.text();
      }),
    );
    expect(texts.join("")).toContain("PATH=");
    const told = JSON.stringify(all) + texts.join("");
    for (const secret of [PASSWORD, TOKEN, ANN, BEN, "deployment-s3cret"]) expect(told).not.toContain(secret);
    expect(git.seen.length, "the Director sent it").toBeGreaterThan(0);
  });

  test("pushes to no server that the deployment does not name, which is told by its name", async () => {
    session = await openedBy(ANN, { repo: { name: "other", path: other.path } });
    const there = { repo: { name: "other", path: other.path } };
    await end("CreateBranch", { ...there, branchName: "topic" });
    const before = git.seen.length;
    const pushed = await end("Push", { ...there, branchName: "topic" });
    expect(pushed).toMatchObject({ payload: { errorCode: "ANT_REPO_URL_REFUSED" } });
    expect(JSON.stringify(pushed)).toContain(`${git.url}/elsewhere/calculator.git`);
    expect(git.seen).toHaveLength(before);
  });
});
