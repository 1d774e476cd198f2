/** Contracts v1.3 through all of Antiphon: a client patches, tests, commits and pushes to a git server with a password. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SessionEvent } from "@antiphon/contracts";
import { gitHttp, publish, type HttpGitServer } from "../support/git-servers.ts";
import { cleanUpRepos, tempDir } from "../support/repo.ts";
import { eventually } from "./support/program.ts";
import { makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const [USER, PASSWORD] = ["antiphon-bot", "s3cret-of-the-deployment"];
const TESTS =
  'const { test } = require("node:test");\nconst assert = require("node:assert");\nconst add = require("./add.js");\n' +
  'test("adds two", () => assert.equal(add(2, 2), 4));\ntest("knows zero", () => assert.equal(add(0, 0), 0));\n';
const FILES = {
  "add.js": "module.exports = (a, b) => a - b;\n",
  "add.test.js": TESTS,
  "package.json":
    '{"scripts":{"test":"node --test","build":"node -e \\"require(\'./add.js\')\\" && echo built"}}\n',
};
const PATCH =
  "--- a/add.js\n+++ b/add.js\n@@ -1 +1 @@\n-module.exports = (a, b) => a - b;\n+module.exports = (a, b) => a + b;\n";

let server: HttpGitServer;
let stack: Stack;
let project: Project;
let bare: string;
const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();

beforeAll(async () => {
  const served = tempDir();
  project = makeProject(FILES);
  bare = publish(project.path, join(served, "acme"), "calculator.git");
  server = await gitHttp(served, USER, PASSWORD);
  project.git("remote", "add", "origin", `${server.url}/acme/calculator.git`);
  const credentials = join(tempDir(), "git-credentials");
  writeFileSync(credentials, `${server.url.replace("//", `//${USER}:${PASSWORD}@`)}\n`, { mode: 0o600 });
  stack = await startQuickStack({
    env: {
      ANTIPHON_REPO_URLS: `${server.url}/acme`,
      ANTIPHON_GIT_CREDENTIALS: credentials,
      ANTIPHON_BUILD_ADAPTER: "sandbox",
    },
  });
});
afterAll(async () => {
  await stack.stop();
  await server.close();
  project.remove();
  cleanUpRepos();
});

let issued = 0;
async function complete(sessionId: string, command: string, payload: object): Promise<SessionEvent[]> {
  const commandId = `C-${(issued += 1)}`;
  const body = { command, commandId, correlation: { sessionId }, payload };
  const sent = await stack.http("POST", `/sessions/${sessionId}/commands`, body);
  expect([sent.status, sent.body]).toEqual([202, sent.body]);
  return eventually(`${command} completed`, async () => {
    const { body: answer } = await stack.http("GET", `/sessions/${sessionId}/events`);
    const own = (answer["events"] as SessionEvent[]).filter((one) => one.correlation.commandId === commandId);
    return own.some((one) => one.event === "CommandCompleted") ? own : null;
  });
}

test("patch, test, build, commit and push happen in the session's own workspace, and nowhere else", async () => {
  const repo = { name: "app", path: project.path };
  const { body } = await stack.http("POST", "/sessions", { repo });
  const sessionId = String(body["sessionId"]);
  const run = (command: string, payload: object = {}) => complete(sessionId, command, { repo, ...payload });
  const success = { payload: { outcome: "Success" } };

  expect((await run("CreateBranch", { branchName: "fix-add" })).at(-1)).toMatchObject(success);
  const failing = await run("RunTests");
  expect(failing.at(-1)).toMatchObject({
    payload: { outcome: "Failure", errorCode: "ANT_VERIFY_CHECK_FAILED" },
  });
  expect(failing.at(-2)).toMatchObject({
    event: "ArtifactAvailable",
    payload: { kind: "TestResults", inlineText: expect.stringContaining("adds two") as string },
  });
  expect((await run("RunTests", { filter: "knows zero" })).at(-1)).toMatchObject(success);
  expect((await run("RunTests", { filter: "no such test" })).at(-1)).toMatchObject({
    payload: { outcome: "Failure", errorCode: "ANT_SESSION_FILTER" },
  });

  expect((await run("ApplyPatch", { patchContent: PATCH })).at(-1)).toMatchObject(success);
  expect((await run("RunTests")).at(-1)).toMatchObject(success);
  const built = await run("BuildProject", { projectPath: "package.json" });
  expect(built.at(-1)).toMatchObject(success);
  expect(built.at(-2)).toMatchObject({
    payload: { kind: "Log", inlineText: expect.stringContaining("built") as string },
  });
  expect((await run("BuildProject", { projectPath: ".", targets: ["nothing"] })).at(-1)).toMatchObject({
    payload: { outcome: "Failure", errorCode: "ANT_VERIFY_CHECK_FAILED" },
  });
  expect((await run("Commit", { message: "Add adds", includePaths: [] })).at(-1)).toMatchObject(success);
  expect((await run("Push", { branchName: "fix-add" })).at(-1)).toMatchObject(success);

  expect(git("-C", bare, "show", "fix-add:add.js")).toContain("a + b");
  expect(git("-C", bare, "rev-parse", "fix-add")).toBe(project.git("rev-parse", "fix-add").trim());
  expect(git("-C", bare, "rev-parse", "main")).toBe(project.git("rev-parse", "main").trim());
  expect(project.git("status", "--porcelain")).toBe("");

  const { body: told } = await stack.http("GET", `/sessions/${sessionId}/events`);
  const events = told["events"] as SessionEvent[];
  const ends = events.filter(({ event }) => event === "CommandCompleted" || event === "CommandAccepted");
  const order = Array.from({ length: issued }, (_, i) => [`C-${i + 1}`, `C-${i + 1}`]).flat();
  expect(ends.map(({ correlation }) => correlation.commandId)).toEqual(order);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i + 1));
  const { body: shown } = await stack.http("GET", `/sessions/${sessionId}`);
  expect((shown["commands"] as { state: string }[]).map(({ state }) => state)).toEqual([
    ...["succeeded", "failed", "succeeded", "failed"],
    ...["succeeded", "succeeded", "succeeded", "failed", "succeeded", "succeeded"],
  ]);

  const content = Buffer.from("measured: 3 ms\n").toString("base64");
  const upload = { name: "bench.txt", contentType: "text/plain", content };
  const uploaded = await complete(sessionId, "UploadArtifact", upload);
  const artifact = uploaded[1]?.payload as { kind: string; downloadUri: string; pathHint: string };
  expect(artifact).toMatchObject({ kind: "Log", pathHint: "bench.txt" });
  const kept = await fetch(`${stack.ready.gateway}${artifact.downloadUri}`);
  expect(await kept.text()).toBe("measured: 3 ms\n");
  const { body: listed } = await stack.http("GET", "/runs");
  expect(listed["runs"]).toEqual([]);
});

test("the tests of a session are those that the image can start", async () => {
  const other = makeProject({
    "go.mod": "module a\n\ngo 1.21\n",
    "a_test.go": "package a\n",
    "test.sh": "true\n",
  });
  try {
    const repo = { name: "other", path: other.path };
    const { body } = await stack.http("POST", "/sessions", { repo });
    const ended = await complete(String(body["sessionId"]), "RunTests", { repo });
    expect(ended.at(-1)).toMatchObject({
      payload: { outcome: "Success", message: "passed: sh ./test.sh" },
    });
  } finally {
    other.remove();
  }
});
