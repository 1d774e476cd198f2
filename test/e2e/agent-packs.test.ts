/** What agent packs do in a run: their lock, tools, recordings, budgets and failures, against a model server on loopback. */
import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/nats.ts";
import { startModelScript, type Line, type ModelScript } from "../support/model-script.ts";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { atNight, isNight } from "../support/night.ts";
import {
  accessTo,
  EDIT,
  hostAt,
  INSTALL_MS,
  packHostsAt,
  logOf,
  type Ended,
} from "./support/agents-with-models.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

const SCRIPTED = "models.packs.example";
/** Answers once the test says so. */
const PATIENT = "patient.packs.example";
/** Wants to see a secret of the run. */
const CURIOUS = "curious.packs.example";
/** Writes a plan, and then what its one task asks for. */
const PLANNER = "planner.packs.example";
/** The same for OpenCode's server. */
const DRAFTER = "drafter.packs.example";
const PLAN = {
  goal: "Say hello",
  tasks: [
    {
      ...{ id: 1, description: "Write the greeting", allowed_files: ["hello.txt"] },
      acceptance_criteria: [{ criterion: "The greeting is there", check: "grep -q hello hello.txt" }],
    },
  ],
};
/** The same as Plan.v0, in which an id is all that is said of a step. */
const WRITE = "Write the greeting to hello.txt";
const STEPS = {
  nodes: [
    { id: WRITE, kind: "compute", deps: [] },
    { id: "Read hello.txt", kind: "decision", deps: [WRITE] },
  ],
};
const bash = (command: string): Line => ({ calls: [["bash", { command, description: "work" }]] });

interface Planned extends Ended {
  readonly commit: string | null;
  readonly tasks: readonly { readonly verdict: string | null }[];
}

let stack: Stack;
let stub: ModelStub;
let script: ModelScript;
let patient: ModelStub;
let curious: ModelStub;
let planner: ModelScript;
let drafter: ModelScript;
/** The answers of its model to a task that plans. */
let drafts: Line;
let answerNow = (): void => undefined;
let directory: string;
const projects: Project[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-packs-"));
  stub = await startModelStub(FIX, EDIT);
  patient = await startModelStub(FIX, EDIT, new Promise((resolve) => (answerNow = resolve)));
  curious = await startModelStub(`${FIX}; printenv MY_TOKEN`);
  script = await startModelScript([
    500,
    429,
    { calls: [["write_file", { path: "/etc/passwd", content: "" }]] },
    "cut",
    { calls: [["edit_file", { path: "add.js", old: "a - b", new: "a + b" }]] },
    { calls: [["finish", { outcome: "done", summary: "Add the two numbers" }]] },
  ]);
  planner = await startModelScript([
    { calls: [["write_file", { path: "plan.yaml", content: JSON.stringify(PLAN) }]] },
    { calls: [["finish", { outcome: "done", summary: "Plan the greeting" }]] },
    { calls: [["write_file", { path: "hello.txt", content: "hello\n" }]] },
    { calls: [["finish", { outcome: "done", summary: "Write the greeting" }]] },
  ]);
  drafter = await startModelScript((body) => {
    const sent = JSON.stringify(body);
    if (sent.includes("StructuredOutput"))
      return { calls: [["StructuredOutput", { plan: STEPS, tests: [] }]] };
    if (sent.includes('"role":"tool"') || !Array.isArray(body["tools"])) return { text: "It is done." };
    return sent.includes("plan.yaml at the root") ? drafts : bash("echo hello > hello.txt");
  });
  const models = [
    ...packHostsAt(stub.port),
    hostAt(script.port, "api.openai.com", SCRIPTED),
    hostAt(patient.port, "api.anthropic.com", PATIENT),
    hostAt(curious.port, "api.openai.com", CURIOUS),
    hostAt(planner.port, "api.openai.com", PLANNER),
    hostAt(drafter.port, "api.openai.com", DRAFTER),
  ];
  const env = await accessTo(models, directory);
  stack = await startStack({ env });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
  await stub.close();
  await patient.close();
  await curious.close();
  await script.close();
  await planner.close();
  await drafter.close();
  rmSync(directory, { recursive: true, force: true });
});

