/** The agent `model` as its pack installs it: a real process and its real packages, against a model server on loopback. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installModelPack } from "../../support/model-pack.ts";
import { startModelScript, type Line, type ModelScript } from "../../support/model-script.ts";
import { patient } from "../../support/patience.ts";

const ALL = ["read_file", "write_file", "edit_file", "bash", "git_checkpoint"];
const DONE: Line = { calls: [["finish", { outcome: "done", summary: "Add instead of subtracting" }]] };

let place: string;
let at = 0;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "antiphon-model-"));
  installModelPack(place);
}, patient(180_000));
afterAll(() => rmSync(place, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly stderr: string;
  readonly root: string;
  readonly heard: ModelScript["heard"];
}

interface Order {
  readonly env?: Readonly<Record<string, string>>;
  readonly tools?: readonly string[];
  readonly seconds?: number;
  /** Of its command. */
  readonly words?: readonly string[];
}

function repository(): string {
  const root = join(place, `work-${(at += 1)}`);
  mkdirSync(root);
  writeFileSync(join(root, "add.js"), "module.exports = (a, b) => a - b;\n");
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=T", "-c", "user.email=t@localhost", ...words]);
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Begin");
  return root;
}

async function play(
  lines: readonly Line[],
  { env = {}, tools = ALL, seconds = 300, words = [] }: Order = {},
): Promise<Ended> {
  const root = repository();
  const script = await startModelScript(lines);
  const task = { task_id: "T-001", allowed_tools: tools, time_budget_s: seconds };
  const child = spawn(process.execPath, [join(place, "loop.mjs"), ...words], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      HOME: place,
      MODEL_BASE_URL: `http://127.0.0.1:${script.port}/v1`,
      MODEL_NAME: "m",
      ANTIPHON_TASK: JSON.stringify({ goal: "Fix it", epoch: 1, task }),
      ...env,
    },
  });
  child.stdin.end("Fix the broken add");
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("exit", resolve)),
  ]);
  await script.close();
  const events = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Ended["events"][number]);
  return { code, events, stderr, root, heard: script.heard };
}

const fileOf = ({ root }: Ended): string => readFileSync(join(root, "add.js"), "utf8");
const resultOf = ({ events }: Ended): unknown => events.at(-1);
const toolsOf = ({ events }: Ended) => events.filter(({ event }) => event === "tool");

const EDIT: Line = {
  text: "It subtracts.",
  calls: [["edit_file", { path: "add.js", old: "a - b", new: "a + b" }]],
};

test.each([
  ["openai", {}],
  ["anthropic", { MODEL_NAME: "claude-test" }],
])("changes a file by the tools of its task and ends with a summary, in the shape %s", async (shape, env) => {
  const ended = await play(
    [
      {
        calls: [
          ["read_file", { path: "add.js" }],
          ["bash", { command: "node -p 'require(\"./add.js\")(2, 2)'" }],
        ],
      },
      EDIT,
      {
        calls: [
          ["write_file", { path: "notes/new.txt", content: "new\n" }],
          ["git_checkpoint", { message: "Fix" }],
        ],
      },
      DONE,
    ],
    { env },
  );
  expect(ended.stderr).toBe("");
  expect(ended.code).toBe(0);
  expect(ended.events[0]).toMatchObject({ event: "start", shape, tools: ALL });
  expect(resultOf(ended)).toEqual({
    ...{ event: "result", outcome: "done", summary: "Add instead of subtracting" },
    ...{ steps: 4, tokens: 4080 },
  });
  expect(fileOf(ended)).toBe("module.exports = (a, b) => a + b;\n");
  expect(readFileSync(join(ended.root, "notes/new.txt"), "utf8")).toBe("new\n");
  expect(toolsOf(ended).map(({ name, ok }) => [name, ok])).toEqual([
    ["read_file", true],
    ["bash", true],
    ["edit_file", true],
    ["write_file", true],
    ["git_checkpoint", true],
  ]);
  expect(toolsOf(ended)[1]?.["output"]).toBe("0\n\n(exit 0)");
  const log = execFileSync("git", ["-C", ended.root, "log", "--format=%s"], { encoding: "utf8" });
  expect(log.trim().split("\n")).toEqual(["Add instead of subtracting", "Fix", "Begin"]);
  expect(ended.heard.every(({ stream }) => stream === true)).toBe(true);
  const offered = JSON.stringify(ended.heard[0]?.["tools"]);
  for (const name of [...ALL, "finish"]) expect(offered).toContain(`"${name}"`);
});

