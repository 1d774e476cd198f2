/** run/R10: `RequestApproval` in a session, and the people who decide, over a real gateway and a real Director. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS } from "@antiphon/contracts";
import { openKv } from "@antiphon/runtime";
import type { OpenRequest } from "../../../services/gateway/src/sessions/approval-request.ts";
import { openSessionStore } from "../../../services/gateway/src/sessions/session-store.ts";
import { cleanUpRepos, makeRepo, type TestRepo } from "../../support/repo.ts";
import { errorOf, openWorld, type Answer, type World } from "./gateway-world.ts";
import { bearer, openClient, type SessionClient } from "./session-world.ts";

const PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n";
const NEXT = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-b\n+c\n";
const ASKED = { reason: "ready for the branch", requiredActions: ["read the diff"] };
const secretOf = (name: string): string => `the-secret-of-${name}-0123456789`;
const PEOPLE = { vera: ["viewer"], sam: ["submitter", "approver"], ada: ["approver"] } as const;
let world: World;

beforeAll(async () => {
  world = await openWorld({
    token: "the-token-of-this-deployment",
    sessionKey: "the-key-of-sessions-0123456789abcdefghijklmnop",
    people: Object.keys(PEOPLE).map((name) => ({ name, token: secretOf(name) })),
    directory: { roles: new Map(Object.entries(PEOPLE)), tenants: new Map() },
  });
  await enforce({});
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

/** The profile of every repository, and `other` for those below `elsewhere`. */
async function enforce(says: object, elsewhere: object = {}): Promise<void> {
  const profile = {
    ...{ name: "guarded", protectedBranches: [], allowedWorkItemTransitions: [] },
    ...{ requireTestsBeforePush: false, requireApprovalForPush: true },
  };
  const config = {
    profiles: { guarded: { ...profile, ...says }, other: { ...profile, name: "other", ...elsewhere } },
    rules: [{ repo: "/srv/elsewhere", profile: "other" }],
    ...{ defaultProfile: "guarded", globalLimits: {} },
  };
  await openKv(world.bus, BUCKETS.policies).put("config", config);
}

interface Place {
  readonly repo: TestRepo;
  readonly session: SessionClient;
}

/** Sam's session with a commit on `topic`. */
async function place(): Promise<Place> {
  const repo = makeRepo({ files: { "a.txt": "a\n" } });
  const session = await openClient(world, { name: "app", path: repo.path }, {}, secretOf("sam"));
  await session.run("CreateBranch", { branchName: "topic" });
  await session.run("ApplyPatch", { patchContent: PATCH });
  await session.run("Commit", { message: "Change a", includePaths: [] });
  return { repo, session };
}

/** Sends the request, which nobody answers yet, and returns it as people see it. */
async function ask({ session }: Place, commandId: string): Promise<OpenRequest> {
  const body = {
    ...{ command: "RequestApproval", commandId, correlation: { sessionId: session.id } },
    payload: ASKED,
  };
  const sent = await world.call("POST", `/sessions/${session.id}/commands`, {
    body,
    ...bearer(session.token),
  });
  expect([sent.status, sent.text]).toEqual([202, sent.text]);
  const found = (await openOf(session)).find((one) => one.commandId === commandId);
  if (found === undefined) throw new Error(`${commandId} is not waiting`);
  return found;
}

async function openOf({ id }: SessionClient): Promise<OpenRequest[]> {
  const { body } = await world.call("GET", `/sessions/${id}/approvals`, bearer(secretOf("vera")));
  return body.approvals as OpenRequest[];
}

async function decide(by: string, { id }: SessionClient, body: object): Promise<Answer> {
  const opened = await world.call("POST", "/sessions", bearer(secretOf(by)));
  return world.call("POST", `/sessions/${id}/approvals`, { body, ...bearer(String(opened.body.token)) });
}

/** A session whose entries name no policy, as older releases wrote them. */
async function copyWithoutPolicy(id: string): Promise<string> {
  const store = openSessionStore(world.bus);
  const log = await store.read(id);
  if (log === null) throw new Error(`there is no session ${id}`);
  const copy = id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  const older = log.entries.map(({ policy: _, ...entry }) => entry);
  for (const [register, document] of [{ ...log.config, sessionId: copy }, ...older].entries())
    expect(await store.write(copy, register, document)).toBe(true);
  return copy;
}

