import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectBus, createLogger, readNatsUser, type Bus } from "@antiphon/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { ANTIPHON, run } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

let stack: Stack;
let bus: Bus;
let project: Project;
const scratch = mkdtempSync(join(tmpdir(), "antiphon-bad-"));

beforeAll(async () => {
  stack = await startQuickStack();
  bus = await connectBus({
    servers: stack.ready.nats,
    user: readNatsUser("admin", join(stack.stateDir, "nats-users/admin.nk")),
    name: "bad-input",
    log: createLogger("bad-input", { level: "error" }),
  });
  project = makeProject(BROKEN_CALCULATOR);
});
afterAll(async () => {
  project.remove();
  await bus.close();
  rmSync(scratch, { recursive: true, force: true });
  await stack.stop();
});

/** The last message of every stream; "changes nothing" leaves it unchanged. */
async function stored(): Promise<string> {
  const last: string[] = [];
  for await (const { config, state } of bus.jsm.streams.list()) last.push(`${config.name} ${state.last_seq}`);
  expect(last.length).toBeGreaterThan(5);
  return last.sort().join("\n");
}

// Each refused answer is held to be a problem document by the stack's `http`.
describe("a malformed intent is a 400 with the field's path, and nothing is written", () => {
  test.each([
    ["no goal", { inputs: {}, constraints: {} }, "/goal"],
    ["an empty goal", { goal: "", inputs: {}, constraints: {} }, "/goal"],
    ["a goal of another type", { goal: 7, inputs: {}, constraints: {} }, "/goal"],
    ["inputs that are not an object", { goal: "x", inputs: [], constraints: {} }, "/inputs"],
    ["an unknown key", { goal: "x", inputs: {}, constraints: {}, extra: 1 }, "/extra"],
    [
      "connectors of another type",
      { goal: "x", inputs: {}, constraints: {}, connectors: [1] },
      "/connectors/0",
    ],
    ["no JSON at all", "{goal", ""],
    ["a prototype", '{"goal":"x","inputs":{"__proto__":{"a":1}},"constraints":{}}', ""],
  ])("%s", async (_name, body, path) => {
    const before = await stored();
    const answer = await stack.http("POST", "/intents", body);
    expect(answer.status).toBe(400);
    const { error } = answer.body as { error: { code: string; remedy: string } };
    expect(error.code).toMatch(/^ANT_/);
    expect(error.remedy).not.toBe("");
    expect(JSON.stringify(error)).toContain(path);
    expect(await stored()).toBe(before);
  });
});

describe("an unusable repository causes one coded error with a remedy", () => {
  const attempt = (path: string, ...more: string[]) =>
    stack.antiphon(["run", "Fix it", "--repo", path, "--command", "true", ...more]);
  const expectError = (ended: { code: number | null; stderr: string }, error: string, code = 2): void => {
    expect(ended.stderr).toMatch(new RegExp(`error ${error}: .+\\nremedy: .+`));
    expect(ended.code).toBe(code);
  };

  test("nothing there", async () => {
    expectError(await attempt(join(scratch, "nowhere")), "ANT_REPO_NOT_FOUND");
  });
  test("no git repository", async () => {
    mkdirSync(join(scratch, "plain"));
    expectError(await attempt(join(scratch, "plain")), "ANT_REPO_NOT_GIT");
  });
  test("no commit", async () => {
    const empty = join(scratch, "empty");
    await run("git", ["init", "--quiet", empty]);
    expectError(await attempt(empty), "ANT_REPO_NO_COMMITS");
  });
  test("a base that does not exist", async () => {
    expectError(await attempt(project.path, "--base", "nowhere"), "ANT_REPO_REF_NOT_FOUND");
  });
  test("uncommitted changes, unless they are allowed", async () => {
    const dirty = makeProject(BROKEN_CALCULATOR);
    dirty.write("add.js", "// at work\n");
    expectError(await attempt(dirty.path), "ANT_REPO_DIRTY");
    const allowed = await stack.antiphon([
      "run",
      "Fix it",
      "--repo",
      dirty.path,
      "--command",
      FIX,
      "--check",
      CHECK,
      "--allow-dirty",
    ]);
    expect(allowed.code).toBe(0);
    dirty.remove();
  });
  test("none given", async () => {
    const { body } = await stack.http("POST", "/intents", {
      goal: "daily brief",
      inputs: { topics: ["infra"] },
      constraints: {},
    });
    const answer = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ error: { code: "ANT_INTENT_NO_REPO" } });
  });
});

