/** A person tells a running attempt something, over the command line and HTTP, with real services and sandboxes. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "../support/nats.ts";
import { ANTIPHON, exitOf, start } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Works when it has been told `most` things, and leaves them in a file. */
const listening = (most: number): string =>
  `for n in $(seq ${most}); do antiphon-inbox --wait >> said.txt; echo >> said.txt; done; ${FIX}`;

interface RecordSeen {
  type: string;
  taskId: string | null;
  epoch: number;
  seq: number;
  body: Record<string, unknown>;
}

let stack: Stack;
let project: Project;

beforeAll(async () => {
  stack = await startQuickStack({ associates: 1 });
  project = makeProject(BROKEN_CALCULATOR);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
});

async function begun(...agent: string[]): Promise<string> {
  const { document } = await stack.json<{ runId: string }>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--detach"],
    ...agent,
  ]);
  await eventually(
    "its container works",
    async () => (await records(document.runId, "claim")).length > 0,
    60_000,
  );
  return document.runId;
}

async function records(runId: string, type: string): Promise<RecordSeen[]> {
  const { body } = await stack.http("GET", `/runs/${runId}/events`, undefined, {
    accept: "application/json",
  });
  return (body["records"] as RecordSeen[]).filter((record) => record.type === type);
}

const say = (runId: string, text: string, key?: string) =>
  stack.http("POST", `/runs/${runId}/events`, {
    event: "message",
    text,
    ...(key === undefined ? {} : { key }),
  });

async function landed(runId: string): Promise<string> {
  const { document } = await stack.json<{ status: string; code: string | null }>(["wait", runId]);
  expect(document).toMatchObject({ status: "succeeded", code: null });
  const [commit = ""] = project.landed(runId);
  return project.git("show", `${commit}:said.txt`);
}

