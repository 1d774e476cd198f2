/**
 * The agent `opencode-server` as its pack installs it: a real OpenCode against a model server on loopback. Its server is killed
 * and stopped in the middle of a turn.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validate } from "@antiphon/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
// @ts-expect-error Plain JavaScript without a declaration.
import { OpenCodeClient as untypedClient } from "../../../agents/opencode-server/client.mjs";
// @ts-expect-error Plain JavaScript without a declaration.
import { NoAnswer as untypedNoAnswer } from "../../../agents/opencode-server/server.mjs";
import { COMPILE_INPUT, COMPILE_PACK, CompileAttempt } from "../../support/compile-attempt.ts";
import { startModelScript, type Line, type ModelScript } from "../../support/model-script.ts";
import type { Trouble } from "../../support/model-trouble.ts";
import { eventually } from "../../support/nats.ts";
import { atNight, isNight } from "../../support/night.ts";
import { patient } from "../../support/patience.ts";

const OpenCodeClient = untypedClient as new (parts: object) => { compile(input: object): Promise<object> };
const NoAnswer = untypedNoAnswer as typeof Error;
const PLAN = { nodes: [{ id: "add", kind: "compute", deps: [] }] };
const FORM: Line = { calls: [["StructuredOutput", { plan: PLAN, tests: ["node add.js"] }]] };
const bash = (command: string): Line => ({ calls: [["bash", { command, description: "edit" }]] });
const FIX = bash("sed -i 's/a - b/a + b/' add.js");
/** Of a request that OpenCode has a session for. */
const UNANSWERED = { input: COMPILE_INPUT, session: expect.stringMatching(/^ses_/) as string };
const TEST_MS = patient(180_000);
const QUICK = { OPENCODE_QUIET_S: "30" };

/** More than a usual call may take. OpenCode took as long on a machine under load. */
const SLOW_MS = 15_000;

let place: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "antiphon-opencode-"));
  const { npm } = COMPILE_PACK.install;
  execFileSync("npm", ["install", "--prefix", place, "--no-audit", "--no-fund", "--silent", ...npm]);
}, TEST_MS);
afterAll(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));

/** Calls without tools are side jobs of OpenCode, such as a title. */
const mainCalls = ({ heard }: ModelScript): ModelScript["heard"] =>
  heard.filter(({ tools }) => Array.isArray(tools));

test(
  "a compile keeps its request before it asks a model, and gives plan, patch, tests and transcript; a second one asks nothing",
  async () => {
    const attempt = new CompileAttempt(place);
    const commit = bash(
      "sed -i 's/a - b/a + b/' add.js; echo 1 > new.js; git add -A; git -c user.name=T -c user.email=t@localhost commit -qm Fix",
    );
    let first: unknown = null;
    const script = await startModelScript(
      [commit, { text: "It subtracted." }, FORM],
      () => (first ??= attempt.kept),
    );
    expect([await attempt.run({ port: script.port, artifacts: ["plan.yaml"] }), attempt.stderr]).toEqual([
      0,
      "",
    ]);
    expect(first).toEqual(UNANSWERED);
    const { input, output } = attempt.kept;
    expect(input).toEqual(COMPILE_INPUT);
    expect(validate("OCCompileOutput", output).ok && validate("Plan", output?.["plan"]).ok).toBe(true);
    expect(output).toMatchObject({ plan: PLAN, tests: ["node add.js"] });
    const patch = validate("Patch", output?.["patch"]);
    const files = patch.ok ? patch.value.files : [];
    expect(files.map(({ path }) => path).toSorted()).toEqual(["add.js", "new.js"]);
    expect(files.map(({ diff }) => diff).join("")).toContain("+module.exports = (a, b) => a + b;");
    expect(parse(readFileSync(join(attempt.root, "plan.yaml"), "utf8"))).toEqual(PLAN);
    expect(JSON.stringify(output?.["transcript"])).toContain("It subtracted.");
    const calls = script.heard.length;
    expect(await attempt.run(script)).toBe(0);
    expect(script.heard).toHaveLength(calls);
    await script.close();
  },
  TEST_MS,
);

