/** Several runs of one task, of which at most one lands. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { patient } from "../support/patience.ts";
import { ANTIPHON, eventually, exitOf, start } from "./support/program.ts";
import { BREAK, BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

interface Raced {
  race: string;
  winner: string | null;
  runs: {
    runId: string;
    agent: string;
    summary: { status: string; code: string | null; commit: string | null } | null;
    cost: { calls: number; attempts: number } | null;
  }[];
}

let stack: Stack;
let packs: string;
const projects: Project[] = [];
const proxies: Server[] = [];

beforeAll(async () => {
  packs = mkdtempSync(join(tmpdir(), "antiphon-race-"));
  stack = await startQuickStack({ associates: 2 });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  for (const proxy of proxies) proxy.close();
  rmSync(packs, { recursive: true, force: true });
  await stack.stop();
});

function project(): Project {
  const made = makeProject(BROKEN_CALCULATOR);
  projects.push(made);
  return made;
}

function pack(name: string, script: string): string {
  const place = join(packs, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, "agent.yaml"),
    JSON.stringify({ name, argv: ["sh", "-c", script], prompt: "stdin" }),
  );
  return place;
}

const racing = (repo: Project, agents: readonly string[], ...more: string[]): string[] => [
  ...["run", "Fix the broken add", "--repo", repo.path, "--check", CHECK],
  ...["--agent", agents.join(","), "--parallel", String(agents.length), ...more],
];

test("the first verified run of a race lands, and the others are canceled and listed with their cost", async () => {
  const repo = project();
  const agents = [pack("slow", `sleep 200; ${FIX}`), pack("wrong", BREAK), pack("quick", FIX)];
  const { code, document } = await stack.json<Raced>(racing(repo, agents, "--attempts", "1"));
  expect(code).toBe(0);
  expect(document.runs.map(({ agent, summary }) => [agent, summary?.status, summary?.code])).toEqual([
    // The command cancels it, or the Director ends it.
    [
      "slow",
      expect.stringMatching(/^(failed|canceled)$/),
      expect.stringMatching(/^ANT_(RACE_LOST|RUN_CANCELED)$/),
    ],
    // Two Associates work on three runs, so it may be canceled before it fails.
    ["wrong", expect.stringMatching(/^(failed|canceled)$/), expect.any(String)],
    ["quick", "succeeded", null],
  ]);
  expect(document.runs.map(({ cost }) => cost?.calls)).toEqual([0, 0, 0]);
  const winner = document.runs[2];
  expect(document.winner).toBe(winner?.runId);
  expect(repo.git("rev-parse", `antiphon/${document.race}`).trim()).toBe(winner?.summary?.commit);
  expect(document.runs.map(({ runId }) => repo.landed(runId).length)).toEqual([0, 0, 1]);
});

const LASTS = `sleep 4; ${FIX}`;

test("in a pipe, a race and `wait` say what is being done while nothing ends; as JSON they print their object only", async () => {
  const raced = await stack.antiphon(racing(project(), [pack("lasts", LASTS), pack("lasts-too", LASTS)]));
  expect(raced.stdout).toMatch(/^ *\d+\.\d s · race +lasts \(.+\), lasts-too \(.+\)$/m);
  const alone = racing(project(), [pack("lasts", LASTS)]).slice(0, -2);
  const runId = (await stack.antiphon([...alone, "--detach"])).stdout.trim();
  const [waited, asJson] = await Promise.all([
    stack.antiphon(["wait", runId]),
    stack.antiphon(["wait", runId, "--json"]),
  ]);
  expect(waited).toMatchObject({ code: 0, stdout: "succeeded\n" });
  expect(waited.stderr).toMatch(/^ *\d+\.\d s · T-001 +\S/m);
  expect(asJson).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(asJson.stdout)).toMatchObject({ status: "succeeded" });
});

test("a race that nobody wins fails like a run, and says so of each", async () => {
  const { code, stdout, stderr } = await stack.antiphon(
    racing(project(), [pack("wrong", BREAK), pack("none", "exit 3")], "--attempts", "1"),
  );
  expect(code).toBe(1);
  expect(stdout).toMatch(/· run_\w+ +wrong +failed \(ANT_VERIFY_SELF_FAILED\) +no model call/);
  expect(stdout).toMatch(/· run_\w+ +none +failed \(ANT_AGENT_FAILED\) +no model call/);
  expect(stderr).toContain("ANT_AGENT_FAILED");
});

const ASKS = `case "$ANTIPHON_TASK" in *"use plus"*) ${FIX} ;; *) echo "Which operator?" >"$ANTIPHON_QUESTION_FILE" ;; esac`;

test("a run of a race that waits for an answer is still watched, and wins when it lands", async () => {
  const repo = project();
  const raced = stack.json<Raced>(racing(repo, [pack("asks", ASKS), pack("slow", `sleep 200; ${FIX}`)]));
  const runId = await eventually("a run asks", async () => {
    const { body } = await stack.http("GET", "/runs?limit=2", undefined, { accept: "application/json" });
    const runs = body["runs"] as { runId: string; status: string }[];
    return runs.find(({ status }) => status === "waiting_input")?.runId ?? null;
  });
  expect((await stack.antiphon(["answer", runId, "use plus"])).code).toBe(0);
  const { code, document } = await raced;
  expect(document.winner).toBe(runId);
  expect(document.runs.map(({ agent, summary }) => [agent, summary?.status])).toEqual([
    ["asks", "succeeded"],
    ["slow", expect.stringMatching(/^(failed|canceled)$/)],
  ]);
  expect(code).toBe(0);
});

test("a race whose watcher was killed, and then the Director, still ends its other runs when one has landed", async () => {
  const repo = project();
  const known = new Set(await listed());
  const watcher = start(
    process.execPath,
    [ANTIPHON, ...racing(repo, [pack("slow", `sleep 200; ${FIX}`), pack("asks", ASKS)])],
    { env: { ANTIPHON_NATS_URL: stack.ready.nats, ANTIPHON_GATEWAY_URL: stack.ready.gateway } },
  );
  const asks = await eventually("a run asks", async () => (await listed("waiting_input"))[0] ?? null, 60_000);
  const [slow] = (await listed("running")).filter((runId) => !known.has(runId));
  watcher.kill("SIGKILL");
  await exitOf(watcher);
  const director = stack.pid("director");
  process.kill(director, "SIGKILL");
  await eventually("the Director is started again", () => (stack.pid("director") === director ? null : true));
  expect((await stack.antiphon(["answer", asks, "use plus"])).code).toBe(0);
  const ended = await eventually(
    "the slow run ends",
    async () => {
      const { document } = await stack.json<{ status: string; code: string | null }>(["get", slow ?? "none"]);
      return document.status === "failed" ? document : null;
    },
    patient(60_000),
  );
  expect(ended).toMatchObject({ status: "failed", code: "ANT_RACE_LOST" });
  expect(repo.landed(asks)).toHaveLength(1);
  expect(repo.landed(slow ?? "none")).toEqual([]);
  await eventually("the ended attempt has reported, and so its cost is listed", async () => {
    const { body } = await stack.http("GET", `/runs/${slow ?? "none"}/evidence`);
    return (body["bundles"] as { kind: string }[]).find(({ kind }) => kind === "attempt") ?? null;
  });
});

async function listed(status?: string): Promise<string[]> {
  const { body } = await stack.http("GET", "/runs?limit=2", undefined, { accept: "application/json" });
  const runs = body["runs"] as { runId: string; status: string }[];
  return runs.flatMap((run) => (status === undefined || run.status === status ? [run.runId] : []));
}

test("a race whose last open runs wait for people says so and ends", async () => {
  const agents = [pack("asks", ASKS), pack("wrong", BREAK)];
  const { code, document } = await stack.json<Raced>(racing(project(), agents, "--attempts", "1"));
  expect(document.runs.map(({ summary }) => summary?.status)).toEqual(["waiting_input", "failed"]);
  expect([code, document.winner]).toEqual([3, null]);
});

const REFUSED = JSON.stringify({ error: { code: "ANT_INTERNAL", message: "not now", remedy: "Wait." } });

/** The gateway behind a proxy that answers 500 to some requests. */
async function behind(refuses: (method: string, path: string) => boolean): Promise<Record<string, string>> {
  const proxy = createServer((asked, answer) => {
    const { method = "GET", url = "/" } = asked;
    if (refuses(method, url)) {
      asked.resume();
      answer.writeHead(500, { "content-type": "application/json" }).end(REFUSED);
      return;
    }
    const { host } = new URL(stack.ready.gateway);
    const passed = request(stack.ready.gateway + url, { method, headers: { ...asked.headers, host } });
    passed.on("response", (got) => got.pipe(answer.writeHead(got.statusCode ?? 502, got.headers)));
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    asked.pipe(passed);
  });
  proxies.push(proxy);
  await new Promise<void>((ready) => proxy.listen(0, "127.0.0.1", ready));
  return { ANTIPHON_GATEWAY_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

test("a race whose cost cannot be read has its winner, and says what it cannot tell", async () => {
  const env = await behind((_, path) => path.endsWith("/evidence"));
  const agents = [pack("quick", FIX), pack("wrong", BREAK)];
  const ended = await stack.antiphon([...racing(project(), agents, "--attempts", "1"), "--json"], { env });
  const document = JSON.parse(ended.stdout) as Raced;
  expect(document.winner).toBe(document.runs[0]?.runId);
  expect(document.runs.map(({ cost }) => cost)).toEqual([null, null]);
  expect(ended.stderr).toContain(`what ${document.winner} was charged cannot be read`);
  expect(ended.code).toBe(0);
});

test("a run of a race that cannot be watched is reported, and hides nothing of the others", async () => {
  let unseen: string | undefined;
  const env = await behind((method, path) => {
    if (method !== "GET" || !/\/runs\/run_\w+\/events/.test(path)) return false;
    unseen ??= path.split("/")[2];
    return path.split("/")[2] === unseen;
  });
  const agents = [pack("slow", `sleep 200; ${FIX}`), pack("quick", FIX)];
  const { code, stdout, stderr } = await stack.antiphon(racing(project(), agents), { env });
  expect(stderr).toContain(`${unseen} cannot be watched any more`);
  expect(stdout).toMatch(/· run_\w+ +slow +unknown +cost unknown/);
  expect(stdout).toMatch(/✓ run_\w+ +quick +succeeded +no model call/);
  expect(code).toBe(0);
});

test("Ctrl-C after a run of a race has won says which one", async () => {
  const env = await behind((method, path) => method === "POST" && path.endsWith("/events"));
  const child = start(
    process.execPath,
    [ANTIPHON, ...racing(project(), [pack("slow", `sleep 200; ${FIX}`), pack("quick", FIX)])],
    { env: { ANTIPHON_NATS_URL: stack.ready.nats, ...env } },
  );
  const said = { stdout: "", stderr: "" };
  child.stdout?.on("data", (data: Buffer) => (said.stdout += data.toString()));
  child.stderr?.on("data", (data: Buffer) => (said.stderr += data.toString()));
  // The other run is not canceled, so it is still watched.
  await eventually("the cancel is refused", () => (said.stderr.includes("error ANT_") ? true : null), 60_000);
  child.kill("SIGINT");
  expect(await exitOf(child)).toBe(130);
  const idOf = (row: RegExp): string => row.exec(said.stdout)?.[1] ?? "none";
  expect(said.stderr).toContain(`${idOf(/✓ (run_\w+) +quick/)} has won`);
  await stack.antiphon(["cancel", idOf(/· (run_\w+) +slow/)]);
});

test("of the runs of a race that all pass and are not canceled, exactly one lands, and the branch of the user moves once", async () => {
  const repo = project();
  const race = `race_${"0123456789".repeat(2)}`;
  const runs = await Promise.all(
    [1, 2, 3].map(async (n) => {
      const agent = { kind: "scripted", commands: [`${FIX}; echo ${n} > who.txt`] };
      const inputs = { repo: repo.path, agent, checks: [CHECK], land_on: "main", race };
      const intent = { goal: `Fix the broken add ${n}`, inputs, constraints: {} };
      const { body } = await stack.http("POST", "/intents", intent);
      const started = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
      return String(started.body["runId"]);
    }),
  );
  for (const runId of runs) await stack.antiphon(["events", runId]);
  const ends = await Promise.all(
    runs.map(
      async (runId) => (await stack.json<{ status: string; code: string | null }>(["get", runId])).document,
    ),
  );
  expect(ends.map(({ status }) => status).toSorted()).toEqual(["failed", "failed", "succeeded"]);
  const lost = runs.filter((_, n) => ends[n]?.status === "failed");
  for (const [n, end] of ends.entries())
    if (end.status === "failed") {
      expect(end.code, runs[n]).toBe("ANT_RACE_LOST");
      // Its change is kept, unless the race was over before it had made one.
      const { body } = await stack.http("GET", `/runs/${runs[n] ?? ""}/events`, undefined, {
        accept: "application/json",
      });
      const hasResult = (body["records"] as { type: string }[]).some(({ type }) => type === "result");
      const { stdout } = await stack.antiphon(["diff", runs[n] ?? ""]);
      if (hasResult) expect(stdout).toContain("a + b");
    }
  expect(lost.flatMap((runId) => repo.landed(runId))).toEqual([]);
  expect(repo.git("log", "--format=%s", "main").trim().split("\n")).toHaveLength(2);
  repo.git("reset", "--quiet", "--hard", "main~1"); // The bug is back, and the race is still decided.
  const retried = await stack.json<{ runId: string }>(["retry", lost[0] ?? ""]);
  const alone = await stack.antiphon(["events", retried.document.runId]);
  expect(alone.code, `a retry is no part of the race: ${alone.stdout}`).toBe(0);
  expect(repo.git("log", "--format=%s", "main").trim().split("\n")).toHaveLength(2);
});

test("a verified run whose own landing fails leaves the race to the next verified one, which lands once", async () => {
  const repo = project();
  repo.write("note.txt", "as it was\n");
  repo.commitAll("A note");
  const race = `race_${"abcdefghij".repeat(2)}`;
  const runs = await Promise.all(
    [`sleep 2; ${FIX}; echo mine > note.txt`, `sleep 8; ${FIX}`, `sleep 10; ${FIX}`].map(
      async (command, n) => {
        const inputs = {
          repo: repo.path,
          agent: { kind: "scripted", commands: [command] },
          checks: [CHECK],
          land_on: "main",
          race,
        };
        const { body } = await stack.http("POST", "/intents", {
          goal: `Fix the broken add ${n}`,
          inputs,
          constraints: {},
        });
        const started = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
        return String(started.body["runId"]);
      },
    ),
  );
  repo.write("note.txt", "theirs\n");
  const theirs = repo.commitAll("The same line");
  for (const runId of runs) await stack.antiphon(["events", runId]);
  const ends = await Promise.all(
    runs.map(
      async (runId) => (await stack.json<{ status: string; code: string | null }>(["get", runId])).document,
    ),
  );
  expect(ends[0]).toMatchObject({ status: "failed", code: "ANT_LANDING_CONFLICT" });
  expect(
    ends
      .slice(1)
      .map(({ status, code }) => [status, code])
      .toSorted(),
  ).toEqual([
    ["failed", "ANT_RACE_LOST"],
    ["succeeded", null],
  ]);
  const winner = runs[ends.findIndex(({ status }) => status === "succeeded")] ?? "";
  expect(repo.git("rev-parse", "main~1").trim()).toBe(theirs);
  expect(repo.git("log", "-1", "--format=%B", "main")).toContain(winner);
  expect(repo.git("log", "-1", "--format=%B", `antiphon/${race}-2`)).toContain(winner);
});

test.each([
  [["--parallel", "1"], "--parallel takes a number from 2 to 8"],
  [["--parallel", "many"], "--parallel takes a number from 2 to 8"],
  [["--parallel", "2", "--detach"], "--parallel does not go with --detach"],
  [["--parallel", "2", "--plan", "plan.yaml"], "plan.yaml"],
])("a race that cannot be is refused before anything starts: %j", async (words, reason) => {
  const { code, stderr } = await stack.antiphon([
    ...["run", "Fix the broken add", "--repo", project().path, "--check", CHECK, "--command", FIX],
    ...words,
  ]);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});

test("a race of several tasks is refused, because it is about one", async () => {
  const task = (id: number) => ({ id, description: `Part ${id}`, dependencies: [] });
  const inputs = {
    repo: project().path,
    agent: { kind: "scripted", commands: [FIX] },
    tasks: [task(1), task(2)],
    race: `race_${"a".repeat(20)}`,
  };
  const { body } = await stack.http("POST", "/intents", { goal: "x", inputs, constraints: {} });
  const refused = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
  expect(refused.body["error"]).toMatchObject({ code: "ANT_INTENT_OPTIONS" });
  expect(JSON.stringify(refused.body)).toContain("/inputs/race");
});
