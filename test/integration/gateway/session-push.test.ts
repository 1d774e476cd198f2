/** Pushes that a real git server over HTTP refuses: each ends with a code, a reason and a remedy, and moves nothing. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import type { SessionView } from "../../../services/gateway/src/sessions/session-view.ts";
import { gitHttp, publish, refusePushes, type HttpGitServer } from "../../support/git-servers.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";
import { openWorld, type World } from "./gateway-world.ts";
import { openClient, type SessionClient } from "./session-world.ts";

const [USER, PASSWORD, WRONG] = ["bot", "the-right-password", "the-wrong-password"];
const PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n";
let server: HttpGitServer;
let served: string;
let world: World;
let strange: World;
let made = 0;

async function worldWith(password: string): Promise<World> {
  const credentials = join(tempDir(), "credentials");
  writeFileSync(credentials, `${server.url.replace("//", `//${USER}:${password}@`)}\n`, { mode: 0o600 });
  const env = { ANTIPHON_REPO_URLS: server.url, ANTIPHON_GIT_CREDENTIALS: credentials };
  return openWorld({}, {}, readDirectorConfig(env));
}

beforeAll(async () => {
  served = tempDir();
  server = await gitHttp(served, USER, PASSWORD);
  world = await worldWith(PASSWORD);
  strange = await worldWith(WRONG);
});
afterAll(async () => {
  await world.close();
  await strange.close();
  await server.close();
  cleanUpRepos();
});

interface Place {
  readonly repo: TestRepo;
  readonly bare: string;
  readonly session: SessionClient;
  tips(): string;
}

/** A session with a commit on `topic`, ready to push. */
async function place(at: World = world): Promise<Place> {
  const repo = makeRepo({ files: { "a.txt": "a\n" } });
  const bare = publish(repo.path, served, `r${(made += 1)}.git`);
  repo.git("remote", "add", "origin", `${server.url}/r${made}.git`);
  const session = await openClient(at, { name: "app", path: repo.path });
  await session.run("CreateBranch", { branchName: "topic" });
  await session.run("ApplyPatch", { patchContent: PATCH });
  await session.run("Commit", { message: "Change a", includePaths: [] });
  const tips = (): string => execFileSync("git", ["-C", bare, "for-each-ref"], { encoding: "utf8" });
  return { repo, bare, session, tips };
}

async function pushed({ session }: Place, at: World = world): Promise<SessionView["commands"][number]> {
  await session.run("Push", { branchName: "topic" });
  const { body } = await at.call("GET", `/sessions/${session.id}`);
  const commands = body.commands as SessionView["commands"];
  const last = commands.at(-1);
  if (last === undefined) throw new Error("no command");
  return last;
}

describe("a push that the server refuses", () => {
  it("because a hook declines it ends with the hook's refusal", async () => {
    const at = await place();
    const before = at.tips();
    refusePushes(at.bare, "not on a Friday");
    const end = await pushed(at);
    expect(end).toMatchObject({ state: "failed", code: "ANT_LANDING_REMOTE_REFUSED" });
    expect(end.message).toContain("hook declined");
    expect(end.remedy).not.toBe("");
    expect(at.tips()).toBe(before);
  });

  it("because the branch is protected there ends in the same way", async () => {
    const at = await place();
    const before = at.tips();
    execFileSync("git", ["-C", at.bare, "config", "receive.hideRefs", "refs/heads/topic"]);
    const end = await pushed(at);
    expect(end).toMatchObject({ state: "failed", code: "ANT_LANDING_REMOTE_REFUSED" });
    expect(end.remedy).not.toBe("");
    expect(at.tips()).toBe(before);
  });

  it("because others pushed to the branch is a conflict, and theirs stays", async () => {
    const at = await place();
    const theirs = at.repo.git("commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}").trim();
    execFileSync("git", ["-C", at.repo.path, "push", "-q", at.bare, `${theirs}:refs/heads/topic`]);
    const end = await pushed(at);
    expect(end).toMatchObject({ state: "failed", code: "ANT_LANDING_HEAD_MOVED" });
    expect(end.remedy).not.toBe("");
    expect((await at.session.events()).map(({ event }) => event)).toContain("ConflictDetected");
    expect(at.tips()).toContain(theirs);
  });

  it("because the deployment's password is wrong says so, without the password", async () => {
    const at = await place(strange);
    const before = at.tips();
    const end = await pushed(at, strange);
    expect(end).toMatchObject({ state: "failed", code: "ANT_REPO_REMOTE_DENIED" });
    expect(end.remedy).toContain("ANTIPHON_GIT_CREDENTIALS");
    expect(JSON.stringify(await at.session.events())).not.toContain(WRONG);
    expect(at.tips()).toBe(before);
  });
});