test(
  "a compile whose work ends with a question goes on in its session with the answer, and says once what it has used",
  async () => {
    const attempt = new CompileAttempt(place);
    const question = join(attempt.root, "question");
    const ask = bash("echo 'Which sign?' > question");
    const script = await startModelScript([ask, { text: "I ask." }, FIX, { text: "It is done." }, FORM]);
    const env = { ANTIPHON_QUESTION_FILE: question };
    expect([await attempt.run({ port: script.port, env }), attempt.stderr]).toEqual([0, ""]);
    expect(attempt.kept).toEqual(UNANSWERED);
    expect(script.heard).toHaveLength(2);
    rmSync(question);
    const told = "You asked: Which sign?\nThe answer: plus";
    const again = { port: script.port, env, told, words: ["--continue"] };
    expect([await attempt.run(again), attempt.stderr]).toEqual([0, ""]);
    expect(attempt.kept).toMatchObject({ ...UNANSWERED, output: { plan: PLAN } });
    expect(attempt.git("diff")).toContain("a + b");
    const [, , first] = script.heard.map((call) => JSON.stringify(call));
    expect(first).toContain("The answer: plus");
    expect(first).toContain("I ask.");
    const steps = attempt.events.filter(({ event }) => event === "step");
    expect(steps).toHaveLength(script.heard.length);
    expect(steps.every(({ tokens = 0 }) => tokens > 0)).toBe(true);
    await script.close();
  },
  TEST_MS,
);

/** That the plan of the form is the file shows the first test, too. */
test.each<readonly [what: string, command: string, plan: object]>(
  atNight(["a plan of what is to be done is asked for, and is its file", "true", PLAN] as const, [
    "the plan that the model wrote before its question stays",
    "echo 'tasks: []' > plan.yaml",
    { tasks: [] },
  ]),
)(
  "where a plan is all that is wanted, %s",
  async (_title, command, wanted) => {
    const attempt = new CompileAttempt(place);
    const question = join(attempt.root, "../question");
    const ask = bash(`${command}; echo 'How many?' > ${question}`);
    const script = await startModelScript([ask, { text: "I ask." }, { text: "I know." }, FORM]);
    const setup = {
      ...{ port: script.port, artifacts: ["plan.yaml"] },
      env: { ANTIPHON_QUESTION_FILE: question },
    };
    expect([await attempt.run(setup), attempt.stderr]).toEqual([0, ""]);
    rmSync(question);
    const again = { ...setup, told: "The answer: one", words: ["--continue"] };
    expect([await attempt.run(again), attempt.stderr]).toEqual([0, ""]);
    expect(attempt.kept.output).toMatchObject({ plan: PLAN });
    expect(parse(readFileSync(join(attempt.root, "plan.yaml"), "utf8"))).toEqual(wanted);
    const form = JSON.stringify(script.heard.at(-1));
    expect(form).toContain("Give your plan for the task");
    expect(form).not.toContain("Describe what you did");
    await script.close();
  },
  TEST_MS,
);

test.each<"SIGKILL" | "SIGSTOP">(["SIGKILL", ...atNight("SIGSTOP" as const)])(
  "a server that gets %s in the middle of a turn is started again, and the session goes on",
  async (signal) => {
    const attempt = new CompileAttempt(place);
    let isOver = false;
    const script = await startModelScript([FIX, { text: "Lost." }, { text: "It is done." }, FORM], (call) => {
      if (call !== 2 || isOver) return;
      isOver = true;
      attempt.signal(signal);
    });
    expect([await attempt.run(script), attempt.stderr]).toEqual([0, ""]);
    expect(attempt.starts).toBe(2);
    expect(attempt.kept.output).toMatchObject({ plan: PLAN });
    expect(attempt.git("diff")).toContain("a + b");
    // The call after the restart holds what the model did before it.
    expect(JSON.stringify(mainCalls(script)[2])).toContain("sed -i");
    expect(script.heard).toHaveLength(4);
    await script.close();
  },
  TEST_MS,
);