const ends = async (client: SessionClient, commandId: string): Promise<unknown[]> =>
  (await client.events()).flatMap(({ event, payload, correlation }) =>
    event === "CommandCompleted" && correlation.commandId === commandId ? [payload] : [],
  );

const refusal = (answer: Answer): [number, unknown] => [answer.status, errorOf(answer).code];
const push = ({ session }: Place) => session.run("Push", { branchName: "topic" });
const isRefused = { event: "CommandRejected", payload: { policyRule: "requireApprovalForPush" } };

describe("run/R10: a request for approval in a session", () => {
  it("is refused to the person who sent the commands, to people without the right, and to the session itself", async () => {
    const at = await place();
    const { digest } = await ask(at, "ask-own");
    const decision = { commandId: "ask-own", choice: "approve", digest };
    expect(refusal(await decide("sam", at.session, decision))).toEqual([403, "ANT_APPROVAL_OWN"]);
    expect((await decide("vera", at.session, decision)).status).toBe(403);
    const path = `/sessions/${at.session.id}/approvals`;
    const own = await world.call("POST", path, { body: decision, ...bearer(at.session.token) });
    expect(refusal(own)).toEqual([403, "ANT_SESSION_SCOPE"]);
    expect(await ends(at.session, "ask-own")).toEqual([]);
    expect((await push(at)).at(-1)).toMatchObject(isRefused);
  });

  it("is counted in the list of sessions, the newest first, page by page, which a session itself cannot read", async () => {
    const at = await place();
    await ask(at, "ask-listed");
    const newer = await place();
    const list = (query: string) => world.call("GET", `/sessions${query}`, bearer(secretOf("vera")));
    const { body: first } = await list("?limit=1");
    expect(first.sessions).toMatchObject([
      { sessionId: newer.session.id, repo: newer.repo.path, waiting: 0 },
    ]);
    const { body: second } = await list(`?limit=1&cursor=${String(first.next)}`);
    expect(second.sessions).toMatchObject([
      { sessionId: at.session.id, status: "waiting for approval", commands: 4, waiting: 1 },
    ]);
    expect(refusal(await world.call("GET", "/sessions", bearer(at.session.token)))).toEqual([
      403,
      "ANT_SESSION_SCOPE",
    ]);
  });

  it("is stale when the session has changed its work since, and when another digest is named", async () => {
    const at = await place();
    const { digest } = await ask(at, "ask-old");
    const other = { commandId: "ask-old", choice: "approve", digest: "sha256-other" };
    expect(refusal(await decide("ada", at.session, other))).toEqual([409, "ANT_APPROVAL_STALE"]);
    await at.session.run("ApplyPatch", { patchContent: NEXT });
    expect(await openOf(at.session)).toMatchObject([{ commandId: "ask-old", stale: true }]);
    expect(refusal(await decide("ada", at.session, { ...other, digest }))).toEqual([
      409,
      "ANT_APPROVAL_STALE",
    ]);
    expect((await decide("ada", at.session, { ...other, choice: "reject" })).status).toBe(200);
    expect(await openOf(at.session)).toEqual([]);
  });

  it("is stale when the policy of its repository has changed since, also over a restart, and names it", async () => {
    const at = await place();
    const { digest } = await ask(at, "ask-policy");
    const yes = { commandId: "ask-policy", choice: "approve", digest };
    try {
      await world.restartGateway();
      await enforce({ maxAttempts: 50 });
      await world.restartGateway();
      expect(await openOf(at.session)).toMatchObject([{ commandId: "ask-policy", digest, stale: true }]);
      const stale = await decide("ada", at.session, yes);
      expect(refusal(stale)).toEqual([409, "ANT_APPROVAL_STALE"]);
      expect(stale.text).toContain(`the policy of ${at.repo.path} (now guarded) has changed`);
      expect(await ends(at.session, "ask-policy")).toEqual([]);
      await enforce({}, { maxAttempts: 50 });
      expect(await openOf(at.session)).toMatchObject([{ commandId: "ask-policy", stale: false }]);
      expect((await decide("ada", at.session, yes)).status).toBe(200);
    } finally {
      await enforce({});
    }
  });

  it("that was approved lets no push through after the policy has changed, and says so", async () => {
    const at = await place();
    const { digest } = await ask(at, "ask-early");
    const yes = { commandId: "ask-early", choice: "approve", digest };
    expect((await decide("ada", at.session, yes)).status).toBe(200);
    try {
      await enforce({ maxAttempts: 50 });
      await world.restartGateway();
      const refused = (await push(at)).at(-1);
      expect(refused).toMatchObject(isRefused);
      expect(JSON.stringify(refused)).toMatch(
        /ask-early is stale, ANT_APPROVAL_STALE: the policy of .*guarded/,
      );
    } finally {
      await enforce({});
    }
    expect((await push(at)).at(-1)).toMatchObject({ payload: { errorCode: "ANT_SESSION_REMOTE" } });
  });

  it("that an older release stored without its policy is decided as before", async () => {
    const at = await place();
    await ask(at, "ask-older");
    const older = { ...at.session, id: await copyWithoutPolicy(at.session.id) };
    const [request] = await openOf(older);
    const yes = { commandId: "ask-older", choice: "approve", digest: request?.digest };
    try {
      await enforce({ maxAttempts: 50 });
      expect(await openOf(older)).toMatchObject([{ commandId: "ask-older", stale: false }]);
      const approved = await decide("ada", older, yes);
      expect([approved.status, approved.text]).toEqual([200, approved.text]);
    } finally {
      await enforce({});
    }
  });

  it("that is rejected fails with the person's reason, and nothing may be pushed", async () => {
    const at = await place();
    const { digest } = await ask(at, "ask-no");
    const no = { commandId: "ask-no", choice: "reject", digest, reason: "not before the release" };
    expect((await decide("ada", at.session, no)).status).toBe(200);
    expect(await ends(at.session, "ask-no")).toEqual([
      {
        ...{ commandId: "ask-no", outcome: "Failure", errorCode: "ANT_SESSION_REJECTED" },
        message: "rejected by ada: not before the release",
      },
    ]);
    expect((await push(at)).at(-1)).toMatchObject(isRefused);
  });

  it("holds no other command up, is told, and once it is approved a push is let through", async () => {
    const at = await place();
    const request = await ask(at, "ask-yes");
    expect(request).toMatchObject({ ...ASKED, requestedBy: "sam", branch: "refs/heads/topic", stale: false });
    expect((await at.session.run("GetDiff", {})).at(-1)).toMatchObject({ payload: { outcome: "Success" } });
    const status = async () =>
      (await world.call("GET", `/sessions/${at.session.id}`, bearer(secretOf("vera")))).body.status;
    expect(await status()).toBe("waiting for approval");
    const yes = { commandId: "ask-yes", choice: "approve", digest: request.digest };
    expect((await decide("ada", at.session, yes)).body).toMatchObject({ status: "open" });
    expect(await ends(at.session, "ask-yes")).toMatchObject([
      { outcome: "Success", message: "approved by ada" },
    ]);
    // The repository has no remote, so the push fails there, and not at the policy.
    expect((await push(at)).at(-1)).toMatchObject({ payload: { errorCode: "ANT_SESSION_REMOTE" } });
    expect(refusal(await decide("ada", at.session, yes))).toEqual([409, "ANT_SESSION_NOT_WAITING"]);
  });

  it("has one end, however many people decide at once", async () => {
    const at = await place();
    const { digest } = await ask(at, "ask-race");
    const choices = ["approve", "reject", "approve", "reject"];
    const answers = await Promise.all(
      choices.map((choice) => decide("ada", at.session, { commandId: "ask-race", choice, digest })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await ends(at.session, "ask-race")).toHaveLength(1);
  });

  it.each([
    [{}, "/commandId"],
    [{ commandId: "ask", choice: "maybe", digest: "d" }, "/choice"],
    [{ commandId: "ask", choice: "approve" }, "/digest"],
  ])("refuses the decision %j by its field", async (body, field) => {
    const at = await place();
    const answer = await decide("ada", at.session, body);
    expect([answer.status, errorOf(answer).path]).toEqual([400, field]);
  });
});
