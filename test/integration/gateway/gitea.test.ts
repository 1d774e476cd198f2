/**
 * Sessions and briefs against a real Gitea: its issues, pushes over http with a token, and its pull requests. The program is
 * named by ANTIPHON_TEST_GITEA; what this found is in `test/support/issue-server.ts`, with which the other tests work.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS } from "@antiphon/contracts";
import type { BriefMaterial, SessionEvent, StoredRecord } from "@antiphon/contracts";
import { openBlobs } from "@antiphon/runtime";
import { MaterialRepository } from "../../../services/director/src/connectors/material-repository.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { IssueTracker } from "../../../services/director/src/work-items/issue-tracker.ts";
import { TrackerClient } from "../../../services/director/src/work-items/tracker-client.ts";
import { giteaProgram, startGitea, type Gitea } from "../../support/gitea.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos, makeRepo, rawGit, tempDir, type TestRepo } from "../../support/repo.ts";
import { openWorld, type World } from "./gateway-world.ts";
import { openClient, type SessionClient } from "./session-world.ts";

const ISSUES = 60;
const PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n";
const PROJECT = "/repos/acme/app";
const SUCCESS = { outcome: "Success" };
const worlds: World[] = [];
let gitea: Gitea;
let owner: string;
/** What the deployment has: it may write to the project, and is nobody's account. */
let bot: string;
let repo: TestRepo;
let world: World;
let session: SessionClient;

/** A deployment with this token, for issues and for pushes. */
async function worldWith(token: string, more: Record<string, string> = {}): Promise<World> {
  const directory = tempDir();
  const [credentials, tokenFile] = [join(directory, "credentials"), join(directory, "token")];
  writeFileSync(credentials, `${gitea.url.replace("//", `//bot:${token}@`)}\n`, { mode: 0o600 });
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const config = readDirectorConfig({
    ...{ ANTIPHON_REPO_URLS: gitea.url, ANTIPHON_GIT_CREDENTIALS: credentials },
    ...{ ANTIPHON_WORK_ITEMS: `gitea:${gitea.url}`, ANTIPHON_WORK_ITEMS_TOKEN: tokenFile },
    ...{ ANTIPHON_REPO_COPIES: tempDir(), ...more },
  });
  const opened = await openWorld({}, {}, config);
  worlds.push(opened);
  return opened;
}

async function api<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await gitea.call(owner, method, path, body);
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body as T;
}

const sessionOf = (at: World, { path }: TestRepo) => openClient(at, { name: "app", path });
const items = (events: readonly SessionEvent[]) =>
  events.flatMap((one) => (one.event === "BacklogQueried" ? one.payload.items : []));

beforeAll(async () => {
  const found = giteaProgram();
  if ("unavailable" in found) throw new Error(`unavailable: ${found.unavailable}`);
  gitea = await startGitea(found.program);
  owner = gitea.user("acme");
  bot = gitea.user("bot", "write:repository,write:issue,read:user");
  gitea.user("ada");
  await api("POST", "/user/repos", { name: "app", default_branch: "main" });
  await api("POST", "/user/repos", { name: "secret", private: true });
  await api("PUT", `${PROJECT}/collaborators/bot`, { permission: "write" });
  for (let i = 1; i <= ISSUES; i += 1)
    await api("POST", `${PROJECT}/issues`, { title: `Issue ${i}`, body: `Text ${i}` });
  repo = makeRepo({ files: { "a.txt": "a\n" } });
  repo.git("remote", "add", "origin", `${gitea.url}/acme/app.git`);
  const authority = gitea.url.replace("//", `//acme:${owner}@`);
  execFileSync("git", ["-C", repo.path, "push", "-q", `${authority}/acme/app.git`, "HEAD:refs/heads/main"], {
    stdio: "ignore",
  });
  world = await worldWith(bot, { ANTIPHON_PULL_REQUESTS: "push" });
  session = await sessionOf(world, repo);
}, patient(120_000));
afterAll(async () => {
  for (const one of worlds) await one.close();
  await gitea.close();
  cleanUpRepos();
});