if (isNight)
  test(
    "a server above its bound is started again once it has done something, and the session goes on",
    async () => {
      const attempt = new CompileAttempt(place);
      const isTooLarge = (): boolean => attempt.events.some(({ event }) => event === "server-too-large");
      const answer = (body: object): Line => {
        const sent = JSON.stringify(body);
        if (sent.includes("StructuredOutput")) return FORM;
        return sent.includes("The work was interrupted") ? { text: "It is done." } : FIX;
      };
      const script = await startModelScript(answer, (call) =>
        call === 2 ? eventually("its server was too large", isTooLarge, TEST_MS) : null,
      );
      // OpenCode takes about 600 from its first call on.
      const env = { OPENCODE_MOST_MIB: "450" };
      expect([await attempt.run({ port: script.port, env }), attempt.stderr]).toEqual([0, ""]);
      expect(attempt.kept.output).toMatchObject({ plan: PLAN });
      expect(attempt.git("diff")).toContain("a + b");
      // The calls after the restart hold what the model did before it.
      for (const call of mainCalls(script).slice(1)) expect(JSON.stringify(call)).toContain("sed -i");
      await script.close();
    },
    TEST_MS,
  );

test("the first call about the work tree may take longer than others, as on a busy machine, and costs no start", async () => {
  const starts: object[] = [];
  let isFirst = true;
  const call = async (_method: string, path: string, { deadlineMs }: { deadlineMs: number }) => {
    if (path === "/global/health") return Promise.resolve({ healthy: true });
    if (isFirst && deadlineMs < SLOW_MS) throw new NoAnswer(path);
    isFirst = false;
    if (path === "/session") throw new Error("far enough");
    return Promise.resolve({});
  };
  const client = new OpenCodeClient({
    ...{
      server: { start: () => Promise.resolve(), call },
      kept: { answerTo: () => null, write: () => undefined },
    },
    ...{ say: (event: object) => starts.push(event), untilMs: Date.now() + TEST_MS },
  });
  await expect(client.compile(COMPILE_INPUT)).rejects.toThrow("far enough");
  expect(starts).toEqual([{ event: "server", start: 1 }]);
});

test.each<Trouble>(atNight<Trouble>("reset", "cut", "broken", "stalled"))(
  "a stream of the model that is cut (%s) costs neither the attempt nor what the model did before",
  async (trouble) => {
    const attempt = new CompileAttempt(place);
    const script = await startModelScript([FIX, trouble, { text: "It is done." }, FORM]);
    expect([await attempt.run({ port: script.port, env: QUICK }), attempt.stderr]).toEqual([0, ""]);
    expect(attempt.kept.output).toMatchObject({ plan: PLAN });
    expect(attempt.git("diff")).toContain("a + b");
    // No call from before the cut is made again, and the call after it holds the work.
    expect(mainCalls(script).map((call) => JSON.stringify(call).includes("sed -i"))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    await script.close();
  },
  TEST_MS,
);

if (isNight)
  test(
    "a session in which nothing happens is taken up by a new server, and a model that fills in no form has still done its work",
    async () => {
      const attempt = new CompileAttempt(place);
      const script = await startModelScript([
        FIX,
        "silent",
        { text: "It is done." },
        { text: "I would rather not." },
      ]);
      expect([await attempt.run({ port: script.port, env: QUICK }), attempt.stderr]).toEqual([0, ""]);
      expect(attempt.starts).toBe(2);
      expect(attempt.kept.output).toMatchObject({ plan: null, tests: [] });
      expect(attempt.events.map(({ event }) => event)).toContain("no-plan");
      await script.close();
    },
    TEST_MS,
  );

test(
  "a refusal of the model fails the attempt, with its reason, its request kept and the work tree as it is",
  async () => {
    const attempt = new CompileAttempt(place);
    const script = await startModelScript([FIX, 400]);
    expect(await attempt.run(script)).toBe(1);
    expect(attempt.stderr).toContain("answered 400");
    expect(attempt.kept).toEqual(UNANSWERED);
    expect(attempt.git("diff")).toContain("a + b");
    await script.close();
  },
  TEST_MS,
);
