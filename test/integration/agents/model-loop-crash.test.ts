/** The agent `model` killed at each place of its work: a second process in fresh files goes on from its newest checkpoint. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCheckpointServer, type CheckpointServer } from "../../support/checkpoint-server.ts";
import { installModelPack } from "../../support/model-pack.ts";
import { startModelScript, type Line, type ModelScript } from "../../support/model-script.ts";
import { eventually } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";

let place: string;
let program: string;
let at = 0;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "antiphon-model-crash-"));
  program = installModelPack(place);
}, patient(180_000));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** The same files and the same commit each time, as in a container. */
function repository({ isGit = true } = {}): string {
  const root = join(place, `work-${(at += 1)}`);
  mkdirSync(root);
  writeFileSync(join(root, "add.js"), "module.exports = (a, b) => a - b;\n");
  writeFileSync(join(root, "old.txt"), "old\n");
  if (!isGit) return root;
  const date = "2026-01-01T00:00:00Z";
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=T", "-c", "user.email=t@localhost", ...words], { env });
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Begin");
  return root;
}

interface Started {
  readonly child: ChildProcess;
  readonly root: string;
  readonly ended: Promise<{ code: number | null; events: Record<string, unknown>[]; stderr: string }>;
}

interface Where {
  readonly script: ModelScript;
  readonly checkpoints: CheckpointServer;
  readonly root?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly messages?: readonly string[];
}

function start({ script, checkpoints, root = repository(), env = {}, messages = [] }: Where): Started {
  const allowed_tools = ["read_file", "write_file", "edit_file", "bash", "git_checkpoint"];
  const task = { task_id: "T-001", allowed_tools, time_budget_s: 300 };
  const told = messages.map((one) => ({ by: "ada", text: one }));
  const child = spawn(process.execPath, [program], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      HOME: place,
      MODEL_BASE_URL: `http://127.0.0.1:${script.port}/v1`,
      MODEL_NAME: "m",
      ANTIPHON_TASK: JSON.stringify({ goal: "Fix it", epoch: 1, task, messages: told }),
      ANTIPHON_CHECKPOINT: checkpoints.url,
      ...env,
    },
  });
  child.stdin.end("Fix the broken add");
  const ended = Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("exit", resolve)),
  ]).then(([stdout, stderr, code]) => {
    const lines = stdout.split("\n").filter((line) => line.endsWith("}"));
    return { code, stderr, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
  });
  return { child, root, ended };
}

const count = (name: string): string => join(place, `${name}.count`);
const countOf = (name: string): number =>
  existsSync(count(name)) ? readFileSync(count(name), "utf8").length : 0;

/** Each tool counts how often it was carried out, outside its work tree. */
function conversation(name: string, second: string): Line[] {
  const counted = (which: string, command: string): [string, { command: string }] => [
    "bash",
    { command: `printf x >> ${count(`${name}-${which}`)}; ${command}` },
  ];
  return [
    { calls: [counted("one", "echo one >> steps.txt; rm old.txt; git rm -q --cached old.txt")] },
    {
      calls: [
        ["git_checkpoint", { message: "Halfway" }],
        counted("two", second),
        counted("three", "echo three >> steps.txt"),
      ],
    },
    { calls: [["edit_file", { path: "add.js", old: "a - b", new: "a + b" }]] },
    { calls: [["finish", { outcome: "done", summary: "Add the two numbers" }]] },
  ];
}

/** Where it is killed, and what that costs: calls of the model and tools that are made again. */
const PLACES = [
  { where: "in a call of the model", calls: 1, tools: 0 },
  { where: "in a tool", calls: 0, tools: 1 },
  { where: "between a tool and its checkpoint", calls: 0, tools: 1 },
  { where: "after a checkpoint", calls: 0, tools: 0 },
];

test.each(PLACES)(
  "killed $where, it repeats $calls calls and $tools tools",
  async ({ where, calls, tools }) => {
    const name = where.replaceAll(" ", "-");
    let child: ChildProcess | null = null;
    let isKilled = false;
    const kill = (): false => {
      isKilled = true;
      child?.kill("SIGKILL");
      return false;
    };
    const marker = join(place, `${name}.marker`);
    const isSlow = where === "in a tool";
    const wait = `if [ ! -e ${marker} ]; then touch ${marker}; sleep 600; fi; `;
    // State 1 is the first answer, 2 its tool, 3 the second answer, 4 its checkpoint of git, 5 its second tool.
    const lines = conversation(name, `${isSlow ? wait : ""}echo two >> steps.txt`);
    if (calls > 0) lines.splice(3, 0, ...lines.slice(2, 3)); // the call that is made again
    const script = await startModelScript(lines, (call) => {
      if (where === "in a call of the model" && call === 3 && !isKilled) kill();
    });
    const checkpoints = await startCheckpointServer((moment, number) => {
      if (isKilled || number !== 5) return undefined;
      if (where === "between a tool and its checkpoint" && moment === "put") return kill();
      if (where === "after a checkpoint" && moment === "stored") return kill();
      return undefined;
    });
    try {
      const first = start({ script, checkpoints });
      child = first.child;
      if (isSlow) {
        await eventually("its tool runs", () => existsSync(marker));
        kill();
      }
      expect((await first.ended).code).toBeNull();
      const heard = script.heard.length;
      const second = start({ script, checkpoints });
      const { code, events, stderr } = await second.ended;
      expect([code, stderr]).toEqual([0, ""]);
      expect(events.map(({ event }) => event)).toContain("resume");
      // The calls that were answered before are not made again.
      expect(script.heard.length).toBe(4 + calls);
      expect(heard).toBe(where === "in a call of the model" ? 3 : 2);
      expect(countOf(`${name}-one`)).toBe(1);
      expect(countOf(`${name}-two`) + countOf(`${name}-three`)).toBe(2 + tools);
      expect(readFileSync(join(second.root, "steps.txt"), "utf8")).toBe("one\ntwo\nthree\n");
      expect(existsSync(join(second.root, "old.txt"))).toBe(false);
      expect(readFileSync(join(second.root, "add.js"), "utf8")).toContain("a + b");
      const subjects = execFileSync("git", ["-C", second.root, "log", "--format=%s"], { encoding: "utf8" });
      expect(subjects.trim().split("\n")).toEqual(["Add the two numbers", "Halfway", "Begin"]);
      // Steps and tokens go on from where they were.
      expect(events.at(-1)).toMatchObject({ outcome: "done", steps: 4, tokens: 4080 });
    } finally {
      await checkpoints.close();
      await script.close();
    }
  },
);

