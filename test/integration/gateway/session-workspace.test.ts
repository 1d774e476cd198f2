/** A session's workspace over real git: a branch of its own, patches, commits, and pushes to a real bare repository. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limits } from "@antiphon/contracts";
import { natsBackend } from "../../../services/gateway/src/backend/nats-backend.ts";
import { openGateway } from "../../../services/gateway/src/gateway.ts";
import { openSessionStore } from "../../../services/gateway/src/sessions/session-store.ts";
import { createLogger } from "@antiphon/runtime";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";
import { openWorld, type World } from "./gateway-world.ts";
import { openClient, type SessionClient } from "./session-world.ts";

let world: World;
let remotes: string;

beforeAll(async () => {
  remotes = tempDir();
  const access = {};
  const served = { prefixes: [`file://${remotes}`], directory: join(tempDir(), "copies"), access };
  world = await openWorld({}, {}, { remotes: served });
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

const FILES = { "a.txt": "a\n", "b.txt": "b\n" };
let made = 0;

interface Place {
  readonly repo: TestRepo;
  /** Asks the bare repository that is the origin. */
  remote(...args: string[]): string;
  readonly url: string;
}

function place(): Place {
  const repo = makeRepo({ files: FILES });
  const path = join(remotes, `r${(made += 1)}.git`);
  repo.git("clone", "-q", "--bare", repo.path, path);
  repo.git("remote", "add", "origin", path);
  return { repo, url: `file://${path}`, remote: (...args) => repo.git("--git-dir", path, ...args).trim() };
}

