/**
 * Measures what the protections of the clean room add to a run of one task: following what a check runs, comparing the files
 * after it, tracing the files that it opens, the room of the base. Git, NATS, the Associate, the sandbox-runner and the engine
 * are real. A round goes the whole way: dispatch, attempt of a scripted agent with its own check, collection, diff and evidence,
 * verification.
 *
 * Interleaved, with the fix of a broken function among 1,000 files, each on a new commit, so that no base is remembered:
 *   once       one clean room, one run of the check
 *   twice      one clean room, two runs, no protection but the names of files
 *   beside     all protections, two runs, the base beside the change in the verification
 *   ahead      the same, the base beside the attempt, as the product does it
 *   product    as the product does it by default; short checks run more often
 *
 * The agent takes no time of its own; `npm run bench -- gate 1` has one that waits for a second, as for a model's answer.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentSpec } from "@antiphon/contracts";
import { createLogger } from "@antiphon/runtime";
import { dispatch } from "../../services/director/src/effects/dispatch.ts";
import type { CleanRoomPort, RepositoryPort, RoomRequest } from "../../services/director/src/ports.ts";
import { BaseTrials } from "../../services/director/src/verification/base-trials.ts";
import { ONCE } from "../../services/director/src/verification/trials.ts";
import { verify, type VerificationPorts } from "../../services/director/src/verification/verification.ts";
import { openedRun, proposedRun } from "../support/proposed-run.ts";
import { makeRepo, type FilesSpec } from "../support/repo.ts";
import { openGateWorld, type GateWorld, type Ports } from "./gate-world.ts";

const FILES = 1_000;
const ROUNDS = 15;
const GOAL_MS = 60;
const CHECK = "node test/add.test.js";
const BROKEN = "exports.add = (a, b) => a - b;\n";
const FIX = "sed -i 's/a - b/a + b/' src/add.js";

type Mode = "once" | "twice" | "beside" | "ahead" | "product";
const MODES: readonly Mode[] = ["once", "twice", "beside", "ahead", "product"];

/** Null: as many as the product finds right. */
const TRIALS: Readonly<Record<Mode, number | null>> = {
  once: 1,
  twice: 2,
  beside: 2,
  ahead: 2,
  product: null,
};

interface Took {
  readonly wholeMs: number;
  readonly verificationMs: number;
}

/** `waits`: the seconds for which the agent waits; none: it does not. */
export async function run([waits = "0"]: readonly string[]): Promise<void> {
  const agent = { kind: "scripted" as const, commands: [...(waits === "0" ? [] : [`sleep ${waits}`]), FIX] };
  const gate = await openGateWorld();
  const repo = makeRepo({ files: sources() });
  try {
    const times = new Map<Mode, Took[]>(MODES.map((mode) => [mode, []]));
    for (let round = -2; round < ROUNDS; round += 1) {
      const order = round % 2 === 0 ? MODES : [...MODES].reverse();
      for (const mode of order) {
        await gate.pooled();
        const took = await wholeWay({ path: repo.path, agent }, round, mode, gate);
        if (round >= 0) times.get(mode)?.push(took); // The first rounds warm sandboxes and caches.
      }
    }
    console.log(`the agent waits for ${waits} s`);
    print(times);
  } finally {
    await gate.close();
  }
}

/** From the dispatch to a verdict, which has to be PASS. */
async function wholeWay(
  { path, agent }: { readonly path: string; readonly agent: AgentSpec },
  round: number,
  mode: Mode,
  { ports, world }: GateWorld,
): Promise<Took> {
  const git = (...args: string[]): string => execFileSync("git", ["-C", path, ...args], { encoding: "utf8" });
  appendFileSync(join(path, "src/module-0/file-1.js"), `// ${round} ${mode}\n`);
  git("commit", "--quiet", "--all", "--message", "another base");
  const commit = git("rev-parse", "HEAD").trim();
  const trials = TRIALS[mode];
  const opened = {
    ...{ runId: `run_${commit.slice(0, 20)}`, path, commit, check: CHECK, agent },
    options: trials === null ? {} : { trials },
  };
  const log = createLogger("bench", { level: "silent" });
  const bases = new BaseTrials({ room: ports.room, log, now: () => performance.now() });
  const { signal } = new AbortController();
  const begun = performance.now();
  const { run: open, effect: due } = openedRun(opened);
  const isAhead = mode === "ahead" || mode === "product";
  const body = await dispatch(open, due, { ...ports, ...(isAhead ? { bases } : {}) }, signal);
  const { patch } = await world.reported(await world.dispatch(body, { runId: open.runId }));
  if (patch === null) throw new Error("the attempt changed nothing");
  const { run: proposed, effect } = proposedRun({ ...opened, patch });
  const proposedAt = performance.now();
  const verdict = await verify(proposed, effect, inMode(mode, ports, bases), signal);
  const endedAt = performance.now();
  await bases.close();
  if (verdict.verdict !== "PASS") throw new Error(`${mode}: ${verdict.message}`);
  return { wholeMs: endedAt - begun, verificationMs: endedAt - proposedAt };
}