describe("a call that fails for a reason that may pass", () => {
  test.each([[429], [500], ["cut"], ["reset"], ["garbage"], ["empty"]] as const)(
    "is sent again after %s",
    async (trouble) => {
      const ended = await play([trouble, EDIT, DONE]);
      expect(ended.code).toBe(0);
      expect(ended.events.filter(({ event }) => event === "retry")).toHaveLength(1);
      expect(ended.heard).toHaveLength(3);
      expect(fileOf(ended)).toContain("a + b");
    },
  );

  test("ends the attempt, and says why, when it never passes", async () => {
    const ended = await play([500]);
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.heard).toHaveLength(4);
    expect(ended.stderr).toMatch(/^failed: the model call failed: 500: .*answered 500.* \(4 tries\)\n$/);
  });
});

test("a call that would fail again is not sent again", async () => {
  const ended = await play([400]);
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.heard).toHaveLength(1);
  expect(ended.stderr).toContain("400: ");
});

test("an answer without an end is cut off, and the attempt fails", async () => {
  const ended = await play(["endless"]);
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.heard).toHaveLength(1);
  expect(ended.stderr).toContain("its answer is longer than 1048576 characters");
});

test.each([
  ["openai", {}],
  ["anthropic", { MODEL_SHAPE: "anthropic" }],
])("a refusal of the model ends the attempt with its words, in the shape %s", async (_shape, env) => {
  const ended = await play([{ text: "I cannot help with that.", refuses: true }], { env });
  expect(ended).toMatchObject({ code: 1, stderr: "refused: the model refused: I cannot help with that.\n" });
});

test("a tool that the task has not is neither offered nor carried out", async () => {
  const write: Line = {
    calls: [
      ["bash", { command: "touch made" }],
      ["write_file", { path: "made", content: "" }],
    ],
  };
  const ended = await play([write, DONE], { tools: ["read_file"] });
  expect(ended.code).toBe(0);
  const names = (ended.heard[0]?.["tools"] as { function: { name: string } }[]).map(
    (one) => one.function.name,
  );
  expect(names).toEqual(["read_file", "finish"]);
  expect(toolsOf(ended).map(({ ok }) => ok)).toEqual([false, false]);
  expect(JSON.stringify(ended.heard[1])).toContain("this task has no tool bash, only read_file");
  expect(existsSync(join(ended.root, "made"))).toBe(false);
});

test("a tool that fails tells the model why, and the work goes on", async () => {
  const ended = await play([
    {
      calls: [
        ["edit_file", "{not json"],
        ["edit_file", { path: "add.js" }],
        ["bash", { command: 1 }],
      ],
    },
    {
      calls: [
        ["edit_file", { path: "add.js", old: "nowhere", new: "" }],
        ["read_file", { path: "none.js" }],
      ],
    },
    { calls: [["finish", { outcome: "perfect", summary: "" }]] },
    {
      calls: [
        ["bash", { command: "echo out; exit 3" }],
        ["bash", { command: "sleep 60", seconds: 1 }],
      ],
    },
    DONE,
  ]);
  expect(ended.code).toBe(0);
  const told = JSON.stringify(ended.heard.at(-1)?.["messages"]);
  for (const part of [
    "its input is no JSON object",
    "old is missing",
    "command is not of the type string",
    "the old text occurs 0 times in add.js, not once",
    "ENOENT",
    "outcome is not done, question, failed",
    "out\\n\\n(exit 3)",
    "(killed after 1 s)",
  ])
    expect(told).toContain(part);
});

test("a path that leads out of the work tree is refused, also over a link", async () => {
  const root = join(place, `work-${at + 1}`); // The next one.
  const outside = join(place, "outside.txt");
  const ended = await play([
    { calls: [["bash", { command: `ln -s ${outside} dangling && ln -s / all` }]] },
    {
      calls: [
        ["write_file", { path: outside, content: "x" }],
        ["write_file", { path: "../outside.txt", content: "x" }],
        ["write_file", { path: "dangling", content: "x" }],
        ["read_file", { path: "all/etc/hostname" }],
        ["read_file", { path: join(root, "add.js") }],
      ],
    },
    DONE,
  ]);
  expect(toolsOf(ended).map(({ ok }) => ok)).toEqual([true, false, false, false, false, true]);
  expect(existsSync(outside)).toBe(false);
});

test("a long output is told with its beginning and its end", async () => {
  const ended = await play([{ calls: [["bash", { command: "echo first; seq 1 100000; echo last" }]] }, DONE]);
  const told = JSON.stringify(ended.heard.at(-1)?.["messages"]);
  expect(told.length).toBeLessThan(60_000);
  expect(told).toContain("first");
  expect(told).toContain("characters left out");
  expect(told).toContain("last");
});