const open = ({ repo }: Place): Promise<SessionClient> => openClient(world, { name: "app", path: repo.path });
const patch = (path: string, from: string, to: string): { patchContent: string } => ({
  patchContent: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`,
});
const all = { includePaths: [] };
const inlineText = (events: Awaited<ReturnType<SessionClient["run"]>>): string =>
  events.map(({ payload }) => ("inlineText" in payload ? payload.inlineText : "")).join("");

describe("a session of a repository beside the Director", () => {
  it("takes a patch, commits it on its own branch, and pushes that to the real origin", async () => {
    const at = place();
    const session = await open(at);
    expect(await session.end("CreateBranch", { branchName: "topic" })).toMatchObject({ outcome: "Success" });
    expect(at.repo.git("rev-parse", "topic").trim()).toBe(at.repo.head);
    const applied = await session.run("ApplyPatch", patch("a.txt", "a", "changed"));
    expect(applied.map(({ event }) => event)).toEqual([
      "CommandAccepted",
      "ArtifactAvailable",
      "CommandCompleted",
    ]);
    expect(at.repo.git("rev-parse", "topic").trim()).toBe(at.repo.head);
    expect(inlineText(await session.run("GetDiff"))).toContain("+changed");
    const committed = await session.end("Commit", { message: "Change a", ...all });
    expect(committed).toMatchObject({ outcome: "Success" });
    expect(at.repo.git("show", "topic:a.txt")).toBe("changed");
    expect(at.repo.git("log", "-1", "--format=%B", "topic")).toContain(`Antiphon-Session: ${session.id}`);
    expect(inlineText(await session.run("GetDiff"))).toBe("");
    expect(inlineText(await session.run("GetDiff", { ref: "main" }))).toContain("+changed");

    const pushed = await session.end("Push", { branchName: "topic" });
    expect(pushed).toMatchObject({ outcome: "Success", message: expect.stringContaining(at.url) as string });
    expect(at.remote("rev-parse", "topic")).toBe(at.repo.git("rev-parse", "topic").trim());
    const repeated = await session.end("Push", { branchName: "topic" });
    expect(repeated.message).toMatch(/^nothing changed: topic of file:.* already$/);
    expect(at.repo.git("status", "--porcelain")).toBe("");
    expect(at.repo.git("rev-parse", "main").trim()).toBe(at.repo.head);
  });

  it("commits the named paths only, and keeps the rest beside the branch", async () => {
    const at = place();
    const session = await open(at);
    await session.run("ApplyPatch", patch("a.txt", "a", "one"));
    await session.run("ApplyPatch", patch("b.txt", "b", "two"));
    const first = await session.end("Commit", { message: "Only a", includePaths: ["a.txt"] });
    expect(first.message).toContain("other changes are not committed");
    const branch = `antiphon/${session.id}`;
    expect(at.repo.git("show", `${branch}:b.txt`)).toBe("b");
    expect(inlineText(await session.run("GetDiff"))).toContain("+two");
    const none = await session.end("Commit", { message: "None", includePaths: ["nowhere"] });
    expect(none).toMatchObject({ outcome: "Failure", errorCode: "ANT_SESSION_CLEAN" });
    await session.run("Commit", { message: "The rest", ...all });
    expect(at.repo.git("show", `${branch}:b.txt`)).toBe("two");
    expect(at.repo.git("rev-list", "--count", `main..${branch}`).trim()).toBe("2");
  });

  it("amends its own commit, but neither one of others nor one that was pushed", async () => {
    const at = place();
    const session = await open(at);
    await session.run("CreateBranch", { branchName: "topic" });
    const foreign = await session.end("Commit", { message: "No", ...all, amend: true });
    expect(foreign).toMatchObject({ errorCode: "ANT_SESSION_AMEND" });
    await session.run("ApplyPatch", patch("a.txt", "a", "one"));
    await session.run("Commit", { message: "First", ...all });
    await session.run("ApplyPatch", patch("b.txt", "b", "two"));
    expect(await session.end("Commit", { message: "Both", ...all, amend: true })).toMatchObject({
      outcome: "Success",
    });
    expect(at.repo.git("log", "--format=%s", "main..topic").trim()).toBe("Both");
    expect(at.repo.git("show", "topic:a.txt", "topic:b.txt")).toBe("one\ntwo");
    await session.run("Push", { branchName: "topic" });
    const late = await session.end("Commit", { message: "Late", ...all, amend: true });
    expect(late).toMatchObject({ outcome: "Failure", errorCode: "ANT_SESSION_AMEND" });
  });

  it("reports a patch that does not apply as a conflict, with the patch, and changes nothing", async () => {
    const session = await open(place());
    const events = await session.run("ApplyPatch", patch("a.txt", "else", "x"));
    expect(events.map(({ event }) => event)).toEqual([
      "CommandAccepted",
      "ConflictDetected",
      "CommandCompleted",
    ]);
    expect(events[1]?.payload).toMatchObject({ patchContent: patch("a.txt", "else", "x").patchContent });
    expect(events[2]?.payload).toMatchObject({ errorCode: "ANT_PATCH_DOES_NOT_APPLY" });
    expect(inlineText(await session.run("GetDiff"))).toBe("");
  });

  it("refuses a branch that exists, a second branch, and a push of another one", async () => {
    const at = place();
    const session = await open(at);
    const taken = await session.run("CreateBranch", { branchName: "main" });
    expect(taken.map(({ event }) => event)).toContain("ConflictDetected");
    expect(taken.at(-1)?.payload).toMatchObject({ errorCode: "ANT_SESSION_BRANCH" });
    await session.run("CreateBranch", { branchName: "topic" });
    for (const branchName of ["other", "main"]) {
      const second = await session.end("CreateBranch", { branchName });
      expect(second).toMatchObject({ outcome: "Failure", errorCode: "ANT_SESSION_BRANCH" });
      const pushed = await session.end("Push", { branchName });
      expect(pushed).toMatchObject({ outcome: "Failure", errorCode: "ANT_SESSION_BRANCH" });
    }
    expect(at.remote("rev-parse", "main")).toBe(at.repo.head);
  });

  it("overwrites nothing: a branch that others moved, here or at the remote, is a conflict", async () => {
    const at = place();
    const session = await open(at);
    await session.run("CreateBranch", { branchName: "topic" });
    await session.run("ApplyPatch", patch("a.txt", "a", "mine"));
    const theirs = at.repo.git("commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}").trim();
    at.repo.git("update-ref", "refs/heads/topic", theirs);
    const committed = await session.run("Commit", { message: "Mine", ...all });
    expect(committed.map(({ event }) => event)).toContain("ConflictDetected");
    expect(committed.at(-1)?.payload).toMatchObject({ errorCode: "ANT_LANDING_HEAD_MOVED" });
    expect(at.repo.git("rev-parse", "topic").trim()).toBe(theirs);
    at.repo.git("update-ref", "refs/heads/topic", at.repo.head);
    await session.run("Commit", { message: "Mine", ...all });
    at.repo.git("push", "-q", "origin", `${theirs}:refs/heads/topic`);
    const pushed = await session.run("Push", { branchName: "topic" });
    expect(pushed.map(({ event }) => event)).toContain("ConflictDetected");
    expect(pushed.at(-1)?.payload).toMatchObject({ errorCode: "ANT_LANDING_HEAD_MOVED" });
    expect(at.remote("rev-parse", "topic")).toBe(theirs);
  });

  it("does not push where the deployment allows no URL, or where there is no origin", async () => {
    const at = place();
    at.repo.git("remote", "set-url", "origin", join(tempDir(), "elsewhere.git"));
    const session = await open(at);
    await session.run("CreateBranch", { branchName: "topic" });
    const refused = await session.end("Push", { branchName: "topic" });
    expect(refused).toMatchObject({ outcome: "Failure", errorCode: "ANT_REPO_URL_REFUSED" });
    at.repo.git("remote", "remove", "origin");
    const none = await session.end("Push", { branchName: "topic" });
    expect(none).toMatchObject({ outcome: "Failure", errorCode: "ANT_SESSION_REMOTE" });
  });

  it("neither hooks nor settings of the repository run", async () => {
    const at = place();
    const hook = join(at.repo.path, ".git/hooks/pre-push");
    writeFileSync(hook, "#!/bin/sh\ntouch hooked\nexit 1\n", { mode: 0o755 });
    at.repo.git("config", "url.file:///nowhere/.pushInsteadOf", "file://");
    const session = await open(at);
    await session.run("CreateBranch", { branchName: "topic" });
    expect(await session.end("Push", { branchName: "topic" })).toMatchObject({ outcome: "Success" });
    expect(at.repo.git("status", "--porcelain", "--ignored")).toBe("");
  });
});

describe("a session of a repository that is served by URL", () => {
  it("moves nothing before its push", async () => {
    const at = place();
    const session = await openClient(world, { name: "app", path: at.url });
    await session.run("CreateBranch", { branchName: "topic" });
    await session.run("ApplyPatch", patch("a.txt", "a", "one"));
    await session.run("Commit", { message: "First", ...all });
    await session.run("ApplyPatch", patch("b.txt", "b", "two"));
    await session.run("Commit", { message: "Second", ...all });
    expect(at.remote("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    expect(await session.end("Push", { branchName: "topic" })).toMatchObject({ outcome: "Success" });
    expect(at.remote("log", "--format=%s", "main..topic").split("\n")).toEqual(["Second", "First"]);
    const taken = await openClient(world, { name: "app", path: at.url });
    const again = await taken.end("CreateBranch", { branchName: "topic" });
    expect(again).toMatchObject({ outcome: "Failure", errorCode: "ANT_SESSION_BRANCH" });
  });
});

describe("a command", () => {
  it("that fails in an unforeseen way ends with a code, and the next command goes on", async () => {
    const at = place();
    const session = await open(at);
    const log = createLogger("test", { level: "silent" });
    const backend = natsBackend(world.bus, log, { maxOpenRuns: 10_000 });
    const broken = {
      ...backend,
      deed: () => Promise.reject(new TypeError("cannot read properties of undefined")),
    };
    const other = openGateway(broken, openSessionStore(world.bus), () => "run_none");
    const command = { command: "GetDiff", commandId: "Odd", correlation: { sessionId: session.id } };
    const payload = { repo: { name: "app", path: at.repo.path } };
    const events = await other.sessions.command(session.id, { ...command, payload }, "somebody");
    expect(events.at(-1)).toMatchObject({
      event: "CommandCompleted",
      payload: { outcome: "Failure", errorCode: "ANT_INTERNAL" },
    });
    expect(await session.end("GetDiff")).toMatchObject({ outcome: "Success" });
    await other.sessions.drain();
  });

  it("is taken over from a gateway that died, and does not repeat what that one did", async () => {
    const at = place();
    const session = await open(at);
    const log = createLogger("test", { level: "silent" });
    const backend = natsBackend(world.bus, log, { maxOpenRuns: 10_000 });
    const store = openSessionStore(world.bus);
    // It does the deed, but never writes what came of it.
    const dying = openGateway(
      {
        ...backend,
        deed: (request, signal) => backend.deed(request, signal).then(() => new Promise(() => undefined)),
      },
      store,
      () => "run_none",
    );
    const correlation = { sessionId: session.id };
    const payload = { repo: { name: "app", path: at.repo.path }, branchName: "topic" };
    const command = { command: "CreateBranch", commandId: "Taken", correlation, payload };
    const before = await dying.sessions.command(session.id, command, "somebody");
    expect(before.map(({ event }) => event)).toEqual(["CommandAccepted"]);
    expect(at.repo.git("rev-parse", "topic").trim()).toBe(at.repo.head);

    const later = openGateway(backend, store, () => "run_none", {
      now: () => Date.now() + 2 * limits.sessionClaimMs,
    });
    const early = openGateway(backend, store, () => "run_none");
    const meanwhile = await early.sessions.command(session.id, command, "somebody");
    expect(meanwhile.map(({ event }) => event)).toEqual(["CommandAccepted"]);
    const after = await later.sessions.command(session.id, command, "somebody");
    expect(after.at(-1)).toMatchObject({ event: "CommandCompleted", payload: { outcome: "Success" } });
  });
});