test("a tool that is cut off twice is not begun a third time, and the model is told", async () => {
  const marker = join(place, "twice.marker");
  const script = await startModelScript([
    { calls: [["bash", { command: `printf x >> ${count("twice")}; touch ${marker}; sleep 600` }]] },
    { calls: [["finish", { outcome: "done", summary: "Without it" }]] },
  ]);
  const checkpoints = await startCheckpointServer();
  try {
    for (const _ of [1, 2]) {
      const { child, ended } = start({ script, checkpoints });
      await eventually("its tool runs", () => existsSync(marker));
      rmSync(marker);
      child.kill("SIGKILL");
      await ended;
    }
    const { code } = await start({ script, checkpoints }).ended;
    expect([code, countOf("twice"), script.heard.length]).toEqual([0, 2, 2]);
    expect(JSON.stringify(script.heard[1])).toContain("cut off twice");
  } finally {
    await checkpoints.close();
    await script.close();
  }
});

test("a loop from whose checkpoint another one goes on ends, and carries out no further tool", async () => {
  const marker = join(place, "fenced.marker");
  const script = await startModelScript([
    { calls: [["bash", { command: `touch ${marker}; while [ -e ${marker} ]; do sleep 0.1; done` }]] },
    { calls: [["bash", { command: `printf x >> ${count("fenced")}` }]] },
  ]);
  const checkpoints = await startCheckpointServer();
  try {
    const { ended } = start({ script, checkpoints });
    await eventually("its tool runs", () => existsSync(marker));
    checkpoints.fence();
    rmSync(marker);
    const { code, stderr } = await ended;
    expect([code, countOf("fenced"), script.heard.length]).toEqual([1, 0, 1]);
    expect(stderr).toContain("another attempt goes on");
  } finally {
    await checkpoints.close();
    await script.close();
  }
});

test("its limits hold across processes, and a message that came around the crash is told", async () => {
  const script = await startModelScript([{ calls: [["bash", { command: "true" }]] }]);
  let child: ChildProcess | null = null;
  const checkpoints = await startCheckpointServer((moment, number) => {
    if (moment === "stored" && number === 4) child?.kill("SIGKILL");
  });
  try {
    const env = { MODEL_MAX_STEPS: "4" };
    const first = start({ script, checkpoints, env, messages: ["known"] });
    child = first.child;
    await first.ended;
    const second = start({ script, checkpoints, env, messages: ["known", "mind the tests"] });
    child = null;
    const { events } = await second.ended;
    expect(events.at(-1)).toMatchObject({ outcome: "limit", steps: 4, tokens: 4080 });
    expect(script.heard.length).toBe(4);
    const said = JSON.stringify(script.heard[2]);
    expect(said).toContain("says: mind the tests");
    expect(said).not.toContain("says: known");
  } finally {
    await checkpoints.close();
    await script.close();
  }
});

test("files without a repository are restored as well", async () => {
  const script = await startModelScript([
    { calls: [["bash", { command: "echo one > one.txt; rm old.txt" }]] },
    { calls: [["bash", { command: "cat one.txt && [ ! -e old.txt ] && echo fine" }]] },
    { calls: [["finish", { outcome: "done", summary: "Done" }]] },
  ]);
  let child: ChildProcess | null = null;
  const checkpoints = await startCheckpointServer((moment, number) => {
    if (moment === "stored" && number === 2) child?.kill("SIGKILL");
  });
  try {
    const first = start({ script, checkpoints, root: repository({ isGit: false }) });
    child = first.child;
    await first.ended;
    const second = start({ script, checkpoints, root: repository({ isGit: false }) });
    const { code } = await second.ended;
    expect([code, script.heard.length]).toEqual([0, 3]);
    expect(JSON.stringify(script.heard[2])).toContain("one\\nfine");
    expect(existsSync(join(second.root, ".git"))).toBe(false);
  } finally {
    await checkpoints.close();
    await script.close();
  }
});