function project(): Project {
  const made = makeProject(BROKEN_CALCULATOR);
  projects.push(made);
  return made;
}

test(
  "a package that differs from the lock of its pack is not installed, and the run ends before an attempt",
  async () => {
    const pack = join(directory, "other-model");
    cpSync(join(import.meta.dirname, "../../agents/model"), pack, { recursive: true });
    const file = join(pack, "package-lock.json");
    const lock = JSON.parse(readFileSync(file, "utf8")) as {
      packages: Record<string, { integrity: string }>;
    };
    lock.packages["node_modules/ai"]!.integrity = `sha512-${Buffer.alloc(64).toString("base64")}`;
    writeFileSync(file, JSON.stringify(lock));
    const repo = project();
    const { document } = await stack.json<Ended>(
      [
        ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
        ...["--agent", pack, "--model-usd", "2"],
      ],
      { timeoutMs: INSTALL_MS },
    );
    expect(document).toMatchObject({ status: "failed", code: "ANT_ENVIRONMENT_FAILED" });
    expect(document.message).toMatch(/integrity/i);
    expect(repo.landed(document.runId)).toEqual([]);
  },
  INSTALL_MS,
);
if (isNight)
  test(
    "a request that opencode-server has answered is not asked again, its change is verified again, and another seed asks anew",
    async () => {
      const repo = project();
      const run = async (...more: string[]) => {
        const heard = stub.heard.length;
        const { document } = await stack.json<Ended>(
          [
            ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
            ...["--agent", "opencode-server", "--model-usd", "2", ...more],
          ],
          { timeoutMs: INSTALL_MS },
        );
        expect(document).toMatchObject({ status: "succeeded", code: null });
        return { runId: document.runId, calls: stub.heard.length - heard };
      };
      const [first, second, third] = [await run(), await run(), await run("--seed", "other")];
      expect([first.calls > 0, second.calls, third.calls > 0]).toEqual([true, 0, true]);
      const diffOf = async ({ runId }: { runId: string }) => (await stack.antiphon(["diff", runId])).stdout;
      expect(await diffOf(second)).toBe(await diffOf(first));
      const kept = await stack.antiphon(["evidence", "get", first.runId, "T-001", "1", "compile.json"]);
      expect(JSON.parse(kept.stdout)).toMatchObject({
        input: { intent: { goal: "Fix the broken add", task_id: "T-001" }, schemaVersion: 0, seed: "0" },
        output: { patch: { files: [{ path: "add.js" }] } },
      });
      const heard = stub.heard.length;
      for (const { runId } of [first, second])
        expect((await stack.json(["replay", runId])).document).toMatchObject({ same: true });
      expect(stub.heard).toHaveLength(heard);
    },
    INSTALL_MS,
  );

if (isNight)
  test(
    "opencode-server sees in its sandbox how large its server is: one that is too large from its start fails, and says so",
    async () => {
      const repo = project();
      const { document } = await stack.json<Ended>(
        [
          ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK, "--attempts", "1"],
          ...["--agent", "opencode-server", "--model-usd", "2", "--env", "OPENCODE_MOST_MIB=100"],
        ],
        { timeoutMs: INSTALL_MS },
      );
      expect(document).toMatchObject({ status: "failed" });
      expect(document.message).toContain("grew too large 4 times");
    },
    INSTALL_MS,
  );