describe("an impossible request is refused, or ends the run with its real cause", () => {
  test("a patch that does not apply ends the run as failed, with git's own reason", async () => {
    const patch = join(scratch, "stale.diff");
    writeFileSync(
      patch,
      "diff --git a/add.js b/add.js\n--- a/add.js\n+++ b/add.js\n@@ -1 +1 @@\n-not there\n+new\n",
    );
    const ended = await stack.antiphon([
      "run",
      "Fix it",
      "--repo",
      project.path,
      "--patch",
      patch,
      "--check",
      CHECK,
      "--attempts",
      "1",
    ]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/error ANT_PATCH_DOES_NOT_APPLY: .*add\.js.*\nremedy: /);
  });
  test("a patch outside the tree is refused by the gateway", async () => {
    const patch = join(scratch, "escape.diff");
    writeFileSync(
      patch,
      "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n",
    );
    const ended = await stack.antiphon([
      "run",
      "Fix it",
      "--repo",
      project.path,
      "--patch",
      patch,
      "--check",
      CHECK,
      "--attempts",
      "1",
    ]);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toMatch(/error ANT_INTENT_OPTIONS: .*path has a `..` segment/);
  });
  test("an unknown agent", async () => {
    const ended = await stack.antiphon(["run", "Fix it", "--repo", project.path, "--agent", "oracle"]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/error ANT_AGENT_UNKNOWN: [^]*claude[^]*codex[^]*--command/);
  });
  test("an unknown recording", async () => {
    const ended = await stack.antiphon([
      "run",
      "Fix it",
      "--repo",
      project.path,
      "--agent",
      "replay",
      "--seed",
      "never",
      "--check",
      CHECK,
      "--attempts",
      "1",
    ]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("ANT_RECORDING_NOT_FOUND");
  });
  test("an unknown run", async () => {
    const ended = await stack.antiphon(["get", "run_nobody"]);
    expect(ended.stderr).toContain("error ANT_RUN_NOT_FOUND");
    expect(ended.code).toBe(2);
  });
  test("a wrong command line exits with code 2", async () => {
    expect((await stack.antiphon(["run", "Fix it"])).code).toBe(2);
    expect((await stack.antiphon(["run", "Fix it", "--repo", project.path])).code).toBe(2);
    expect((await stack.antiphon(["fly"])).code).toBe(2);
  });
  test("an unreachable gateway exits with code 4", async () => {
    const ended = await stack.antiphon(["runs"], { env: { ANTIPHON_GATEWAY_URL: "http://127.0.0.1:9" } });
    expect(ended.stderr).toMatch(/error ANT_GATEWAY_UNREACHABLE: .+\nremedy: .+/);
    expect(ended.code).toBe(4);
  });
});

describe("the gateway refuses unauthorized access", () => {
  test("refuses to bind beyond loopback without a token", async () => {
    const ended = await run(process.execPath, [ANTIPHON, "serve", "--role", "gateway"], {
      env: { ANTIPHON_LISTEN: "0.0.0.0:0", ANTIPHON_NATS_URL: stack.ready.nats, ANTIPHON_UNSAFE_TRUST: "1" },
      timeoutMs: 20_000,
    });
    expect(ended.code).toBeGreaterThan(0);
    expect(`${ended.stdout}${ended.stderr}`).toContain("error ANT_GATEWAY_UNSAFE_BIND");
  });
  test("refuses another site's pages and another host's name", async () => {
    const before = await stored();
    const intent = { goal: "x", inputs: {}, constraints: {} };
    const origin = await stack.http("POST", "/intents", intent, { origin: "https://elsewhere.example" });
    expect(origin).toMatchObject({ status: 403, body: { error: { code: "ANT_GATEWAY_ORIGIN" } } });
    const port = new URL(stack.ready.gateway).port;
    const raw = await run("sh", [
      "-c",
      `printf 'GET /runs HTTP/1.1\\r\\nHost: elsewhere.example\\r\\nConnection: close\\r\\n\\r\\n' | timeout 5 bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}; cat >&3; cat <&3'`,
    ]);
    expect(raw.stdout).toContain("ANT_GATEWAY_HOST");
    expect(await stored()).toBe(before);
  });
});