describe("the issues of a real Gitea", () => {
  it("are listed over all pages, and by filter", async () => {
    expect(items(await session.run("QueryBacklog"))).toHaveLength(ISSUES);
    expect(items(await session.run("QueryBacklog", { filter: `Issue ${ISSUES}` }))).toHaveLength(1);
  });

  it("are assigned, commented, moved and read", async () => {
    const item = { item: { id: "3" } };
    expect(await session.end("SetAssignee", { ...item, assignee: "ada" })).toMatchObject(SUCCESS);
    expect(await session.end("Comment", { ...item, body: "Looking at it" })).toMatchObject(SUCCESS);
    expect(await session.end("TransitionTicket", { ...item, state: "closed" })).toMatchObject(SUCCESS);
    const [, read] = await session.run("QueryWorkItem", item);
    expect(read?.payload).toMatchObject({
      details: { id: "3", title: "Issue 3", description: "Text 3", status: "closed", assignee: "ada" },
    });
    const stored = await api<{ state: string; assignee: { login: string } }>("GET", `${PROJECT}/issues/3`);
    expect([stored.state, stored.assignee.login]).toEqual(["closed", "ada"]);
    const comments = await api<{ body: string; user: { login: string } }[]>(
      "GET",
      `${PROJECT}/issues/3/comments`,
    );
    expect(comments.map(({ user }) => user.login)).toEqual(["bot"]);
    expect(comments[0]?.body).toMatch(/^Looking at it\n/);
    expect(await session.end("TransitionTicket", { ...item, state: "open" })).toMatchObject(SUCCESS);
  });

  it("get one comment from two tries of one command", async () => {
    const client = new TrackerClient({ api: `${gitea.url}/api/v1`, token: bot, scheme: "token" });
    const urlOf = () => Promise.resolve(`${gitea.url}/acme/app.git`);
    const tracker = new IssueTracker({ name: "gitea", server: new URL(gitea.url), client, urlOf });
    const signal = AbortSignal.timeout(30_000);
    const comment = { body: "Once", key: "ses_1/C-1" };
    for (const again of [false, true])
      await tracker.comment({ name: "app", path: repo.path }, "5", { ...comment, again }, signal);
    expect(await api("GET", `${PROJECT}/issues/5/comments`)).toHaveLength(1);
  });

  it("refuse an assignee that nobody knows, and say so", async () => {
    const end = await session.end("SetAssignee", { item: { id: "4" }, assignee: "nobody" });
    expect(end).toMatchObject({ errorCode: "ANT_WORK_ITEM_REFUSED" });
    expect(end.message).toContain("no user nobody");
  });

  it("that do not exist are named as such", async () => {
    const end = await session.end("QueryWorkItem", { item: { id: "9999" } });
    expect(end).toMatchObject({ errorCode: "ANT_WORK_ITEM_NOT_FOUND" });
  });
});

describe("a push to a real Gitea", () => {
  interface Pull {
    readonly number: number;
    readonly title: string;
    readonly state: string;
    readonly user: { readonly login: string };
    readonly head: { readonly sha: string };
    readonly base: { readonly ref: string };
  }
  const pulls = () => api<Pull[]>("GET", `${PROJECT}/pulls?state=all`);

  async function committed(branchName: string): Promise<SessionClient> {
    const client = await sessionOf(world, repo);
    await client.run("CreateBranch", { branchName });
    await client.run("ApplyPatch", { patchContent: PATCH });
    expect(await client.end("Commit", { message: "Change a", includePaths: [] })).toMatchObject(SUCCESS);
    return client;
  }

  it(
    "moves the branch over http with the token, and opens one pull request for it",
    async () => {
      const client = await committed("topic");
      const first = await client.end("Push", { branchName: "topic" });
      const [pull, ...others] = await pulls();
      expect(others).toEqual([]);
      expect(first).toMatchObject(SUCCESS);
      expect(first.message).toContain(
        `pull request ${pull?.number} is opened: ${gitea.url}/acme/app/pulls/${pull?.number}`,
      );
      expect(pull).toMatchObject({ title: "Change a", state: "open", user: { login: "bot" } });
      const tip = repo.git("rev-parse", "topic").trim();
      expect([pull?.head.sha, pull?.base.ref]).toEqual([tip, "main"]);

      await client.run("ApplyPatch", { patchContent: PATCH.replace("-a\n+b", "-b\n+c") });
      await client.run("Commit", { message: "Change a again", includePaths: [] });
      const second = await client.end("Push", { branchName: "topic" });
      expect(second.message).toContain(`pull request ${pull?.number} was open already`);
      const after = await pulls();
      expect(after.map(({ head }) => head.sha)).toEqual([repo.git("rev-parse", "topic").trim()]);
      const asItem = await client.end("QueryWorkItem", { item: { id: String(pull?.number) } });
      expect(asItem, "a pull request is no work item").toMatchObject({
        errorCode: "ANT_WORK_ITEM_NOT_FOUND",
      });
      expect(items(await client.run("QueryBacklog", { filter: "status:any" }))).toHaveLength(ISSUES);
      expect(JSON.stringify(await client.events())).not.toContain(bot);
    },
    patient(60_000),
  );

  it("to a branch that is protected there is refused with the server's reason, and no pull request is opened", async () => {
    await api("POST", `${PROJECT}/branch_protections`, { rule_name: "guarded/*", enable_push: false });
    const before = (await pulls()).length;
    const client = await committed("guarded/a");
    const end = await client.end("Push", { branchName: "guarded/a" });
    expect(end).toMatchObject({ errorCode: "ANT_LANDING_REMOTE_REFUSED" });
    expect(end.message).toContain("hook declined");
    expect(await pulls()).toHaveLength(before);
  });

  it("to a project of another server is refused by name", async () => {
    const other = makeRepo({ files: { "a.txt": "a\n" } });
    other.git("remote", "add", "origin", "https://elsewhere.example/acme/app.git");
    const client = await sessionOf(world, other);
    await client.run("CreateBranch", { branchName: "topic" });
    const end = await client.end("Push", { branchName: "topic" });
    expect(end).toMatchObject({ errorCode: "ANT_REPO_URL_REFUSED" });
    expect(end.message).toContain("elsewhere.example");
  });
});

