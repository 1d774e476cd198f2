/**
 * The agent `opencode-server` as its pack installs it: a real OpenCode against a model server on loopback. Its server is killed
 * and stopped in the middle of a turn.
 */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { validate } from "@antiphon/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
// @ts-expect-error Plain JavaScript without a declaration.
import { OpenCodeClient as untypedClient } from "../../../agents/opencode-server/client.mjs";
// @ts-expect-error Plain JavaScript without a declaration.
import { NoAnswer as untypedNoAnswer } from "../../../agents/opencode-server/server.mjs";
import { startModelScript, type Line, type ModelScript } from "../../support/model-script.ts";
import type { Trouble } from "../../support/model-trouble.ts";
import { atNight, isNight } from "../../support/night.ts";

const OpenCodeClient = untypedClient as new (parts: object) => { compile(input: object): Promise<object> };
const NoAnswer = untypedNoAnswer as typeof Error;
const PACK = join(import.meta.dirname, "../../../agents/opencode-server");
const PLAN = { nodes: [{ id: "add", kind: "compute", deps: [] }] };
const FORM: Line = { calls: [["StructuredOutput", { plan: PLAN, tests: ["node add.js"] }]] };
const bash = (command: string): Line => ({ calls: [["bash", { command, description: "edit" }]] });
const FIX = bash("sed -i 's/a - b/a + b/' add.js");
const INPUT = { intent: { goal: "Fix", prompt: "Fix the broken add" }, schemaVersion: 0, seed: "0" };
const TEST_MS = 180_000;

interface Pack {
  readonly install: { readonly npm: readonly string[]; readonly files: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
}

/** More than a usual call may take. OpenCode took as long on a machine under load. */
const SLOW_MS = 15_000;

let place: string;
let pack: Pack;
let at = 0;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "antiphon-opencode-"));
  pack = parse(readFileSync(join(PACK, "agent.yaml"), "utf8")) as Pack;
  const { npm, files } = pack.install;
  execFileSync("npm", ["install", "--prefix", place, "--no-audit", "--no-fund", "--silent", ...npm]);
  for (const name of files) copyFileSync(join(PACK, name), join(place, name));
}, TEST_MS);
afterAll(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));

interface Event {
  readonly event: string;
  readonly start?: number;
  readonly why?: string;
}

/** One agent in a repository of its own. */
class Attempt {
  readonly root = join(place, `work-${(at += 1)}`);
  readonly file = join(place, `compile-${at}.json`);
  readonly events: Event[] = [];
  stderr = "";
  #pid = 0;

  constructor() {
    mkdirSync(this.root);
    writeFileSync(join(this.root, "add.js"), "module.exports = (a, b) => a - b;\n");
    this.git("init", "--quiet");
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "Begin");
  }

  git(...words: string[]): string {
    const who = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    return execFileSync("git", ["-C", this.root, ...who, ...words], { encoding: "utf8" });
  }

  async run(
    { port }: ModelScript,
    { artifacts = [], quietS = 600 }: { artifacts?: string[]; quietS?: number } = {},
  ) {
    const filled = (value: string): string =>
      value.replaceAll("${model}", "m").replaceAll("https://${model_host}", `http://127.0.0.1:${port}`);
    const task = { task_id: "T-001", time_budget_s: 300, return: { artifacts } };
    const child = spawn(process.execPath, [join(place, "compile.mjs")], {
      cwd: this.root,
      env: {
        ...Object.fromEntries(Object.entries(pack.env).map(([name, value]) => [name, filled(value)])),
        PATH: `${join(place, "node_modules/.bin")}:${process.env["PATH"]}`,
        HOME: join(place, `home-${at}`),
        OPENCODE_QUIET_S: String(quietS),
        ANTIPHON_COMPILE_FILE: this.file,
        ANTIPHON_TASK: JSON.stringify({ task }),
      },
    });
    this.#pid = child.pid ?? 0;
    child.stdin.end(JSON.stringify(INPUT));
    createInterface({ input: child.stdout }).on("line", (line) =>
      this.events.push(JSON.parse(line) as Event),
    );
    const [code, stderr] = await Promise.all([
      new Promise<number | null>((resolve) => child.on("close", resolve)),
      text(child.stderr),
    ]);
    this.stderr = stderr;
    return code;
  }

  /** OpenCode's server and what it started. */
  signal(name: "SIGKILL" | "SIGSTOP"): void {
    const children = readFileSync(`/proc/${this.#pid}/task/${this.#pid}/children`, "utf8");
    for (const pid of children.trim().split(" ")) process.kill(-Number(pid), name);
  }

  get kept(): { readonly input: unknown; readonly output?: Readonly<Record<string, unknown>> } {
    return JSON.parse(readFileSync(this.file, "utf8")) as Attempt["kept"];
  }

  get starts(): number {
    return this.events.filter(({ event }) => event === "server").length;
  }
}

/** Calls without tools are side jobs of OpenCode, such as a title. */
const mainCalls = ({ heard }: ModelScript): ModelScript["heard"] =>
  heard.filter(({ tools }) => Array.isArray(tools));

test(
  "a compile keeps its request before it asks a model, and gives plan, patch, tests and transcript; a second one asks nothing",
  async () => {
    const attempt = new Attempt();
    const commit = bash(
      "sed -i 's/a - b/a + b/' add.js; echo 1 > new.js; git add -A; git -c user.name=T -c user.email=t@localhost commit -qm Fix",
    );
    let first: unknown = null;
    const script = await startModelScript(
      [commit, { text: "It subtracted." }, FORM],
      () => (first ??= attempt.kept),
    );
    expect([await attempt.run(script, { artifacts: ["plan.yaml"] }), attempt.stderr]).toEqual([0, ""]);
    expect(first).toEqual({ input: INPUT });
    const { input, output } = attempt.kept;
    expect(input).toEqual(INPUT);
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

test.each(["SIGKILL", "SIGSTOP"] as const)(
  "a server that gets %s in the middle of a turn is started again, and the session goes on",
  async (signal) => {
    const attempt = new Attempt();
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
  await expect(client.compile(INPUT)).rejects.toThrow("far enough");
  expect(starts).toEqual([{ event: "server", start: 1 }]);
});

test.each<Trouble>(["reset", "cut", ...atNight<Trouble>("broken", "stalled")])(
  "a stream of the model that is cut (%s) costs neither the attempt nor what the model did before",
  async (trouble) => {
    const attempt = new Attempt();
    const script = await startModelScript([FIX, trouble, { text: "It is done." }, FORM]);
    expect([await attempt.run(script, { quietS: 30 }), attempt.stderr]).toEqual([0, ""]);
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
      const attempt = new Attempt();
      const script = await startModelScript([
        FIX,
        "silent",
        { text: "It is done." },
        { text: "I would rather not." },
      ]);
      expect([await attempt.run(script, { quietS: 30 }), attempt.stderr]).toEqual([0, ""]);
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
    const attempt = new Attempt();
    const script = await startModelScript([FIX, 400]);
    expect(await attempt.run(script)).toBe(1);
    expect(attempt.stderr).toContain("answered 400");
    expect(attempt.kept).toEqual({ input: INPUT });
    expect(attempt.git("diff")).toContain("a + b");
    await script.close();
  },
  TEST_MS,
);
