/** A run on a repository by URL, over HTTP with a password that only the Director has. */
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitHttp, publish, refusePushes, type HttpGitServer } from "../support/git-servers.ts";
import { cleanUpRepos, tempDir } from "../support/repo.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const PASSWORD = "s3cret-of-the-deployment";
const USER = "antiphon-bot";

let server: HttpGitServer;
let stack: Stack;
let project: Project;
let bare: string;
let strict: string;
const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();

beforeAll(async () => {
  const served = tempDir();
  project = makeProject(BROKEN_CALCULATOR);
  bare = publish(project.path, join(served, "acme"), "calculator.git");
  strict = publish(project.path, join(served, "acme"), "strict.git");
  refusePushes(strict, "no pushes");
  publish(project.path, join(served, "other"), "calculator.git");
  server = await gitHttp(served, USER, PASSWORD);
  const credentials = join(tempDir(), "git-credentials");
  writeFileSync(credentials, `${server.url.replace("//", `//${USER}:${PASSWORD}@`)}\n`, { mode: 0o600 });
  stack = await startQuickStack({
    env: {
      ANTIPHON_REPO_URLS: `${server.url}/acme`,
      ANTIPHON_GIT_CREDENTIALS: credentials,
    },
  });
});
afterAll(async () => {
  await stack.stop();
  await server.close();
  project.remove();
  cleanUpRepos();
});

interface Summary {
  runId: string;
  status: string;
  code: string | null;
  commit: string | null;
  branch: string;
}
const start = (url: string, ...more: string[]) =>
  stack.json<Summary>(["run", "Fix add", "--repo", url, "--command", FIX, "--check", CHECK, ...more]);

describe("a run on a repository by URL", () => {
  test("lands its commit on the remote's branch of the run, once, and on the branch that was named", async () => {
    const url = `${server.url}/acme/calculator.git`;
    const before = git("-C", bare, "rev-parse", "main");
    const { code, document } = await start(url, "--land", "main");
    expect(code, JSON.stringify(document)).toBe(0);
    const { runId, commit } = document;
    expect(git("-C", bare, "rev-parse", `antiphon/${runId}`)).toBe(commit);
    expect(git("-C", bare, "rev-parse", "main")).toBe(commit);
    expect(git("-C", bare, "rev-parse", "main^")).toBe(before);
    expect(git("-C", bare, "log", "-1", "--format=%B", "main")).toContain(`Antiphon-Run: ${runId}`);
  });

  test("starts from what the remote has when it is accepted, and says how to take the result", async () => {
    const url = `${server.url}/acme/calculator.git`;
    const clone = tempDir();
    git("clone", "--quiet", bare, clone);
    writeFileSync(join(clone, "NEW.md"), "new\n");
    git("-C", clone, "add", "NEW.md");
    git("-C", clone, "-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "-q", "-m", "new");
    git("-C", clone, "push", "--quiet", "origin", "HEAD:main");
    const answer = await stack.antiphon([
      ...[
        "run",
        "Add a note",
        "--repo",
        url,
        "--command",
        "echo note > note.txt",
        "--check",
        "test -f note.txt",
      ],
    ]);
    expect(answer.code, answer.stdout + answer.stderr).toBe(0);
    expect(answer.stdout).toContain(`git fetch ${url} antiphon/run_`);
    const [runId = ""] = /run_[a-z0-9]+/.exec(answer.stdout) ?? [];
    expect(git("-C", bare, "ls-tree", "--name-only", `antiphon/${runId}`)).toContain("NEW.md");
  });

  test("a push that the server refuses ends the run with its reason; nothing moved", async () => {
    const { document } = await start(`${server.url}/acme/strict.git`);
    expect(document).toMatchObject({ status: "failed", code: "ANT_LANDING_REMOTE_REFUSED" });
    expect(git("-C", strict, "for-each-ref", "refs/heads/antiphon")).toBe("");
  });

  test.each([
    ["not below a served prefix", () => `${server.url}/other/calculator.git`, "ANT_REPO_URL_REFUSED"],
    ["absent", () => `${server.url}/acme/none.git`, "ANT_REPO_NOT_FOUND"],
    [
      "with a password in it",
      () => server.url.replace("//", "//me:my-own@") + "/acme/app",
      "ANT_REPO_URL_INVALID",
    ],
    ["of another kind", () => "ext::sh -c id", "ANT_REPO_NOT_FOUND"],
  ])("a repository %s is refused with a code before anything is stored", async (_what, url, code) => {
    const { code: exit, document } = await stack.json<{ error: { code: string } }>([
      ...["run", "Fix add", "--repo", url(), "--command", FIX, "--check", CHECK],
    ]);
    expect(exit).toBe(2);
    expect(document.error.code).toBe(code);
  });

  test("an intent with a password in its URL is not stored over HTTP either", async () => {
    const path = server.url.replace("//", "//me:my-own@") + "/acme/app";
    const intent = { goal: "Fix add", inputs: { repo: path, agent: "scripted" }, constraints: {} };
    const answer = await stack.http("POST", "/intents", intent);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: { code: "ANT_REPO_URL_INVALID" } });
    expect(JSON.stringify(answer.body)).not.toContain("my-own");
  });

  test("the password is in no record, log, object or copy", async () => {
    const state = stack.stateDir;
    const encoded = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
    const holding = (text: string): string =>
      execFileSync("sh", ["-c", `grep -r -a -l -F '${text}' '${state}' || true`]).toString();
    expect(holding("/acme/calculator.git")).toContain("jetstream"); // The search finds what is stored.
    for (const secret of [PASSWORD, encoded, "my-own"]) {
      expect(holding(secret)).toBe("");
    }
    expect(server.seen.length).toBeGreaterThan(0);
  });

  test("a Director without its copy, as after a move to another machine, goes on from the remote", async () => {
    rmSync(join(stack.stateDir, "remotes"), { recursive: true, force: true });
    const { code, document } = await stack.json<Summary>([
      ...["run", "Add more", "--repo", `${server.url}/acme/calculator.git`],
      ...["--command", "echo more > more.txt", "--check", "test -f more.txt"],
    ]);
    expect(code, JSON.stringify(document)).toBe(0);
  });
});