describe("a person tells a running attempt something", () => {
  test("and it reads all of it, in order, once; the records show who said it, and a replay reads it at the same places", async () => {
    const runId = await begun("--command", listening(3));
    expect((await stack.antiphon(["attach", runId, "--message", "keep the name"])).code).toBe(0);
    const both = await Promise.all([say(runId, "two\n\tlines", "k-1"), say(runId, "the third")]);
    expect(both.map(({ status }) => status)).toEqual([202, 202]);
    const said = await landed(runId);
    expect(said.startsWith("keep the name\n")).toBe(true);
    expect(said.split("\n").toSorted()).toEqual(
      ["", "\tlines", "keep the name", "the third", "two"].toSorted(),
    );
    const messages = await records(runId, "message");
    expect(messages.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    expect(messages[0]?.body).toMatchObject({
      task: "T-001",
      attempt: 1,
      text: "keep the name",
      by: "local",
    });
    const [result] = await records(runId, "result");
    expect(result?.body["heard"]).toEqual([1, 2, 3].map((message) => ({ message, look: message })));
    const { document } = await stack.json<{ same: boolean }>(["replay", runId]);
    expect(document.same).toBe(true);
    expect((await stack.antiphon(["events", runId])).stdout).toContain(
      "told attempt 1 of T-001: keep the name",
    );
  });

  test("but is refused once the run is over, and when the agent reads nothing", async () => {
    const runId = await begun("--command", `sleep 20; ${FIX}`);
    const deaf = await say(runId, "hello");
    expect([deaf.status, deaf.body["code"]]).toEqual([409, "ANT_MESSAGE_UNHEARD"]);
    await stack.antiphon(["cancel", runId]);
    await stack.antiphon(["wait", runId]);
    const late = await say(runId, "hello");
    expect([late.status, late.body["code"]]).toEqual([409, "ANT_RUN_TERMINAL"]);
    const { code, stderr } = await stack.antiphon(["attach", runId, "-m", "hello"]);
    expect(code).toBe(2);
    expect(stderr).toContain("ANT_RUN_TERMINAL");
  });

  test.each([
    ["nothing", ""],
    ["a control character", "\u001b[2Jgone"],
    ["more than 4,000 characters", "x".repeat(4001)],
  ])("but not %s, which is refused with its place", async (_what, text) => {
    const refused = await say("run_0123456789abcdefghij", text);
    expect([refused.status, refused.body["code"]]).toEqual([400, "ANT_CONTRACT_INVALID"]);
    expect(JSON.stringify(refused.body)).toContain("/text");
  });

  test("once, also if the request is sent again with its key; and no more than 32 times", async () => {
    const runId = await begun("--command", listening(40));
    const first = await say(runId, "m", "same");
    const again = await say(runId, "m", "same");
    expect([first.body["already"], again.body["already"]]).toEqual([undefined, true]);
    for (let n = 2; n <= 32; n += 1) expect((await say(runId, `m${n}`)).status).toBe(202);
    const over = await say(runId, "one more");
    expect([over.status, over.body["code"]]).toEqual([409, "ANT_MESSAGE_LIMIT"]);
    expect(await records(runId, "message")).toHaveLength(32);
    await stack.antiphon(["cancel", runId]);
    await stack.antiphon(["wait", runId]);
  });

  test("and the next attempt is told it, if the Associate is killed before it has delivered it", async () => {
    const runId = await begun(
      "--command",
      `case "$ANTIPHON_TASK" in *"use plus"*) echo "$ANTIPHON_TASK" > said.txt; ${FIX};; *) antiphon-inbox --wait;; esac`,
    );
    const name =
      stack.events.map((event) => String(event["name"])).find((one) => one.startsWith("associate")) ?? "";
    const pid = stack.pid(name);
    process.kill(pid, "SIGSTOP");
    expect((await say(runId, "use plus")).status).toBe(202);
    process.kill(pid, "SIGKILL");
    expect(await landed(runId)).toContain('"messages":[{"by":"local","text":"use plus"}]');
    const results = await records(runId, "result");
    expect(results.map(({ body }) => body["kind"])).toEqual(["lapsed", "reported"]);
    expect(results[1]?.body["heard"]).toEqual([{ message: 1, look: 0 }]);
  });
});

describe("a person at a terminal", () => {
  /** `script` gives the command a terminal of its own, on which the test types. */
  function atTerminal(runId: string) {
    const command = [process.execPath, ANTIPHON, "attach", runId].join(" ");
    const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway, TERM: "xterm" };
    const child = start("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
      env,
      stdin: "",
    });
    const screen = { text: "" };
    child.stdout?.on("data", (data: Buffer) => (screen.text += data.toString()));
    const shows = (what: string) =>
      eventually(`the terminal shows ${what}: ${screen.text}`, () => screen.text.includes(what), 60_000);
    const types = (keys: string) => void child.stdin?.write(keys);
    return { child, screen, shows, types };
  }

  test("types lines: each is a message, a refused one is told with its reason, and the watching goes on to the end", async () => {
    const runId = await begun("--command", listening(2));
    const { child, screen, shows, types } = atTerminal(runId);
    await shows("each line that you type is told to the agent");
    types("keep the name\n\n   \n");
    await shows("told attempt 1 of T-001: keep the name");
    types(`${"x".repeat(3000)}\n`);
    await shows("told attempt 1 of T-001: xxx");
    expect(await exitOf(child)).toBe(0);
    expect(screen.text).toContain("succeeded");
    expect(await landed(runId)).toBe(`keep the name\n${"x".repeat(3000)}\n`);
    expect((await records(runId, "message")).map(({ body }) => body["by"])).toEqual(["local", "local"]);
  });

  test("types to an agent that reads nothing: it is told so, and Ctrl-C ends the watching and not the run", async () => {
    const runId = await begun("--command", `sleep 30; ${FIX}`);
    const { child, shows, types } = atTerminal(runId);
    await shows("each line that you type is told to the agent");
    types("hello\n");
    await shows("not told: ANT_MESSAGE_UNHEARD");
    types("\u0003");
    await shows(`watch it again: antiphon attach ${runId}`);
    expect(await exitOf(child)).toBe(130);
    const { document } = await stack.json<{ status: string }>(["get", runId]);
    expect(document.status).toBe("running");
    expect(await records(runId, "message")).toEqual([]);
    await stack.antiphon(["cancel", runId]);
    await stack.antiphon(["wait", runId]);
  });
});
