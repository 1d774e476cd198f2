/** Work items of sessions: a file without an account, and the issues of a server that speaks the REST API. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { SessionEvent, WorkItemDetails, WorkItemSummary } from "@antiphon/contracts";
import { FileBacklog } from "../../../services/director/src/work-items/file-backlog.ts";
import { IssueTracker } from "../../../services/director/src/work-items/issue-tracker.ts";
import { ServerPullRequests } from "../../../services/director/src/work-items/pull-requests.ts";
import { TrackerClient } from "../../../services/director/src/work-items/tracker-client.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { issueServer, send, TOKEN, type IssueServer } from "../../support/issue-server.ts";
import { cleanUpRepos, makeRepo, tempDir } from "../../support/repo.ts";
import { openWorld, type World } from "./gateway-world.ts";
import { openClient, type SessionClient } from "./session-world.ts";

const worlds: World[] = [];
afterAll(async () => {
  for (const world of worlds) await world.close();
  cleanUpRepos();
});

async function worldWith(env: Record<string, string>): Promise<World> {
  const world = await openWorld({}, {}, readDirectorConfig(env));
  worlds.push(world);
  return world;
}

const names = (events: readonly SessionEvent[]): string[] => events.map(({ event }) => event);
const itemsOf = (events: readonly SessionEvent[]): WorkItemSummary[] =>
  events.flatMap((one) => (one.event === "BacklogQueried" ? one.payload.items : []));
const detailsOf = (events: readonly SessionEvent[]): WorkItemDetails | undefined =>
  events.flatMap((one) => (one.event === "WorkItemQueried" ? [one.payload.details] : []))[0];
const SUCCESS = { outcome: "Success" };

describe("work items in a file", () => {
  const directory = tempDir();
  const repo = makeRepo({ files: { a: "a\n" } });
  const file = new FileBacklog(directory).pathOf({ name: "app", path: repo.path });
  let session: SessionClient;
  const item = (id: string) => ({ item: { id } });

  beforeAll(async () => {
    mkdirSync(dirname(file), { recursive: true });
    const items = [
      { id: "7", title: "Fix the parser", description: "It loops.", status: "open", tags: ["bug"] },
      { id: "8", title: "Old", status: "done" },
    ];
    writeFileSync(file, JSON.stringify({ v: 1, items }));
    const world = await worldWith({ ANTIPHON_WORK_ITEMS: `file:${directory}` });
    session = await openClient(world, { name: "app", path: repo.path });
  });

  it("are listed, read, moved, assigned and commented without an account", async () => {
    const listed = await session.run("QueryBacklog");
    expect(names(listed)).toEqual(["CommandAccepted", "BacklogQueried", "CommandCompleted"]);
    expect(itemsOf(listed)).toEqual([{ id: "7", title: "Fix the parser", status: "open" }]);
    expect(itemsOf(await session.run("QueryBacklog", { filter: "status:any old" }))).toHaveLength(1);
    expect(await session.end("SetAssignee", { ...item("7"), assignee: "ada" })).toMatchObject(SUCCESS);
    expect(await session.end("TransitionTicket", { ...item("7"), state: "in progress" })).toMatchObject(
      SUCCESS,
    );
    expect(await session.end("Comment", { ...item("7"), body: "Looking at it" })).toMatchObject(SUCCESS);
    const read = await session.run("QueryWorkItem", item("7"));
    expect(names(read)).toEqual(["CommandAccepted", "WorkItemQueried", "CommandCompleted"]);
    expect(detailsOf(read)).toEqual({
      ...{ id: "7", title: "Fix the parser", description: "It loops.", status: "in progress" },
      ...{ assignee: "ada", tags: ["bug"] },
    });
    expect(readFileSync(file, "utf8")).toContain("Looking at it");
  });

  it("may be moved to the states that the policy names and to no other; `*` is no pattern", async () => {
    for (const state of ["*", "released", "Done"]) {
      const events = await session.run("TransitionTicket", { ...item("7"), state });
      expect(names(events)).toEqual(["CommandRejected"]);
      expect(events[0]?.payload).toMatchObject({ policyRule: "allowedWorkItemTransitions" });
    }
    expect(detailsOf(await session.run("QueryWorkItem", item("7")))?.status).toBe("in progress");
  });

  it("that do not exist, or are of another adapter, are a coded failure", async () => {
    const missing = await session.end("QueryWorkItem", item("none"));
    expect(missing).toMatchObject({ errorCode: "ANT_WORK_ITEM_NOT_FOUND" });
    expect(missing.message).toContain(file);
    const foreign = { item: { id: "7", providerHint: "jira" } };
    expect(await session.end("QueryWorkItem", foreign)).toMatchObject({
      errorCode: "ANT_ADAPTER_UNAVAILABLE",
    });
    expect(await session.end("Comment", { ...item("7"), body: " " })).toMatchObject({
      errorCode: "ANT_WORK_ITEM_REFUSED",
    });
  });

  it("in a file that is damaged are a coded failure, and nothing is written", async () => {
    const whole = readFileSync(file, "utf8");
    for (const text of ["{", '{"v":1,"items":[{"id":"7"}]}']) {
      writeFileSync(file, text);
      const end = await session.end("SetAssignee", { ...item("7"), assignee: "bob" });
      expect(end).toMatchObject({ outcome: "Failure", errorCode: "ANT_WORK_ITEMS_UNREADABLE" });
      expect(readFileSync(file, "utf8")).toBe(text);
    }
    writeFileSync(file, whole);
  });

  it("are of one repository; another one has a backlog of its own", async () => {
    const other = await openClient(worlds[0] as World, {
      name: "app",
      path: makeRepo({ files: { a: "" } }).path,
    });
    expect(itemsOf(await other.run("QueryBacklog"))).toEqual([]);
  });
});

describe.each(["gitea", "github"] as const)("the issues of a %s server", (kind) => {
  let server: IssueServer;
  let session: SessionClient;
  let world: World;
  const repo = makeRepo({ files: { a: "a\n" } });
  const item = { item: { id: "3" } };

  beforeAll(async () => {
    server = await issueServer("acme/app", 120);
    server.issues.push({ ...(server.issues[0] as (typeof server.issues)[0]), number: 121, pull_request: {} });
    repo.git("remote", "add", "origin", `${server.url}/acme/app.git`);
    const token = `${tempDir()}/token`;
    writeFileSync(token, `${TOKEN}\n`, { mode: 0o600 });
    const served = { ANTIPHON_WORK_ITEMS: `${kind}:${server.url}`, ANTIPHON_WORK_ITEMS_TOKEN: token };
    world = await worldWith({ ...served, ANTIPHON_REPO_URLS: server.url });
    session = await openClient(world, { name: "app", path: repo.path });
  });
  afterAll(() => server.close());
  afterEach(() => {
    server.next = null;
    server.after = null;
    server.unknown = "refused";
  });

  it("are listed over all pages, without pull requests, and by filter", async () => {
    server.asked.length = 0;
    expect(itemsOf(await session.run("QueryBacklog"))).toHaveLength(120);
    expect(server.asked).toHaveLength(3);
    expect(itemsOf(await session.run("QueryBacklog", { filter: "tag:even" }))).toHaveLength(60);
  });

  it("are read, assigned, commented and closed", async () => {
    expect(await session.end("SetAssignee", { ...item, assignee: "ada" })).toMatchObject(SUCCESS);
    expect(await session.end("Comment", { ...item, body: "Done" })).toMatchObject(SUCCESS);
    expect(server.comments.get(3)?.[0]).toMatch(/^Done\n\n<!-- antiphon:[0-9a-f]{32} -->$/);
    expect(await session.end("TransitionTicket", { ...item, state: "closed" })).toMatchObject(SUCCESS);
    expect(detailsOf(await session.run("QueryWorkItem", { item: { id: "#3", providerHint: kind } }))).toEqual(
      {
        ...{
          id: "3",
          title: "Issue 3",
          description: "Text 3",
          status: "closed",
          assignee: "ada",
          tags: ["odd"],
        },
      },
    );
    expect(itemsOf(await session.run("QueryBacklog", { filter: "status:closed" }))).toHaveLength(1);
  });

  it("say why a call is refused: each status has a code", async () => {
    const statuses = [
      [401, "ANT_WORK_ITEMS_CREDENTIALS"],
      [403, "ANT_WORK_ITEMS_FORBIDDEN"],
      [404, "ANT_WORK_ITEM_NOT_FOUND"],
      [422, "ANT_WORK_ITEM_REFUSED"],
      [301, "ANT_WORK_ITEMS_UNREADABLE"],
      [502, "ANT_WORK_ITEMS_UNAVAILABLE"],
    ] as const;
    for (const [status, errorCode] of statuses) {
      const location = { location: "http://127.0.0.1:1/elsewhere" };
      server.next = (response) => send(response, status, { message: `no: ${TOKEN}` }, location);
      const end = await session.end("QueryWorkItem", item);
      expect(end).toMatchObject({ outcome: "Failure", errorCode });
    }
    server.next = (response) => response.end("<html>");
    expect(await session.end("QueryWorkItem", item)).toMatchObject({
      errorCode: "ANT_WORK_ITEMS_UNREADABLE",
    });
    server.next = (response) => response.destroy();
    expect(await session.end("QueryWorkItem", item)).toMatchObject({
      errorCode: "ANT_WORK_ITEMS_UNAVAILABLE",
    });
    expect(await session.end("QueryWorkItem", { item: { id: "999" } })).toMatchObject({
      errorCode: "ANT_WORK_ITEM_NOT_FOUND",
    });
    expect(await session.end("QueryWorkItem", { item: { id: "../labels" } })).toMatchObject({
      errorCode: "ANT_WORK_ITEM_NOT_FOUND",
    });
    expect(await session.end("Comment", { item: { id: "121" }, body: "x" })).toMatchObject({
      errorCode: "ANT_WORK_ITEM_NOT_FOUND",
    });
  });

  it("that are served with a limit on calls answer with the time of the next one", async () => {
    const refusals: readonly [number, Record<string, string>][] = [
      [429, { "retry-after": "120" }],
      [
        403,
        { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 120) },
      ],
    ];
    for (const [status, headers] of refusals) {
      server.next = (response) => send(response, status, { message: "slow down" }, headers);
      const events = await session.run("QueryBacklog");
      expect(names(events)).toEqual(["CommandAccepted", "Throttled", "CommandCompleted"]);
      const { scope, retryAfter } = events[1]?.payload as { scope: string; retryAfter: string };
      expect(scope).toBe("workItems.QueryBacklog");
      expect(Date.parse(retryAfter) - Date.now()).toBeGreaterThan(100_000);
      expect(events[2]?.payload).toMatchObject({ errorCode: "ANT_WORK_ITEMS_THROTTLED" });
    }
    expect((await session.run("QueryWorkItem", item)).at(-1)?.payload).toMatchObject(SUCCESS);
  });

  it("have a comment once, though its answer was lost and it is tried again", async () => {
    const api = `${server.url}/api/${kind === "gitea" ? "v1" : "v3"}`;
    const client = new TrackerClient({ api, token: TOKEN, scheme: kind === "gitea" ? "token" : "Bearer" });
    const urlOf = () => Promise.resolve(`${server.url}/acme/app.git`);
    const tracker = new IssueTracker({ name: kind, server: new URL(server.url), client, urlOf });
    const at = { name: "app", path: repo.path };
    const { signal } = new AbortController();
    server.after = (response) => response.destroy();
    const comment = { body: "Once", key: "s/C", again: false };
    await expect(tracker.comment(at, "9", comment, signal)).rejects.toMatchObject({
      code: "ANT_WORK_ITEMS_UNAVAILABLE",
    });
    server.after = null;
    await tracker.comment(at, "9", { ...comment, again: true }, signal);
    expect(server.comments.get(9)).toHaveLength(1);
  });

  it("with an unknown assignee are refused, also if the server drops the name without a word or fails", async () => {
    for (const answer of ["refused", "dropped", "failed"] as const) {
      server.unknown = answer;
      const end = await session.end("SetAssignee", { item: { id: "4" }, assignee: "nobody" });
      expect(end).toMatchObject({ outcome: "Failure", errorCode: "ANT_WORK_ITEM_REFUSED" });
    }
  });

  it("are joined by a pull request for a pushed branch, one for each branch", async () => {
    const api = `${server.url}/api/${kind === "gitea" ? "v1" : "v3"}`;
    const client = new TrackerClient({ api, token: TOKEN, scheme: kind === "gitea" ? "token" : "Bearer" });
    const at = new URL(server.url);
    const urlOf = () => Promise.resolve(`${server.url}/acme/app.git`);
    const pulls = new ServerPullRequests({ name: kind, server: at, client, urlOf });
    const propose = (branch: string, title = "Change a") =>
      pulls.propose(
        { name: "app", path: repo.path },
        { branch, title, body: "" },
        AbortSignal.timeout(30_000),
      );
    const made = await propose("topic");
    const url = `${server.url}/acme/app/${kind === "gitea" ? "pulls" : "pull"}/${made?.id}`;
    expect(made).toEqual({ id: made?.id, url, isNew: true });
    expect(await propose("topic")).toEqual({ ...made, isNew: false });
    expect(await propose("main"), "the branch that they go to").toBeNull();
    server.pulls[0]!.head.repo = { full_name: "eve/app" };
    await expect(propose("topic"), "one of a fork does not count").rejects.toMatchObject({
      code: "ANT_WORK_ITEM_REFUSED",
    });
    server.pulls.length = 0;
    await expect(propose("other", "")).rejects.toMatchObject({ code: "ANT_WORK_ITEM_REFUSED" });
    expect(server.pulls).toEqual([]);
  });

  it("of another project than the session's repository are out of reach", async () => {
    const other = makeRepo({ files: { a: "a\n" } });
    const foreign = await openClient(world, { name: "app", path: other.path });
    expect(await foreign.end("QueryBacklog")).toMatchObject({ errorCode: "ANT_SESSION_REMOTE" });
    other.git("remote", "add", "origin", `${server.url}/acme/secret.git`);
    expect(await foreign.end("QueryBacklog")).toMatchObject({ errorCode: "ANT_WORK_ITEMS_FORBIDDEN" });
    other.git("remote", "set-url", "origin", "https://git.example.com/acme/app.git");
    expect(await foreign.end("QueryBacklog")).toMatchObject({ errorCode: "ANT_REPO_URL_REFUSED" });
  });

  it("see the deployment's token, and no event holds it", async () => {
    expect(new Set(server.asked.map(({ authorization }) => authorization)).size).toBe(1);
    expect(JSON.stringify(await session.events())).not.toContain(TOKEN);
  });
});