describe("limits", () => {
  const LOOP: Line = { calls: [["bash", { command: "echo more >> add.js" }]] };

  test.each([
    [{ MODEL_MAX_STEPS: "3" }, "stopped at its limit of 3 steps"],
    [{ MODEL_MAX_TOKENS: "3000" }, "stopped at its limit of 3000 tokens"],
  ])("end a loop without an end, and the checks judge what is there: %j", async (env, summary) => {
    const ended = await play([LOOP], { env });
    expect(ended.code).toBe(0);
    expect(ended.heard).toHaveLength(3);
    expect(resultOf(ended)).toMatchObject({ outcome: "limit", summary });
  });

  test("leave time for the checks", async () => {
    const ended = await play([{ calls: [["bash", { command: "sleep 100" }]] }], { seconds: 2 });
    expect(ended.code).toBe(0);
    expect(resultOf(ended)).toMatchObject({
      outcome: "limit",
      summary: "stopped at its share of the task's time",
    });
  });

  test("of money end the work when the gateway refuses a call, which is not sent again", async () => {
    const ended = await play([EDIT, 402]);
    expect(ended.code).toBe(0);
    expect(ended.heard).toHaveLength(2);
    expect(resultOf(ended)).toMatchObject({ outcome: "limit" });
    expect((await play([402])).code).toBe(1);
  });

  test("are refused when they are no numbers", async () => {
    const ended = await play([DONE], { env: { MODEL_MAX_STEPS: "many" } });
    expect(ended).toMatchObject({ code: 1, heard: [] });
    expect(ended.stderr).toContain('MODEL_MAX_STEPS is a whole number above 0, not "many"');
  });
});

test("old outputs are left out of a conversation that has become too long", async () => {
  const calls = Array.from({ length: 10 }, (_, i): Line => ({
    calls: [["bash", { command: `echo output-${i}` }]],
  }));
  const ended = await play([...calls, DONE], { env: { MODEL_CONTEXT: "500" } });
  const told = JSON.stringify(ended.heard.at(-1)?.["messages"]);
  expect(told).toContain("(left out: this output is old)");
  expect(told).toContain("output-9\\n");
  expect(told).not.toContain("output-0\\n");
});

test("a model that calls nothing is asked once to finish; then its words are the summary", async () => {
  const ended = await play([EDIT, { text: "All good." }, { text: "Fixed the sign." }]);
  expect(ended.code).toBe(0);
  expect(resultOf(ended)).toMatchObject({ outcome: "done", summary: "Fixed the sign." });
});

test("takes what a person says between two steps and before it ends as messages of the user, each once", async () => {
  const bin = join(place, "bin-inbox");
  mkdirSync(bin, { recursive: true });
  // One message is there from the second look on, and one comes when the model has said that it is done.
  const said = ["", "use plus", "", "and a note", ""];
  said.forEach((text, i) => writeFileSync(join(bin, `${i + 1}.txt`), text));
  writeFileSync(
    join(bin, "antiphon-inbox"),
    `#!/bin/sh\ncd ${bin}\nn=$(cat looks 2>/dev/null || echo 0); n=$((n + 1)); echo $n > looks\n[ -s $n.txt ] || exit 1\ncat $n.txt\n`,
    { mode: 0o755 },
  );
  const ended = await play([EDIT, DONE, DONE], { env: { PATH: `${bin}:${process.env["PATH"]}` } });
  expect(ended.code).toBe(0);
  const turns = ended.heard.map((call) => JSON.stringify(call["messages"]));
  expect(turns.map((turn) => [turn.includes("says: use plus"), turn.includes("says: and a note")])).toEqual([
    [false, false],
    [true, false],
    [true, true],
  ]);
  expect(turns.at(-1)?.split("use plus")).toHaveLength(2);
  expect(ended.events.filter(({ event }) => event === "message")).toEqual([
    { event: "message", text: "use plus" },
    { event: "message", text: "and a note" },
  ]);
});

test("a question for a person is left where the attempt looks for it", async () => {
  const ask = { outcome: "question", summary: "Two ways", question: "Which?", choices: ["left", "right"] };
  const ended = await play([{ calls: [["finish", ask]] }]);
  expect(ended.code).toBe(78);
  expect(JSON.parse(readFileSync(join(ended.root, ".antiphon/question.json"), "utf8"))).toEqual({
    question: "Which?",
    choices: ["left", "right"],
  });
});

test("goes on with its conversation after its question, and without one it fails", async () => {
  const HOME = mkdtempSync(join(place, "home-"));
  const goOn = { env: { HOME }, words: ["--continue"] };
  expect((await play([DONE], goOn)).code).not.toBe(0);
  const ask = { outcome: "question", summary: "Two ways", question: "Which?" };
  expect((await play([EDIT, { calls: [["finish", ask]] }], { env: { HOME } })).code).toBe(78);
  const ended = await play([DONE], goOn);
  expect(ended.code).toBe(0);
  const sent = JSON.stringify(ended.heard[0]);
  for (const part of ["Fix the broken add", "It subtracts.", "Which?"]) expect(sent).toContain(part);
});

test("a task that cannot be done fails with the reason", async () => {
  const ended = await play([
    { calls: [["finish", { outcome: "failed", summary: "There is no such file." }]] },
  ]);
  expect(ended).toMatchObject({ code: 1, stderr: "failed: There is no such file.\n" });
});