test(
  "the agent `model` goes by the task: its words are the proposal's summary, and a replay of it gives the same",
  async () => {
    const repo = project();
    const { document } = await stack.json<Ended>(
      [
        ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
        ...["--agent", "model", "--model-usd", "2", "--env", "MODEL_MAX_STEPS=9"],
      ],
      { timeoutMs: INSTALL_MS },
    );
    expect(document).toMatchObject({ status: "succeeded" });
    const evidence = await stack.json(["evidence", "get", document.runId]);
    expect(JSON.stringify(evidence.document)).toContain('"summary":"Done.\\n\\nran the agent model; ');
    const heard = stub.heard.length;
    const replayed = await stack.json<{ same: boolean }>(["replay", document.runId]);
    expect(replayed.document).toMatchObject({ same: true });
    expect(stub.heard).toHaveLength(heard);
  },
  INSTALL_MS,
);

test(
  "a plan that the agent `model` wrote in a PLAN run is carried out by it: its criterion's check fails before and passes after",
  async () => {
    const repo = project();
    const model = ["--agent", "model", "--model", "m", "--model-host", PLANNER, "--model-usd", "2"];
    const run = (...words: string[]) =>
      stack.json<Ended & { commit: string | null }>(["run", ...words, "--repo", repo.path, ...model], {
        timeoutMs: INSTALL_MS,
      });
    const { document: planned } = await run("Plan a greeting", "--workflow", "PLAN");
    expect(planned, JSON.stringify(planned)).toMatchObject({
      ...{ status: "succeeded", commit: null },
      plan: { tasks: [{ id: 1 }] },
    });
    expect(repo.landed(planned.runId)).toEqual([]);
    const { document: done } = await run("--plan", planned.runId);
    expect(done, JSON.stringify(done)).toMatchObject({
      ...{ status: "succeeded", tasks: [{ verdict: "PASS", proves: "fail-to-pass" }] },
    });
    expect(repo.landed(done.runId)).toEqual([done.commit]);
    expect(repo.git("show", `${done.commit}:hello.txt`)).toBe("hello\n");
    expect(planner.heard).toHaveLength(4);
  },
  INSTALL_MS,
);

if (isNight)
  test.each([
    ["writes", bash(`echo '${JSON.stringify(PLAN)}' > plan.yaml`), ["Write the greeting"], []],
    [
      "gives in its form",
      { text: "I have a plan." },
      [WRITE, "Read hello.txt"],
      ["--check", "grep -q hello hello.txt"],
    ],
  ] as const)(
    "a plan that opencode-server %s in a PLAN run is exported, and is carried out by it",
    async (_way, planning, descriptions, checks) => {
      const repo = project();
      drafts = planning;
      const model = [
        "--agent",
        "opencode-server",
        "--model",
        "m",
        "--model-host",
        DRAFTER,
        "--model-usd",
        "2",
      ];
      const run = (...words: string[]) =>
        stack.json<Planned>(["run", ...words, "--repo", repo.path, ...model], { timeoutMs: INSTALL_MS });
      const { document: planned } = await run("Plan a greeting", "--workflow", "PLAN");
      expect(planned, JSON.stringify(planned)).toMatchObject({
        ...{ status: "succeeded", commit: null, tasks: [{ attempts: 1 }] },
        plan: { tasks: descriptions.map((description, at) => ({ id: at + 1, description })) },
      });
      expect(repo.landed(planned.runId)).toEqual([]);

      const out = join(directory, planned.runId);
      await stack.antiphon(["evidence", "export", planned.runId, "--out", out]);
      const exported = readdirSync(out, { recursive: true, encoding: "utf8" });
      for (const [name, schema] of [
        ["TaskPlan.json", "TaskPlan"],
        ["Plan.v0.json", "Plan"],
      ] as const) {
        const file = exported.find((path) => path.endsWith(`/plan/${name}`)) ?? "none";
        const checked = await stack.antiphon(["validate", join(out, file), "--schema", schema]);
        expect([checked.code, checked.stderr]).toEqual([0, ""]);
      }

      const { document: done } = await run("--plan", planned.runId, ...checks);
      expect(done, JSON.stringify(done)).toMatchObject({ status: "succeeded" });
      expect(done.tasks).toHaveLength(descriptions.length);
      expect(repo.landed(done.runId)).toEqual([done.commit]);
      expect(repo.git("show", `${done.commit}:hello.txt`)).toBe("hello\n");
    },
    INSTALL_MS,
  );