function inMode(mode: Mode, ports: Ports, bases: BaseTrials): VerificationPorts {
  if (mode === "once") return partial(ports, 1);
  if (mode === "twice") return partial(ports, 2);
  return mode === "beside" ? ports : { ...ports, bases };
}

/** Without protection: no check is followed, the check is a step of its own for each run, and no other room is opened. */
function partial({ repository, room, evidence }: Ports, runs: number): Omit<Ports, "files"> {
  const unfollowed: RepositoryPort["candidate"] = (at, head, patch, rules) =>
    repository.candidate(at, head, patch, { ...rules, checks: [], discovered: false });
  const bare = new Proxy(repository, {
    get(target, name) {
      if (name === "candidate") return unfollowed;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const plain: CleanRoomPort = {
    check: async (request, signal) => {
      if (request.purpose === "base") return { trials: [request.checks.map(failed)], written: null };
      const checks = Array.from({ length: runs }, () => request.checks).flat();
      const { traced: _traced, ...rest }: RoomRequest = request;
      const outcome = await room.check({ ...rest, checks, trials: ONCE }, signal);
      const [steps = []] = outcome.trials;
      return { ...outcome, trials: Array.from({ length: runs }, (_, i) => [steps[i] ?? failed("")]) };
    },
  };
  return { repository: bare, room: plain, evidence };
}

const failed = (command: string) => ({
  ...{ command, exitCode: 1, timedOut: false, durationMs: 0 },
  ...{ stdout: null, stderr: null, tail: "" },
});

function sources(): FilesSpec {
  const files: Record<string, string> = {
    "package.json": '{"scripts":{"test":"node test/add.test.js"}}\n',
    "src/add.js": BROKEN,
    "test/add.test.js": 'if (require("../src/add.js").add(2, 2) !== 4) process.exit(1);\n',
  };
  for (let i = Object.keys(files).length; i < FILES; i += 1)
    files[`src/module-${i % 40}/file-${i}.js`] = `exports.value${i} = ${i};\n`.repeat(20);
  files["src/module-0/file-1.js"] = "exports.value = 1;\n";
  return files;
}

function print(times: ReadonlyMap<Mode, readonly Took[]>): void {
  console.log(`a run of one task, ${FILES} files, ${ROUNDS} rounds, ms\n`);
  for (const of of ["wholeMs", "verificationMs"] as const) {
    const taken = new Map([...times].map(([mode, all]) => [mode, all.map((one) => one[of])]));
    console.log(of === "wholeMs" ? "from the dispatch to the verdict" : "\nthe verification alone");
    printTimes(taken);
  }
}

function printTimes(times: ReadonlyMap<Mode, readonly number[]>): void {
  const at = (mode: Mode, share: number): number => {
    const sorted = [...(times.get(mode) ?? [])].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  };
  const paired = (one: Mode, other: Mode): number => {
    const [a = [], b = []] = [times.get(one), times.get(other)];
    const differences = a.map((time, i) => time - (b[i] ?? 0)).sort((x, y) => x - y);
    return differences[Math.floor(differences.length / 2)] ?? 0;
  };
  for (const mode of MODES)
    console.log(
      `  ${mode.padEnd(10)} p25 ${at(mode, 0.25).toFixed(0)}  p50 ${at(mode, 0.5).toFixed(0)}  p95 ${at(mode, 0.95).toFixed(0)}`,
    );
  const rows: readonly [string, Mode, Mode][] = [
    ["second run of the check", "twice", "once"],
    [`protections beyond it, goal <= ${GOAL_MS}`, "ahead", "twice"],
    ["the same, base in the verification", "beside", "twice"],
    ["more runs of a short check", "product", "ahead"],
  ];
  console.log("  medians of the differences of a round:");
  for (const [name, one, other] of rows)
    console.log(`    ${name.padEnd(36)} ${paired(one, other).toFixed(0)}`);
}
