/** The tasks of past runs done again by several agents: real runs, and a model server on loopback for what they cost. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startModelStub, type ModelStub } from "../support/model-stub.ts";
import { ANTIPHON, eventually, exitOf, start } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });
const HOST = "models.bakeoff.example";

/** Asks the model for a command, and runs it. */
const ASKS = `
import json, subprocess, urllib.request
tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Fix it"}], "tools": tools}).encode()
ask = urllib.request.Request("https://${HOST}/v1/chat/completions", data=body, headers={"content-type": "application/json"})
message = json.load(urllib.request.urlopen(ask, timeout=60))["choices"][0]["message"]
subprocess.run(["sh", "-c", json.loads(message["tool_calls"][0]["function"]["arguments"])["command"]])
`;

interface Estimate {
  estimate: number;
  low: number | null;
  high: number | null;
}
interface Standing {
  agent: string;
  runs: number;
  notStarted: number;
  accepted: number;
  share: Estimate;
  usd: Estimate;
  seconds: Estimate;
}
interface Entry {
  agent: string;
  runId: string | null;
  of: string;
  status: string;
  code: string | null;
}

interface Told {
  pastRuns: number;
  standings: Standing[];
  runs: Entry[];
}

let stack: Stack;
let stub: ModelStub;
let directory: string;
let project: Project;
/** Two tasks that were done, and a bake-off of them: each case begins with these. */
let past: string[];
let base: string;
let asks: string;
let lazy: string;
let first: { code: number | null; document: Told };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-bakeoff-"));
  stub = await startModelStub(FIX);
  const models = [
    {
      host: HOST,
      shape: "openai",
      base_url: `http://127.0.0.1:${stub.port}/v1`,
      prices: { "*": { input: 3_000_000, output: 15_000_000, max_output: 32_000 } },
    },
  ];
  const file = join(directory, "egress.json");
  writeFileSync(file, JSON.stringify({ models }), { mode: 0o600 });
  stack = await startQuickStack({ env: { ANTIPHON_EGRESS_CONFIG: file }, associates: 2 });
  project = makeProject(BROKEN_CALCULATOR);
  past = await doneBefore();
  asks = pack("asks", ["python3", "-c", ASKS.trim().replaceAll("\n", "; ")]);
  lazy = pack("lazy", ["true"]);
  const flags = ["--runs", `repo=${project.path}`, "--at-once", "2", "--model-usd", "1"];
  first = await stack.json<Told>(["bakeoff", ...flags, "--agent", asks, "--agent", lazy]);
});
afterAll(async () => {
  project.remove();
  await stack.stop();
  await stub.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The directory of a pack. */
function pack(name: string, argv: readonly string[]): string {
  const place = join(directory, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "agent.yaml"), JSON.stringify({ name, argv, prompt: "stdin" }));
  return place;
}

async function doneBefore(): Promise<string[]> {
  const done: string[] = [];
  for (const goal of ["Fix the broken add", "Make two and two four"]) {
    const flags = ["--repo", project.path, "--check", CHECK, "--land", "main", "--command", FIX];
    const { document } = await stack.json<{ runId: string; status: string }>(["run", goal, ...flags]);
    expect(document.status).toBe("succeeded");
    done.push(document.runId);
    project.git("reset", "--quiet", "--hard", "HEAD~1");
  }
  base = project.git("rev-parse", "main");
  return done;
}

test("each agent does each past task once, and acceptance, cost and time are told with their intervals", () => {
  const { code, document } = first;
  expect([code, document]).toMatchObject([0, { pastRuns: 2 }]);
  const [paid, idle] = document.standings;
  expect(paid).toMatchObject({ agent: asks, runs: 2, accepted: 2, share: { estimate: 1 } });
  expect(paid?.share.low?.toFixed(2)).toBe("0.34");
  expect(paid?.usd.estimate).toBeGreaterThan(0);
  expect(paid?.seconds.low).toBeLessThanOrEqual(paid?.seconds.estimate ?? 0);
  expect(idle).toMatchObject({ agent: lazy, runs: 2, accepted: 0, usd: { estimate: 0, low: 0, high: 0 } });
  expect(document.runs.map(({ of, agent }) => [of, agent])).toEqual(
    past.toReversed().flatMap((of) => [asks, lazy].map((agent) => [of, agent])),
  );
  expect(project.git("rev-parse", "main")).toBe(base);
});

test("a run that is refused takes no other with it, and runs of an earlier bake-off repeat no task", async () => {
  const gone = makeProject(BROKEN_CALCULATOR);
  const flags = ["--repo", gone.path, "--check", CHECK, "--command", FIX];
  const { document: past } = await stack.json<{ runId: string }>(["run", "Fix what is gone", ...flags]);
  gone.remove();
  const args = ["bakeoff", "--runs", "status=succeeded", "--limit", "4", "--model-usd", "1", "--agent", lazy];
  const { code, stdout, stderr } = await stack.antiphon([...args, "--json"]);
  const document = JSON.parse(stdout) as {
    pastRuns: number;
    leftOut: { repeated: string[] };
    standings: Standing[];
    runs: Entry[];
  };
  expect([code, document.pastRuns], stderr).toEqual([0, 3]);
  expect(document.leftOut.repeated).toHaveLength(2);
  expect(document.runs.map(({ of, status, code: why }) => [of === past.runId, status, why])).toEqual([
    [true, "not started", "ANT_REPO_NOT_FOUND"],
    [false, "failed", expect.any(String)],
    [false, "failed", expect.any(String)],
  ]);
  expect(document.standings).toMatchObject([{ runs: 2, notStarted: 1, accepted: 0 }]);
  expect(stderr).toContain("starts 3 runs: 3 tasks with 1 agent, for at most $3.00 in all");
  expect(stderr).toContain("2 runs are left out: goal, base commit and checks are those of a newer run");
});

test("Ctrl-C cancels the run under way, starts no other, and still prints what there is", async () => {
  const slow = pack("slow", ["sleep", "200"]);
  const flags = ["--runs", `repo=${project.path}`, "--limit", "2", "--agent", slow, "--json"];
  const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway, ANTIPHON_NATS_URL: stack.ready.nats };
  const child = start(process.execPath, [ANTIPHON, "bakeoff", ...flags], { env });
  let said = "";
  child.stdout?.on("data", (data: Buffer) => (said += data.toString()));
  const underWay = await eventually("a run is under way", async () => {
    const { body } = await stack.http("GET", "/runs?limit=1");
    const [newest] = body["runs"] as { runId: string; status: string }[];
    return newest?.status === "running" ? newest.runId : null;
  });
  child.kill("SIGINT");
  expect(await exitOf(child)).toBe(130);
  const { runs, standings } = JSON.parse(said) as { runs: Entry[]; standings: Standing[] };
  expect(runs.map(({ runId, status }) => [runId, status])).toEqual([
    [underWay, "stopped"],
    [null, "not started"],
  ]);
  expect(standings).toMatchObject([{ runs: 0, notStarted: 1, notEnded: 1, share: null }]);
  const { document } = await stack.json<{ status: string }>(["get", underWay]);
  expect(document.status).toBe("canceled");
});

test("prints a table for people, and refuses a filter that nothing matches and an agent that is not there", async () => {
  const flags = ["--runs", `repo=${project.path}`, "--limit", "1", "--model-usd", "1"];
  const table = await stack.antiphon(["bakeoff", ...flags, "--agent", lazy]);
  expect(table.stdout).toMatch(/AGENT +RUNS +ACCEPTED/);
  expect(table.stdout).toMatch(/0 of 1: 0 % \(0 % to 79 %\) +\$0\.0000/);
  const none = await stack.antiphon(["bakeoff", "--runs", "status=canceled", "--agent", lazy]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("ANT_RUN_NOT_FOUND")]);
  const unknown = await stack.antiphon(["bakeoff", "--agent", "nobody"]);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("ANT_AGENT_UNKNOWN")]);
  expect((await stack.antiphon(["bakeoff"])).stderr).toContain("needs 1 to 8 agents");
});