test(
  "a secret of the run that the agent `model` is told and prints reaches its model, and is in no recording of the calls",
  async () => {
    const repo = project();
    const canary = `canary-${randomUUID()}`;
    const { document } = await stack.json<Ended>(
      [
        ...["run", `Fix the broken add, with the token ${canary}`, "--repo", repo.path, "--check", CHECK],
        ...["--agent", "model", "--model", "m", "--model-host", CURIOUS, "--model-usd", "2"],
        ...["--env", `MY_TOKEN=${canary}`],
      ],
      { timeoutMs: INSTALL_MS },
    );
    expect(document).toMatchObject({ status: "succeeded", code: null });
    const bodies = curious.heard.map(({ body }) => body);
    const told = bodies.map((body) => body.split(canary).length - 1);
    // Once by the goal, and from the second call on once more by the output of the command.
    expect(told).toEqual([1, 2, 2]);
    for (const n of bodies.keys()) {
      const path = `egress/model-000${n + 1}.json`;
      const { stdout } = await stack.antiphon(["evidence", "get", document.runId, "T-001", "1", path]);
      expect(stdout.split("*".repeat(canary.length)).length - 1).toBe(told[n]);
      expect(stdout).not.toContain(canary);
    }
    // Its calls are found again in the recordings, though these hold stars.
    expect((await stack.json(["replay", document.runId])).document).toMatchObject({ same: true });
    expect(curious.heard).toHaveLength(bodies.length);
  },
  INSTALL_MS,
);

test(
  "the agent `model` goes on after failures of the model server, and what failed before it answered costs nothing",
  async () => {
    const repo = project();
    const { document } = await stack.json<Ended & { model: { calls: number; tokens: number } }>(
      [
        ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
        ...["--agent", "model", "--model", "m", "--model-host", SCRIPTED, "--model-usd", "5"],
      ],
      { timeoutMs: INSTALL_MS },
    );
    expect(document).toMatchObject({ status: "succeeded" });
    expect(script.heard).toHaveLength(6);
    const transcript = await stack.antiphon([
      "evidence",
      "get",
      document.runId,
      "T-001",
      "1",
      "transcript.jsonl",
    ]);
    const events = transcript.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string; ok?: boolean });
    expect(events.map(({ event, ok }) => (ok === undefined ? event : `${event} ${ok}`))).toEqual([
      ...[
        "start",
        "retry",
        "retry",
        "answer",
        "tool false",
        "retry",
        "answer",
        "tool true",
        "answer",
        "result",
      ],
    ]);
    // Checkpoints go through the log as well, and are no calls.
    const calls = (await logOf(stack, document.runId)).filter(({ model }) => model !== undefined);
    const charged = calls.map(({ model }) => model?.charged_tokens ?? 0);
    const [failed, limited, first, cut = 0, ...rest] = charged;
    expect([failed, limited, first, rest]).toEqual([0, 0, 1020, [1020, 1020]]);
    expect(cut).toBeGreaterThan(16_384); // The longest answer that was asked for.
    expect(document.model).toMatchObject({ calls: 6, tokens: charged.reduce((sum, one) => sum + one, 0) });
  },
  INSTALL_MS,
);

