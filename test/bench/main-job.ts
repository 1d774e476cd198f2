/**
 * Measures the main job as a user sees it: the time until `antiphon dev` is ready, the time of the demo, the time of one
 * scripted task on a 1,000-file repository from intent to landed commit, what Antiphon adds to a real agent there, and the memory
 * of idle services.
 *
 * Not measured: agents that think, repositories beyond 1,000 files, many runs at once.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FIX, makeProject } from "../e2e/support/project.ts";
import { ROOT, eventually, run as runProgram } from "../e2e/support/program.ts";
import { startStack, type Stack } from "../e2e/support/stack.ts";
import { landedRun } from "./landed-run.ts";
import { packRuns } from "./pack-runs.ts";

const STARTS = 5;
const RUNS = 15;
const FILES = 1_000;
const PACK_GOAL_S = 0.15;

type Row = [what: string, figures: string, goal: string];

const PARTS: Readonly<Record<string, () => Promise<Row[]>>> = {
  starts: async () => [
    ["antiphon dev to ready (s)", range(await starts()), "<= 5"],
    ["npm run demo, set-up done (s)", range([await demo()]), "<= 30"],
  ],
  task: scriptedTask,
  pack: realPack,
};

export async function run(parts: readonly string[]): Promise<void> {
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(PARTS))
    if (parts.length === 0 || parts.includes(name)) rows.push(...(await measure()));
  print(rows);
}

async function scriptedTask(): Promise<Row[]> {
  const rows: Row[] = [];
  const stack = await startStack();
  try {
    const { totals, stages } = await tasks(stack);
    rows.push([`one task, ${FILES} files, intent to landed (s)`, range(totals), "<= 2.0"]);
    for (const [stage, values] of Object.entries(stages)) rows.push([`  ${stage}`, range(values), ""]);
    await eventually("an idle stack", () => idleFor(stack, 3_000), 60_000);
    for (const [name, pid] of Object.entries(stack.ready.pids))
      rows.push([`idle ${name} (MB RSS)`, rss(pid).toFixed(0), "<= 120"]);
  } finally {
    await stack.stop();
  }
  return rows;
}

async function realPack(): Promise<Row[]> {
  const { pack, own, attempt, whole } = await packRuns(repository(), RUNS);
  const isMet = [...attempt].sort((a, b) => a - b)[Math.floor(0.5 * attempt.length)]! <= PACK_GOAL_S;
  return [
    [`the pack ${pack}: its own time (s)`, range(own), ""],
    ["  claim to result beyond it", range(attempt), `<= ${PACK_GOAL_S} ${isMet ? "met" : "missed"}`],
    ["  intent to landed beyond it", range(whole), ""],
  ];
}

function repository(): { [path: string]: string } {
  const files: { [path: string]: string } = { "add.js": "module.exports = (a, b) => a - b;\n" };
  for (let i = 1; i < FILES; i += 1)
    files[`src/module-${i % 40}/file-${i}.js`] = `export const value${i} = ${i};\n`.repeat(20);
  return files;
}

async function starts(): Promise<number[]> {
  const seconds: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    const stack = await startStack();
    seconds.push(stack.ready.elapsedMs / 1000);
    await stack.stop();
  }
  return seconds;
}

async function demo(): Promise<number> {
  const started = performance.now();
  const { code, stderr } = await runProgram(process.execPath, [join(ROOT, "scripts", "demo.mjs")]);
  if (code !== 0) throw new Error(`the demo failed: ${stderr}`);
  return (performance.now() - started) / 1000;
}

async function tasks(stack: Stack): Promise<{ totals: number[]; stages: { [stage: string]: number[] } }> {
  const project = makeProject(repository());
  const check = 'node -e "if (require(\\"./add.js\\")(2, 2) !== 4) process.exit(1)"';
  const totals: number[] = [];
  const stages: { [stage: string]: number[] } = {
    "answer to the agent's first command": [],
    "intent to claim": [],
    "claim to result": [],
    "claim to result beyond the agent's own time": [],
    "result to verdict": [],
    "verdict to landed": [],
  };
  for (let i = -2; i < RUNS; i += 1) {
    const { runId, seconds, acceptedAtMs, records } = await landedRun(stack, {
      repo: project.path,
      agent: {
        kind: "scripted",
        commands: ["date +%s%N > begun", `${FIX} && echo // ${i} >> add.js && date +%s%N > ended`],
      },
      checks: [check],
    });
    if (project.landed(runId).length !== 1) throw new Error(`${runId} did not land`);
    if (i < 0) continue; // The first runs fill the caches that a used installation has.
    totals.push(seconds);
    const noted = (name: string): number => {
      const args = ["-C", project.path, "show", `antiphon/${runId}:${name}`];
      return Number(execFileSync("git", args, { encoding: "utf8" })) / 1e9;
    };
    stages["answer to the agent's first command"]?.push(noted("begun") - acceptedAtMs / 1000);
    const at = (type: string): number =>
      Date.parse(records.find((record) => record.type === type)?.at ?? "") / 1000;
    stages["intent to claim"]?.push(at("claim") - at("intent"));
    const attempt = at("result") - at("claim");
    stages["claim to result"]?.push(attempt);
    // The agent's own check, one start of node, is in it.
    stages["claim to result beyond the agent's own time"]?.push(attempt - (noted("ended") - noted("begun")));
    stages["result to verdict"]?.push(at("verdict") - at("result"));
    stages["verdict to landed"]?.push(at("landing") - at("verdict"));
  }
  project.remove();
  return { totals, stages };
}

let quietSince: { cpu: number; at: number } | null = null;

function idleFor(stack: Stack, ms: number): true | null {
  const cpu = Object.values(stack.ready.pids).reduce((sum, pid) => sum + cpuTicks(pid), 0);
  if (quietSince === null || cpu - quietSince.cpu > 5) quietSince = { cpu, at: performance.now() };
  return performance.now() - quietSince.at >= ms ? true : null;
}

function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function rss(pid: number): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

function range(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(2);
  return sorted.length === 1 ? at(0) : `p50 ${at(0.5)}  p95 ${at(0.95)}  (n ${sorted.length})`;
}

function print(rows: readonly Row[]): void {
  const cpus = spawnSync("nproc", { encoding: "utf8" }).stdout.trim();
  console.log(`main job on ${cpus} cores, Node ${process.version}, fsync before every acknowledgement\n`);
  for (const [what, value, goal] of rows) console.log(`${what.padEnd(46)} ${value.padEnd(34)} ${goal}`);
}