describe("the token of a deployment", () => {
  const denied = async (token: string) => {
    const client = await sessionOf(await worldWith(token), repo);
    return client.end("TransitionTicket", { item: { id: "7" }, state: "closed" });
  };

  it("that Gitea does not know is told apart from one that may not write", async () => {
    expect(await denied("0123456789abcdef0123456789abcdef01234567")).toMatchObject({
      errorCode: "ANT_WORK_ITEMS_CREDENTIALS",
    });
    const looking = gitea.token("bot", "read:repository,read:issue");
    expect(await denied(looking)).toMatchObject({ errorCode: "ANT_WORK_ITEMS_FORBIDDEN" });
  });

  it("that may only read cannot push either, and no pull request is opened", async () => {
    const at = await worldWith(gitea.token("bot", "read:repository,read:issue"), {
      ANTIPHON_PULL_REQUESTS: "push",
    });
    const client = await sessionOf(at, repo);
    await client.run("CreateBranch", { branchName: "unwritten" });
    await client.run("ApplyPatch", { patchContent: PATCH });
    await client.run("Commit", { message: "Change a", includePaths: [] });
    const end = await client.end("Push", { branchName: "unwritten" });
    expect(end).toMatchObject({ errorCode: "ANT_REPO_REMOTE_DENIED" });
  });

  it("reaches no project that Gitea hides from it", async () => {
    const hidden = makeRepo({ files: { "a.txt": "a\n" } });
    hidden.git("remote", "add", "origin", `${gitea.url}/acme/secret.git`);
    const client = await sessionOf(world, hidden);
    expect(await client.end("QueryBacklog")).toMatchObject({ errorCode: "ANT_WORK_ITEM_NOT_FOUND" });
  });
});

describe("a brief about a project of a real Gitea", () => {
  it("reads its issues and its pull requests", async () => {
    const at = await worldWith(bot, { ANTIPHON_BRIEF_PROJECTS: `${gitea.url}/acme/app.git` });
    const made = await at.call("POST", "/intents", {
      body: { goal: "daily brief", inputs: {}, constraints: {} },
    });
    const { body, status } = await at.call("POST", `/intents/${String(made.body["intentId"])}/run`);
    expect(status).toBe(202);
    const [intent] = await at.journal.read(String(body["runId"]));
    const { base } = (intent as Extract<StoredRecord, { type: "intent" }>).body;
    const material = new MaterialRepository(`${tempDir()}/connectors.git`, openBlobs(at.bus, BUCKETS.repos));
    const { gitDir } = await material.open([base.commit]);
    const text = rawGit(gitDir, "show", `${base.commit}:entries.json`);
    const { entries } = JSON.parse(text) as BriefMaterial;
    const of = (connector: string) => entries.filter(({ source }) => source.startsWith(connector));
    expect(of("work-items")).toHaveLength(ISSUES);
    expect(of("pull-requests").map(({ title, author }) => [title, author])).toEqual([["Change a", "bot"]]);
    expect(text).not.toContain(bot);
  });
});

it("a Gitea that has gone away is told as such", async () => {
  await gitea.close();
  expect(await session.end("QueryBacklog")).toMatchObject({ errorCode: "ANT_WORK_ITEMS_UNAVAILABLE" });
});