if (isNight)
  test(
    "claude tells its model what a person says while it works, the record says that it was heard, and a replay of it is the same",
    async () => {
      const repo = project();
      const text = "Keep the name add, whatever you do";
      const { document } = await stack.json<{ runId: string }>(
        [
          ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK, "--detach"],
          ...["--agent", "claude", "--model-host", PATIENT, "--model-usd", "2"],
        ],
        { timeoutMs: INSTALL_MS },
      );
      const { runId } = document;
      await eventually("it has asked its model", () => patient.heard.length > 0, INSTALL_MS);
      const said = await stack.antiphon(["attach", runId, "--message", text]);
      expect(said).toMatchObject({ code: 0 });
      answerNow();
      const waited = await stack.json<Ended>(["wait", runId], { timeoutMs: INSTALL_MS });
      expect(waited.document).toMatchObject({ status: "succeeded", code: null });
      const told = patient.heard.map(({ body }) => body.includes(text));
      expect([told[0], told.at(-1)]).toEqual([false, true]);
      const { body } = await stack.http("GET", `/runs/${runId}/events`, undefined, {
        accept: "application/json",
      });
      const records = body["records"] as {
        type: string;
        body: { heard?: { message: number; look: number }[] };
      }[];
      const heard = records.find(({ type }) => type === "result")?.body.heard;
      expect(heard?.map(({ message }) => message)).toEqual([1]);
      expect(heard?.[0]?.look).toBeGreaterThanOrEqual(1);
      const before = patient.heard.length;
      expect((await stack.json(["replay", runId])).document).toMatchObject({ same: true });
      expect(patient.heard).toHaveLength(before);
    },
    INSTALL_MS,
  );

test.each(["model", ...atNight("claude")])(
  "a run of %s whose budget is used up ends as ANT_EGRESS_BUDGET after one attempt",
  async (agent) => {
    const repo = project();
    const { document } = await stack.json<Ended & { tasks: { attempts: number }[] }>([
      ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
      ...["--agent", agent, "--model-usd", "0.01"],
    ]);
    expect(document).toMatchObject({ status: "failed", code: "ANT_EGRESS_BUDGET", tasks: [{ attempts: 1 }] });
  },
);

test("a pack of one's own is a directory with an agent.yaml, and its own files do not land", async () => {
  const repo = project();
  const own = join(directory, "own");
  mkdirSync(own);
  const pack = {
    name: "own",
    argv: [
      "sh",
      "-c",
      `grep -q "Fix the broken add" && test "$GREETING" = hello && echo noise > .own.log && ${FIX}`,
    ],
    prompt: "stdin",
    junk: [".own*"],
    transcript: { file: ".own.log", format: "text" },
  };
  writeFileSync(join(own, "agent.yaml"), JSON.stringify(pack));
  const run = (agent: string) =>
    stack.json<Ended>([
      ...["run", "Fix the broken add", "--repo", repo.path, "--agent", agent],
      ...["--check", `test "$GREETING" = hello && ${CHECK}`, "--env", "GREETING=hello", "--memory", "1536"],
    ]);
  const { document } = await run(own);
  expect(document).toMatchObject({ status: "succeeded" });
  const changed = repo.git("show", "--name-only", "--format=", `antiphon/${document.runId}`);
  expect(changed).not.toContain(".own.log");
  const transcript = await stack.antiphon(["logs", "--transcript", document.runId]);
  expect(transcript.stdout).toMatch(/^== T-001 1 attempt transcript\.txt\n.*noise$/m);
  expect((await stack.antiphon(["agents", "add", own])).stdout).toContain("--agent own");
  expect((await stack.antiphon(["agents", "list"])).stdout).toMatch(/own .*your own/);
  expect((await run("own")).document).toMatchObject({ status: "succeeded" });
});

test.each(["model", ...atNight("claude", "mini-swe-agent")])(
  "the pack %s can be tried without a model",
  async (pack) => {
    const words = ["agents", "test", pack, "--repo", project().path];
    const { code, document } = await stack.json(words, { timeoutMs: INSTALL_MS });
    expect(document).toMatchObject({ works: true });
    expect(code).toBe(0);
  },
  INSTALL_MS,
);
